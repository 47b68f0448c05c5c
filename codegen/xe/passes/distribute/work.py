"""The state of one kernel's distribution: new values, the sub-group's offsets, and building of operations."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    PackableType,
    VectorType,
)
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.dialects.vector import BroadcastOp
from xdsl.ir import Attribute, Block, Operation, OperationInvT, Region, SSAValue
from xdsl.rewriter import InsertPoint

from codegen.xe.dialects.creation import append, create, insert_before
from codegen.xe.dialects.gpu import SubgroupIdOp
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.interned import index, integer, splat, vector
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.arith_ops import CmpiOp
from codegen.xe.dialects.upstream.vector_ops import (
    ExtractStridedSliceOp,
    InsertStridedSliceOp,
    ShapeCastOp,
)
from codegen.xe.dialects.xegpu import (
    CreateNdTdescOp,
    ScatterTdescAttr,
    TensorDescType,
)
from codegen.xe.dialects.xegpu.types import tensor_desc
from codegen.xe.locations import OperationFailed
from codegen.xe.passes.distribute.attributes import within_subgroup
from codegen.xe.passes.distribute.layout import (
    Axis,
    Layout,
)
from codegen.xe.passes.distribute.rule import (
    layout_attribute,
    range_around,
    vector_shape,
)
from codegen.xe.passes.distribute.slm_buffers import Buffers

Parts = tuple[SSAValue, ...]
"""New form of a work-group value: the blocks of one sub-group, row-major over the rounds."""


@dataclass(frozen=True, slots=True)
class Position:
    """New form of a block descriptor: the matrix, as `base` describes it, and the offsets of the block in it."""

    base: CreateNdTdescOp
    offsets: tuple[Index, ...]


@dataclass(slots=True)
class Work:
    """The distribution of one kernel in progress. `at` is the insertion point."""

    entry: Block
    subgroups: int
    layouts: dict[SSAValue, Layout]
    at: InsertPoint
    buffers: Buffers
    parts: dict[SSAValue, Parts] = field(default_factory=dict[SSAValue, Parts])
    descriptors: dict[SSAValue, Position] = field(default_factory=dict[SSAValue, Position])
    blocks_described: dict[tuple[CreateNdTdescOp, Ints], SSAValue] = field(
        default_factory=dict[tuple[CreateNdTdescOp, Ints], SSAValue]
    )
    dead: list[Operation] = field(default_factory=list[Operation])
    _digits: dict[tuple[int, ...], SSAValue] = field(default_factory=dict[tuple[int, ...], SSAValue])
    _constants: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    _prologue: Operation | None = None

    def insert(self, op: OperationInvT) -> OperationInvT:
        """Insert an operation at the insertion point."""
        if self.at.insert_before is None:
            append(self.at.block, op)
        else:
            insert_before(op, self.at.insert_before)
        return op

    def replace(self, op: Operation, *results: Sequence[SSAValue]) -> None:
        """Record the new values of an operation's distributed results; the operation is erased at the end."""
        for result, parts in zip(op.results, results, strict=True):
            self.parts[result] = tuple(parts)
            for part in parts:
                part.name_hint = result.name_hint
        self.dead.append(op)

    def position(self, op: Operation, desc: SSAValue) -> Position:
        """Return the new form of the block descriptor that an operation uses.

        Raises:
            OperationFailed: an operation that is not distributed created it.
        """
        if desc not in self.descriptors:
            raise OperationFailed.at(op, f"{op.name}: expected a descriptor of create_nd_tdesc, got another value")
        return self.descriptors[desc]

    def layout(self, value: SSAValue) -> Layout:
        """Return the layout of a distributed value."""
        return self.layouts[value]

    def blocks(self, value: SSAValue) -> list[Ints]:
        """Return the rounds of each block of a value, in the order of its parts."""
        return list(self.layout(value).blocks(vector_shape(value)))

    def subgroups_at(self, op: Operation) -> range:
        """Return the sub-groups that run an operation."""
        around = range_around(op)
        return range(self.subgroups) if around is None else range(around.start, around.end)

    def starts(self, layout: Layout, shape: Ints, rounds: Ints) -> tuple[Index, ...]:
        """Return the offsets of a block of this sub-group."""
        return tuple(
            self.add(self.coordinate(axis, extent, layout.first, axis.data), r * axis.owners(extent) * axis.data)
            for axis, extent, r in zip(layout.axes, shape, rounds, strict=True)
        )

    def coordinate(self, axis: Axis, extent: int, first: int, times: int = 1) -> Index:
        """Return the index of this sub-group among the owners of a dimension, times a number."""
        owners = axis.owners(extent)
        if owners == 1:
            return 0
        key = (axis.stride, owners, first)
        if key not in self._digits:
            self._digits[key] = self._digit(axis.stride, owners, first)
        digit = self._digits[key]
        if times == 1:
            return digit
        key = (*key, times)
        if key not in self._digits:
            self._digits[key] = self._computed(arith.MuliOp, digit, self.constant(times))
        return self._digits[key]

    def is_first(self, layout: Layout, shape: Ints, op: Operation) -> SSAValue | None:
        """Return whether this is the first sub-group that owns the same; None if each owns different elements."""
        if not layout.shares(shape, len(self.subgroups_at(op))):
            return None
        own: Index = layout.first
        for axis, extent in zip(layout.axes, shape, strict=True):
            own = self.add(own, self.coordinate(axis, extent, layout.first, axis.stride))
        return self.insert(CmpiOp(self.subgroup(), self.value(own), "eq")).result

    def add(self, left: Index, right: Index) -> Index:
        """Return the sum of two indices, folded if both are constants."""
        if isinstance(left, int) and isinstance(right, int):
            return left + right
        if left == 0 or right == 0:
            return right if left == 0 else left
        return self.insert(create(arith.AddiOp, (self.value(left), self.value(right)), (index,))).result

    def multiply(self, left: Index, right: int) -> Index:
        """Return the product of an index and a constant."""
        if isinstance(left, int) or right == 1:
            return left * right if isinstance(left, int) else left
        return self.insert(create(arith.MuliOp, (left, self.value(right)), (index,))).result

    def value(self, number: Index) -> SSAValue:
        """Return an index as an SSA value."""
        return self.constant(number) if isinstance(number, int) else number

    def constant(self, number: int) -> SSAValue:
        """Return a constant of type index, created at the start of the kernel."""
        if number not in self._constants:
            op = create(arith.ConstantOp, (), (index,), {"value": integer(number, index)})
            op.result.name_hint = f"c{number}" if number >= 0 else None
            self._constants[number] = self.in_prologue(op).result
        return self._constants[number]

    def in_prologue(self, op: OperationInvT) -> OperationInvT:
        """Append an operation to the prologue of the kernel."""
        following = self.entry.first_op if self._prologue is None else self._prologue.next_op
        assert following is not None  # a kernel ends with a terminator
        insert_before(op, following)
        self._prologue = op
        return op

    def splat(self, scalar: SSAValue, shape: Ints) -> SSAValue:
        """Create a vector of equal elements."""
        return self.insert(BroadcastOp(scalar, vector(scalar.type, *shape))).vector

    def shape_cast(self, value: SSAValue, shape: Ints) -> SSAValue:
        """Cast a vector to another shape."""
        assert isinstance(value.type, VectorType)
        if value.type.get_shape() == shape:
            return value
        return self.insert(ShapeCastOp(value, vector(value.type.element_type, *shape))).result

    def extract(self, value: SSAValue, offsets: Ints, sizes: Ints) -> SSAValue:
        """Extract a block of a vector."""
        assert isinstance(value.type, VectorType)
        if value.type.get_shape() == sizes:
            return value
        return self.insert(ExtractStridedSliceOp(value, offsets, sizes)).result

    def place(self, block: SSAValue, into: SSAValue, offsets: Ints) -> SSAValue:
        """Insert a block into a vector."""
        if block.type == into.type:
            return block
        return self.insert(InsertStridedSliceOp(block, into, offsets)).result

    def zeros(self, element: Attribute, shape: Ints) -> SSAValue:
        """Create a vector of zeros."""
        kind = vector(element, *shape)
        value = splat(kind, bytes(cast(PackableType[Any], element).compile_time_size))
        return self.insert(create(arith.ConstantOp, (), (kind,), {"value": value})).result

    def subgroup(self) -> SSAValue:
        """Return the id of the sub-group."""
        key = (0, 0, 0)
        if key not in self._digits:
            op = self.in_prologue(SubgroupIdOp.create(result_types=[index]))
            op.result.name_hint = "subgroup"
            self._digits[key] = op.result
        return self._digits[key]

    def _digit(self, stride: int, owners: int, first: int) -> SSAValue:
        value = self.subgroup()
        if first:
            value = self._computed(arith.SubiOp, value, self.constant(first))
        if stride > 1:
            value = self._computed(arith.DivUIOp, value, self.constant(stride))
        if first or stride * owners < self.subgroups:
            value = self._computed(arith.RemUIOp, value, self.constant(owners))
        return value

    def _computed(self, kind: type[Operation], left: SSAValue, right: SSAValue) -> SSAValue:
        """Return the result of an operation on indices, in the prologue of the kernel."""
        return self.in_prologue(create(kind, (left, right), (index,))).results[0]


