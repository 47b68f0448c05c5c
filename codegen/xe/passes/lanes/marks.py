"""Marks of places: calls before operations with effects, by which instructions of LLVM IR are traced to the source."""

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation
from xdsl.traits import is_side_effect_free

from codegen.xe.dialects.upstream.llvm_ops import DeviceCallOp
from codegen.xe.llvm.source_marks import mark_name
from codegen.xe.passes.lanes.emitter import Emitter


def mark(emitter: Emitter, op: Operation) -> None:
    """Insert the mark of an operation, if it has effects and a place."""
    if not op.regions and not is_side_effect_free(op):
        mark_place(emitter, op)


def mark_place(emitter: Emitter, op: Operation) -> None:
    """Insert the mark of an operation, if it has a place."""
    location = op.location
    if isinstance(location, FileLineColLoc):
        name = mark_name(location.line.data, location.column.data)
        emitter.declare(name, (), None, convergent=True)  # keeps the order of accesses
        emitter.add(DeviceCallOp(name, [], None))
