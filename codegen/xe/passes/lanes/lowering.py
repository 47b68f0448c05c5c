"""The state of lowering one kernel: the emitted code, and the lowered form of each sub-group value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from xdsl.dialects import scf
from xdsl.dialects.builtin import UNKNOWN_LOC, MemRefType, UnregisteredOp, VectorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import NoMemoryEffect
from xdsl.utils.exceptions import PassFailedException

from codegen.artifact.signature import Assumption
from codegen.xe.dialects.creation import create
from codegen.xe.dialects.index_list import Index
from codegen.xe.layout import BlockLimits
from codegen.xe.locations import Rewriting
from codegen.xe.passes.lanes import values
from codegen.xe.passes.lanes.analysis.affine_values import Sums
from codegen.xe.passes.lanes.analysis.divisibility import number
from codegen.xe.passes.lanes.emitter import Emitter
from codegen.xe.passes.lanes.marks import mark, mark_place
from codegen.xe.passes.lanes.memory.local_memory import LocalMemory
from codegen.xe.passes.lanes.values import (
    Lanes,
    Value,
    lane_element,
    lane_memory_type,
)
from codegen.xe.passes.lanes.vectors.fragments import own
from codegen.xe.passes.lanes.vectors.layout import (
    LaneLayout,
    canonical,
)
from codegen.xe.passes.lanes.vectors.shuffles import convert

_Kind = TypeVar("_Kind")
Handler = Callable[["Lowering", Operation], None]


@dataclass(slots=True)
class Lowering:
    """Lowering of one kernel. `wanted` are the preferred layouts of values; `handlers` lower operations by name.

    `subgroups`: sub-groups per work-group, if known. `work_items`: the kernel is written for work-items. `inside`:
    blocks lie inside their matrices. `limits` are those of block messages. `sums` analyse indices. `marked`:
    places of operations are marked. `assumed`: assumptions of the code that it cannot check.
    """

    emitter: Emitter
    handlers: Mapping[str, Handler]
    wanted: dict[SSAValue, LaneLayout]
    memory: LocalMemory
    subgroups: int | None
    work_items: bool
    inside: bool
    limits: BlockLimits
    sums: Sums
    marked: bool = False
    assumed: set[Assumption] = field(default_factory=set[Assumption])
    _values: dict[SSAValue, Value] = field(default_factory=dict[SSAValue, Value])

    def lower(self, block: Block) -> None:
        """Lower the operations of a block; of a loop's, the loop is marked."""
        loop = block.parent_op()
        if self.marked and isinstance(loop, scf.ForOp | scf.WhileOp):
            mark_place(self.emitter, loop)
        for op in block.ops:
            handler = self.handlers.get(op.name) or self.handlers.get(op.name.partition(".")[0])
            with Rewriting(op, self.emitter.block):
                if self.marked:
                    mark(self.emitter, op)
                if handler is not None:
                    handler(self, op)
                else:
                    self.keep(op)

    def keep(self, op: Operation) -> None:
        """Copy an operation on scalars; one of no source and without effects once while in scope, and only if used.

        MLIR judges all that a source says.

        Raises:
            PassFailedException: it has vectors or regions.
        """
        if op.name == UnregisteredOp.name:
            assert isinstance(op, UnregisteredOp)
            raise PassFailedException(
                f"lower-to-lanes: expected an operation of the dialects of a kernel, got {op.op_name.data}: write it "
                "with known operations"
            )
        given, results = tuple(op.operands), op.results
        if op.regions or op.successor_uses or not all(map(_is_scalar, (*given, *results))):
            raise PassFailedException(
                f"lower-to-lanes: expected an operation with a per-lane form, got {op.name}: {_first_line(op)}"
            )
        operands = list(map(self.scalar, given))
        types = [lane_memory_type(r.type) if type(r.type) is MemRefType else r.type for r in results]
        if op.location is UNKNOWN_LOC and len(types) == 1 and not op.attributes and _has_no_effects(type(op)):
            (result,), (type_,) = results, types
            self.define(result, self.emitter.pure(type(op), operands, type_, op.properties))
            return
        copy = create(type(op), operands, types, op.properties)
        copy.attributes.update(op.attributes)
        copy.location = op.location
        self.emitter.add(copy)
        for old, new in zip(op.results, copy.results, strict=True):
            self.define(old, new)

    def define(self, old: SSAValue, value: Value) -> None:
        """Record the lowered form of a value."""
        if (type(value) is OpResult or type(value) is BlockArgument) and value.name_hint is None:
            value.name_hint = old.name_hint
        self._values[old] = value

    def __getitem__(self, old: SSAValue) -> Value:
        return self._values[old]

    def get(self, old: SSAValue, kind: type[_Kind]) -> _Kind:
        """Return the lowered form of a value of a known kind."""
        value = self._values[old]
        assert isinstance(value, kind), f"{old} became {value}"
        return value

    def scalar(self, old: SSAValue) -> SSAValue:
        """Return the lowered form of a scalar."""
        value = self._values[old]
        if type(value) is OpResult or type(value) is BlockArgument:  # `isinstance` with abstract classes takes long
            return value
        raise AssertionError(f"{old} became {value}")

    def index(self, old: Index) -> Index:
        """Return the lowered form of an index; a number if it is constant."""
        known = number(old)
        return self.scalar(old) if known is None and isinstance(old, SSAValue) else known or 0

    def indices(self, old: Sequence[Index]) -> tuple[Index, ...]:
        """Return the lowered form of indices."""
        return tuple(map(self.index, old))

    def vector(self, old: SSAValue, layout: LaneLayout | None = None) -> Lanes:
        """Return the lowered form of a vector, converted to `layout` if given; a work-item's scalar is one element."""
        value = self._values[old]
        if self.work_items and isinstance(value, SSAValue):
            value = Lanes(VectorType(value.type, [1]), own((1,)), (value,))
        assert isinstance(value, Lanes), f"{old} became {value}"
        return value if layout is None else convert(self.emitter, value, layout)

    def layout(self, old: SSAValue) -> LaneLayout:
        """Return the preferred layout of a vector."""
        if self.work_items:
            return own(values.shape_of(old))
        return self.wanted.get(old) or canonical(values.shape_of(old))

    def finish(self, old: SSAValue, value: Lanes) -> None:
        """Define a vector, converted to its preferred layout; a work-item's scalar from one element."""
        moved = convert(self.emitter, value, self.layout(old))
        self.define(old, moved if isinstance(old.type, VectorType) else self.emitter.register((moved.chunks[0], 0)))


@cache
def _has_no_effects(kind: type[Operation]) -> bool:
    return kind.has_trait(NoMemoryEffect)


def vector_type(value: SSAValue) -> VectorType[Attribute]:
    """Return the type of a vector."""
    assert isinstance(value.type, VectorType)
    return value.type


def element_type(value: SSAValue) -> Attribute:
    """Return the type in which a lane holds an element of a vector, or a scalar."""
    return lane_element(value.type.element_type if isinstance(value.type, VectorType) else value.type)


def _is_scalar(value: SSAValue) -> bool:
    type_ = value.type
    return type(type_) is not VectorType and not type_.name.startswith("xegpu.")


def _first_line(op: Operation) -> str:
    return str(op).splitlines()[0][:160]