def part_type(value: SSAValue, shape: Ints) -> Attribute:
    """Return the type of a block of a vector or of a scattered descriptor."""
    if isinstance(value.type, TensorDescType):
        encoding = value.type.encoding
        assert isinstance(encoding, ScatterTdescAttr)
        return tensor_desc(vector(value.type.element_type, *shape), encoding)
    assert isinstance(value.type, VectorType)
    return vector(value.type.element_type, *shape)


def plain_attributes(op: Operation) -> dict[str, Attribute]:
    """Return the attributes of an operation without layouts."""
    return {name: value for name, value in op.attributes.items() if not name.startswith("layout_")}


def plain_properties(op: Operation, *without: str) -> dict[str, Attribute]:
    """Return the properties of an operation; of its layout, only the levels below the sub-group."""
    properties = {name: value for name, value in op.properties.items() if name not in ("layout", *without)}
    layout = within_subgroup(layout_attribute(op, "layout"))
    return properties if layout is None else properties | {"layout": layout}


def conditional(work: Work, condition: SSAValue | None, ops: Sequence[Operation]) -> None:
    """Insert operations that run only under a condition, if there is one."""
    if condition is None:
        for op in ops:
            work.insert(op)
    else:
        work.insert(IfOp(condition, [], Region(Block([*ops, YieldOp()]))))
