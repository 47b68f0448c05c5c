"""Alias analysis of the accesses of a kernel."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.dialects import arith
from xdsl.dialects.llvm import GEPOp, LoadOp, StoreOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import IsTerminator, NoMemoryEffect

from codegen.artifact.signature import (
    Field,
    Parameter,
)
from codegen.xe.dialects.gpu import BlockIdOp, LaneIdOp, ShuffleOp, SubgroupIdOp
from codegen.xe.dialects.upstream.arith_casts import IndexCastOp
from codegen.xe.dialects.upstream.llvm_ops import DeviceCallOp
from codegen.xe.dialects.upstream.xevm import (
    BlockLoad2dOp,
    BlockPrefetch2dOp,
    BlockStore2dOp,
)
from codegen.xe.passes.lanes.analysis.affine import (
    Product,
    Sum,
    Unknown,
    added,
)
from codegen.xe.passes.lanes.analysis.affine_values import Sums
from codegen.xe.passes.lanes.emitter import bits_of, element_of, length_of
from codegen.xe.subgroup import subgroup_size

Load = BlockLoad2dOp | LoadOp
Access = Load | BlockStore2dOp | StoreOp
_WRITES_NOTHING = frozenset({BlockLoad2dOp, LoadOp, BlockPrefetch2dOp, DeviceCallOp, ShuffleOp})
_SAME_IN_LANES = frozenset({BlockIdOp, SubgroupIdOp, arith.ConstantOp})


@dataclass(frozen=True, slots=True)
class _Rectangle:
    """The part of a surface that a block message accesses; columns and width in bytes."""

    surface: tuple[Sum, ...]
    row: Sum
    column: Sum
    height: int
    width: int

    def is_beside(self, other: "_Rectangle") -> bool:
        """True if two parts of one surface are known to be disjoint."""
        if self.surface != other.surface:
            return False
        rows, columns = _number(added(self.row, other.row, -1)), _number(added(self.column, other.column, -1))
        apart = rows is not None and not -self.height < rows < other.height
        return apart or (columns is not None and not -self.width < columns < other.width)


@dataclass(frozen=True, slots=True)
class _Place:
    """Pointer of an access by lanes: its symbolic part, as a number within the kernel, and an offset in bytes.

    `stride` is the bytes from a lane's address to the next one's; None if lanes may differ by other values.
    """

    symbolic: int
    offset: int
    stride: int | None
    nbytes: int


class Aliases:
    """Alias queries for one kernel. `apart`: its arguments do not alias. `sums`: its pointers and offsets."""

    def __init__(self, sums: Sums, *, apart: bool) -> None:
        self._sums, self._apart = sums, apart
        # By ids of operations, which the kernel keeps alive: xDSL hashes operations in Python.
        self._stores: dict[int, Sequence[Access] | None] = {}
        self._roots: dict[int, tuple[Attribute, int | None]] = {}
        self._places: dict[int, _Place] = {}
        self._symbolic: dict[frozenset[tuple[Product, int]], int] = {}
        self._rectangles: dict[int, _Rectangle] = {}

    def may_write(self, op: Operation, load: Load) -> bool:
        """True if an operation that `writes`, or a nested one, may write what a load reads."""
        stores = self._stores_of(op)
        return stores is None or any(self.may_meet(store, load) for store in stores)

    def _stores_of(self, op: Operation) -> Sequence[Access] | None:
        """Return an operation that `writes` or those nested in it; None if they may write anything."""
        key = id(op)
        if key not in self._stores:
            self._stores[key] = self._nested_stores(op)
        return self._stores[key]

    def _nested_stores(self, op: Operation) -> Sequence[Access] | None:
        if isinstance(op, BlockStore2dOp | StoreOp):
            return [op]
        if not op.regions:
            return None
        found: list[Access] = []
        for inner in _inside(op):
            if writes(inner):
                stores = self._stores_of(inner)
                if stores is None:
                    return None
                found += stores
        return found

    def may_meet(self, one: Access, other: Access) -> bool:
        """True if two loads or stores may access the same memory."""
        (space, argument), (other_space, other_argument) = self._root(one), self._root(other)
        if space is not other_space and space != other_space:
            return False
        if self._apart and argument is not None and other_argument is not None and argument != other_argument:
            return False
        if isinstance(one, LoadOp | StoreOp):
            return not isinstance(other, LoadOp | StoreOp) or not self._is_beside(one, other)
        return isinstance(other, LoadOp | StoreOp) or not self._rectangle(one).is_beside(self._rectangle(other))

    def _is_beside(self, one: LoadOp | StoreOp, other: LoadOp | StoreOp) -> bool:
        """True if the accesses of all lanes are known to be disjoint: pointers differ by a number of bytes, and between
        lanes by multiples of their numbers.
        """
        place, second = self._place(one), self._place(other)
        if place.symbolic != second.symbolic or place.stride is None:
            return False
        longest = max(place.nbytes, second.nbytes)
        return abs(place.offset - second.offset) >= abs(place.stride) * (subgroup_size() - 1) + longest

    def _place(self, op: LoadOp | StoreOp) -> _Place:
        key = id(op)
        if key not in self._places:
            pointer = dict(self._pointer_of(op))
            offset = pointer.pop((), 0)
            symbolic = self._symbolic.setdefault(frozenset(pointer.items()), len(self._symbolic))
            self._places[key] = _Place(symbolic, offset, _of_lanes(pointer), _nbytes(op))
        return self._places[key]

    def _pointer_of(self, op: LoadOp | StoreOp) -> Sum:
        """Return the pointer, that of the lanes which use what a load reads if the same condition selects both."""
        pointer, place = op.ptr, dict[Product, int]()
        where = _used_where(op) if isinstance(op, LoadOp) else frozenset[SSAValue]()
        while where and isinstance(step := pointer.owner, GEPOp) and len(step.ssa_indices) == 1:
            offset = _without_casts(step.ssa_indices[0])
            if isinstance(chosen := offset.owner, arith.SelectOp) and chosen.cond in where:
                offset = chosen.lhs
            place, pointer = added(place, self._sums.of(offset), bits_of(step.elem_type) // 8), step.ptr
        return added(self._sums.of(pointer), place)

    def _root(self, op: Access) -> tuple[Attribute, int | None]:
        """Return the address space, and the number of the argument that a pointer is derived from if there is one."""
        key = id(op)
        if key not in self._roots:
            given = {
                variable.argument
                for product in self._sums.of(op.ptr)
                for variable in product
                if isinstance(variable, Parameter) and variable.field is Field.POINTER
            }
            self._roots[key] = op.ptr.type, given.pop() if len(given) == 1 else None
        return self._roots[key]

    def _rectangle(self, op: BlockStore2dOp | BlockLoad2dOp) -> _Rectangle:
        key = id(op)
        if key not in self._rectangles:
            bits, width, height = (
                number.value.data for number in (op.elem_size_in_bits, op.tile_width, op.tile_height)
            )
            count = op.v_blocks.value.data if isinstance(op, BlockLoad2dOp) else 1
            surface = op.ptr, op.base_width, op.base_height, op.base_pitch
            columns = {product: count_ * (bits // 8) for product, count_ in self._sums.of(op.x).items()}
            self._rectangles[key] = _Rectangle(
                tuple(map(self._sums.of, surface)), self._sums.of(op.y), columns, height, count * width * bits // 8
            )
        return self._rectangles[key]


def writes(op: Operation) -> bool:
    """True if an operation or a nested one may write to memory, or orders accesses to it."""
    if op.regions:
        return any(map(writes, _inside(op)))
    return type(op) not in _WRITES_NOTHING and not is_pure(type(op)) and not op.has_trait(IsTerminator)


@cache
def is_pure(kind: type[Operation]) -> bool:
    """True if operations of a kind, which have no regions, have no effects."""
    return kind.has_trait(NoMemoryEffect) and not kind.has_trait(IsTerminator)


def _inside(op: Operation) -> Iterator[Operation]:
    return (inner for region in op.regions for block in region.blocks for inner in block.ops)


def _of_lanes(place: Sum) -> int | None:
    """Return the bytes from a lane's address to the next one's; None if lanes may differ by other values."""
    stride = 0
    for product, count in place.items():
        unknown = [variable.value for variable in product if isinstance(variable, Unknown)]
        if len(product) == 1 and any(isinstance(value.owner, LaneIdOp) for value in unknown):
            stride = count
        elif not all(map(_is_same_in_lanes, unknown)):
            return None
    return stride


def _without_casts(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, IndexCastOp | arith.IndexCastOp):
        value = value.owner.operands[0]
    return value


def _used_where(load: LoadOp) -> frozenset[SSAValue]:
    """Return the conditions that hold wherever a loaded value is taken: none unless all its users select it by one."""
    value = load.dereferenced_value
    users = [use.operation for use in value.uses]
    chosen = [op.cond for op in users if isinstance(op, arith.SelectOp) and op.rhs is not value]
    return _all_of(chosen[0]) if len(chosen) == len(users) and len(set(chosen)) == 1 else frozenset()


def _all_of(condition: SSAValue) -> frozenset[SSAValue]:
    """Return a condition and those that it is the conjunction of."""
    both = condition.owner
    parts = map(_all_of, both.operands) if isinstance(both, arith.AndIOp) else ()
    return frozenset((condition,)).union(*parts)


def _is_same_in_lanes(value: SSAValue) -> bool:
    """True if a value is an id of all lanes, or computed from those alone."""
    owner = value.owner
    if not isinstance(owner, Operation) or type(owner) in _SAME_IN_LANES:
        return isinstance(owner, Operation)
    return owner.name.startswith("arith.") and all(map(_is_same_in_lanes, owner.operands))


def _nbytes(op: LoadOp | StoreOp) -> int:
    value = op.value if isinstance(op, StoreOp) else op.dereferenced_value
    return length_of(value) * bits_of(element_of(value)) // 8


def _number(sum_: Sum) -> int | None:
    """Return the number of a constant sum, else None."""
    return sum_.get((), 0) if not sum_.keys() - {()} else None
