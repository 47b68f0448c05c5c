"""The state of lowering one kernel: what has been written, and what each value of the sub-group became."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from codegen.artifact.signature import Assumption
from codegen.xe.dialects.index_list import Index
from codegen.xe.layout import BlockLimits
from codegen.xe.passes.lanes import values
from codegen.xe.passes.lanes.analysis.affine_values import Sums
from codegen.xe.passes.lanes.analysis.divisibility import number
from codegen.xe.passes.lanes.emitter import Emitter
from codegen.xe.passes.lanes.memory.local_memory import LocalMemory
from codegen.xe.passes.lanes.values import (
    Lanes,
    Value,
    lane_element,
    lane_memory_type,
)
from codegen.xe.passes.lanes.vectors.layout import (
    LaneLayout,
    canonical,
)
from codegen.xe.passes.lanes.vectors.shuffles import convert

_Kind = TypeVar("_Kind")
Handler = Callable[["Lowering", Operation], None]


@dataclass(slots=True)
class Lowering:
    """One kernel. `wanted` are the layouts that the uses of values ask for; `handlers` lower operations by name.

    `subgroups`: how many a work-group has, if that is known. `limits` are those of block messages. `sums` know what
    indices are made of. `assumed`: what the code relies on and cannot check.
    """

    emitter: Emitter
    handlers: Mapping[str, Handler]
    wanted: dict[SSAValue, LaneLayout]
    memory: LocalMemory
    subgroups: int | None
    limits: BlockLimits
    sums: Sums
    functions: dict[str, Operation] = field(default_factory=dict[str, Operation])
    assumed: set[Assumption] = field(default_factory=set[Assumption])
    _values: dict[SSAValue, Value] = field(default_factory=dict[SSAValue, Value])

    def lower(self, block: Block) -> None:
        """Lower the operations of a block."""
        for op in block.ops:
            handler = self.handlers.get(op.name) or self.handlers.get(op.name.partition(".")[0])
            if handler is not None:
                handler(self, op)
            else:
                self.keep(op)

    def keep(self, op: Operation) -> None:
        """Copy an operation on scalars.

        Raises:
            PassFailedException: it has vectors or regions.
        """
        if op.regions or not all(map(_is_scalar, (*op.operands, *op.results))):
            raise PassFailedException(
                f"lower-to-lanes: expected an operation with a per-lane form, got {op.name}: {_first_line(op)}"
            )
        copy = op.clone({operand: self.scalar(operand) for operand in op.operands})
        for result in copy.results:
            if isinstance(result.type, MemRefType):
                Rewriter.replace_value_with_new_type(result, lane_memory_type(result.type))
        self.emitter.add(copy)
        for old, new in zip(op.results, copy.results, strict=True):
            self.define(old, new)

    def define(self, old: SSAValue, value: Value) -> None:
        """Say what a value became."""
        if isinstance(value, SSAValue) and value.name_hint is None:
            value.name_hint = old.name_hint
        self._values[old] = value

    def __getitem__(self, old: SSAValue) -> Value:
        return self._values[old]

    def get(self, old: SSAValue, kind: type[_Kind]) -> _Kind:
        """What a value of a known kind became."""
        value = self._values[old]
        assert isinstance(value, kind), f"{old} became {value}"
        return value

    def scalar(self, old: SSAValue) -> SSAValue:
        """What a scalar became."""
        return self.get(old, SSAValue)

    def index(self, old: Index) -> Index:
        """What an index became; a number where it is known."""
        known = number(old)
        return self.scalar(old) if known is None and isinstance(old, SSAValue) else known or 0

    def indices(self, old: Sequence[Index]) -> tuple[Index, ...]:
        """What indices became."""
        return tuple(map(self.index, old))

    def vector(self, old: SSAValue, layout: LaneLayout | None = None) -> Lanes:
        """What a vector became, in a layout if one is asked for."""
        value = self.get(old, Lanes)
        return value if layout is None else convert(self.emitter, value, layout)

    def layout(self, old: SSAValue) -> LaneLayout:
        """The layout that a vector shall have."""
        return self.wanted.get(old) or canonical(values.shape_of(old))

    def finish(self, old: SSAValue, value: Lanes) -> None:
        """Define a vector, in the layout that it shall have."""
        self.define(old, convert(self.emitter, value, self.layout(old)))


def vector_type(value: SSAValue) -> VectorType[Attribute]:
    """The type of a vector."""
    assert isinstance(value.type, VectorType)
    return value.type


def element_type(value: SSAValue) -> Attribute:
    """The type in which a lane holds an element of a vector, or a scalar."""
    return lane_element(value.type.element_type if isinstance(value.type, VectorType) else value.type)


def _is_scalar(value: SSAValue) -> bool:
    return not isinstance(value.type, VectorType) and not value.type.name.startswith("xegpu.")


def _first_line(op: Operation) -> str:
    return str(op).splitlines()[0][:160]
