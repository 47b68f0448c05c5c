"""State of an interpretation: the launch, the work-group, the sub-group, and the values of a function."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeVar

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, IntegerType, MemRefType, UnregisteredOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import Ints
from codegen.xe.subgroup import subgroup_size
from tests.oracle.elements import (
    Array,
    Element,
    element_of,
    shape_of,
)
from tests.oracle.memory import (
    Buffer,
    Memory,
    View,
)
from tests.oracle.refusal import InterpretationRefused
from tests.oracle.values import (
    NamedBarrier,
    Value,
    Varying,
)

Extents = tuple[int, int, int]
Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class AtBarrier:
    """A sub-group waits for all others at a barrier."""

    op: Operation


@dataclass(frozen=True, slots=True)
class AtNamedBarrier:
    """A sub-group waits until a named barrier was completed this often."""

    op: Operation
    barrier: NamedBarrier
    completions: int


@dataclass(frozen=True, slots=True)
class AtSubgroup:
    """A work-item waits for the others of its sub-group, which take part in an operation."""

    op: Operation
    subgroup: int


Event = AtBarrier | AtNamedBarrier | AtSubgroup
Flow = Iterator[Event] | None
"""Result of a rule: None, or the events of code that it runs."""


@dataclass(slots=True)
class Meeting:
    """State of a named barrier: arrivals since its last completion, and the number of completions."""

    arrived: set[int] = field(default_factory=set[int])
    completions: int = 0


@dataclass(slots=True)
class WorkGroup:
    """State that the sub-groups of a work-group share. `counts_subgroups`: a thread of the block is a sub-group.

    `whole`: the work-group is executed at once, on whole vectors. `barriers`: named ones that are allocated.
    `brought`: values that work-items contribute to an operation of their sub-group, for each execution of it.
    """

    memory: Memory
    symbols: dict[str, Operation]
    grid: Extents
    block: Extents
    place: Extents
    subgroups: int
    counts_subgroups: bool
    whole: bool
    local: dict[Operation | SSAValue, Buffer] = field(default_factory=dict[Operation | SSAValue, Buffer])
    barriers: int = 0
    meetings: dict[int, Meeting] = field(default_factory=dict[int, Meeting])
    brought: dict[tuple[int, Operation, int], dict[int, object]] = field(
        default_factory=dict[tuple[int, Operation, int], dict[int, object]]
    )


@dataclass(slots=True)
class Frame:
    """The values of a function in one sub-group, or in a whole work-group as sub-group 0.

    `due`: completions of a named barrier that end a wait for it. `lane`: number of the work-item, if executed singly.
    `rounds`: executions of each operation of the sub-group.
    """

    group: WorkGroup
    subgroup: int
    values: dict[SSAValue, Value] = field(default_factory=dict[SSAValue, Value])
    due: dict[int, int] = field(default_factory=dict[int, int])
    lane: int | None = None
    rounds: dict[Operation, int] = field(default_factory=dict[Operation, int])

    @property
    def work_items(self) -> int:
        """Number of work-items that this frame executes."""
        if self.group.whole:
            return prod(self.group.block)
        return 1 if self.group.counts_subgroups or self.lane is not None else subgroup_size()

    def callee(self) -> "Frame":
        """Return the frame of a function that this one calls."""
        return Frame(self.group, self.subgroup, due=self.due, lane=self.lane, rounds=self.rounds)

    def get(self, value: SSAValue, kind: type[Kept]) -> Kept:
        """Return a value of a class.

        Raises:
            InterpretationRefused: the value is of another.
        """
        found = self.values.get(value)
        if not isinstance(found, kind):
            got = "a number that differs between sub-groups" if found is Varying.VALUE else type(found).__name__
            raise InterpretationRefused("", f"expected {kind.__name__} as the value of {value.name_hint}, got {got}")
        return found

    def array(self, value: SSAValue) -> Array:
        """Return an array in registers."""
        return self.get(value, np.ndarray)

    def view(self, value: SSAValue) -> View:
        """Return a memref."""
        return self.get(value, View)

    def number(self, value: SSAValue) -> int:
        """Return an integer; true is 1."""
        return int(self.array(value))

    def numbers(self, values: Sequence[Index]) -> Ints:
        """Return a list that mixes constants and values."""
        return tuple(v if isinstance(v, int) else self.number(v) for v in values)

    def set(self, value: SSAValue, result: Value) -> None:
        """Set a value; arrays must have the shape and type of its type."""
        if isinstance(result, np.ndarray):
            element, shape = element_of(value.type), shape_of(value.type)
            assert result.shape == shape, f"{value.owner}: shape {result.shape}, not {shape}"
            assert result.dtype == element.register, f"{value.owner}: {result.dtype}, not {element.register}"
        self.values[value] = result

    def set_rounded(self, value: SSAValue, result: Any) -> None:
        """Set numbers, rounded to the type of the value."""
        self.set(value, element_of(value.type).round(np.asarray(result)))


def element_in(type_: MemRefType[Any]) -> Element:
    """Return the element of a memref."""
    return element_of(type_.element_type)


def name_of(op: Operation) -> str:
    """Return the name of an operation, registered or not."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def attribute(op: Operation, key: str) -> Attribute | None:
    """Return a property or attribute of an operation; None if it has none."""
    found = op.properties.get(key)
    return op.attributes.get(key) if found is None else found


def integers(op: Operation, key: str) -> Ints:
    """Return the integers of an array attribute in any of its forms; empty if it is missing."""
    found = attribute(op, key)
    if isa(found, DenseArrayBase[IntegerType]):
        return tuple(found.get_values())
    if isa(found, ArrayAttr[IntegerAttr]):
        return tuple(a.value.data for a in found)
    return ()
