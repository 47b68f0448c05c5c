"""Marks of places: calls before operations with effects, by which instructions of LLVM IR are traced to the source."""

from collections.abc import MutableMapping

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation
from xdsl.traits import is_side_effect_free

from codegen.xe.dialects.upstream.llvm_ops import DeviceCallOp, DeviceFuncOp
from codegen.xe.llvm.source_marks import mark_name
from codegen.xe.passes.lanes.emitter import Emitter


def mark(emitter: Emitter, functions: MutableMapping[str, Operation], op: Operation) -> None:
    """Insert the mark of an operation, if it has effects and a place; `functions` are those that the code declares."""
    if not op.regions and not is_side_effect_free(op):
        mark_place(emitter, functions, op)


def mark_place(emitter: Emitter, functions: MutableMapping[str, Operation], op: Operation) -> None:
    """Insert the mark of an operation, if it has a place."""
    location = op.location
    if isinstance(location, FileLineColLoc):
        name = mark_name(location.line.data, location.column.data)
        functions.setdefault(name, DeviceFuncOp(name, [], None, convergent=True))  # keeps the order of accesses
        emitter.add(DeviceCallOp(name, [], None))
