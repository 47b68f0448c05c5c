"""Alias analysis of the accesses of a kernel."""

# pyright: reportPrivateUsage=false
# xDSL's public view of operands is an object of its own.

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.dialects import arith, memref, scf
from xdsl.dialects import vector as xvector
from xdsl.dialects.builtin import VectorType
from xdsl.dialects.llvm import GEPOp, LoadOp, StoreOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator, NoMemoryEffect

from codegen.artifact.signature import (
    Field,
    Parameter,
)
from codegen.xe.dialects.gpu import BlockIdOp, LaneIdOp, ShuffleOp, SubgroupIdOp
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.interned import numbers
from codegen.xe.dialects.upstream.arith_casts import IndexCastOp
from codegen.xe.dialects.upstream.arith_ops import SelectOp
from codegen.xe.dialects.upstream.llvm_ops import (
    DeviceCallOp,
    ExchangeOp,
    LoadEachOp,
    ShuffleCallOp,
    StoreEachOp,
)
from codegen.xe.dialects.upstream.vector_ops import FromElementsOp
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
    constant,
)
from codegen.xe.passes.lanes.analysis.affine_values import Sums, source_of
from codegen.xe.passes.lanes.emitter import bits_of, element_of, length_of
from codegen.xe.subgroup import subgroup_size

Load = BlockLoad2dOp | LoadOp | LoadEachOp
LanesAccess = LoadOp | LoadEachOp | StoreOp | StoreEachOp
Access = Load | BlockStore2dOp | StoreOp | StoreEachOp
_WRITES_NOTHING = frozenset(
    {BlockLoad2dOp, LoadOp, LoadEachOp, BlockPrefetch2dOp, DeviceCallOp, ShuffleOp, ShuffleCallOp, ExchangeOp}
)
_NO_SUM = -1
_SAME_IN_LANES = frozenset({BlockIdOp, SubgroupIdOp, arith.ConstantOp})
_PURE_TOO = frozenset({xvector.BitcastOp})  # xDSL does not say it of them
_LOADED = frozenset({GEPOp, LoadOp, memref.LoadOp})
_Register = tuple[SSAValue, int | None]
"""A value of a lane: a scalar, or a register of a chunk by its position."""


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

    def is_beside(self, other: "_Place") -> bool:
        """True if the places of all lanes are known to be disjoint: pointers differ by a number of bytes, and between
        lanes by multiples of their numbers.
        """
        if self.symbolic != other.symbolic or self.stride is None:
            return False
        longest = max(self.nbytes, other.nbytes)
        return abs(self.offset - other.offset) >= abs(self.stride) * (subgroup_size() - 1) + longest


class Aliases:
    """Alias queries for one kernel. `apart`: its arguments do not alias. `sums`: its pointers and offsets."""

    def __init__(self, sums: Sums, *, apart: bool) -> None:
        self._sums, self._apart = sums, apart
        # By ids of operations, which the kernel keeps alive: xDSL hashes operations in Python.
        self._stores: dict[int, Sequence[Access] | None] = {}
        self._roots: dict[int, tuple[Attribute, int | None]] = {}
        self._places: dict[int, Sequence[_Place]] = {}
        self._symbolic: dict[frozenset[tuple[Product, int]], int] = {}
        self._rectangles: dict[int, _Rectangle] = {}
        self._same_in_lanes: dict[int, bool] = {}

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
        if isinstance(op, BlockStore2dOp | StoreOp | StoreEachOp):
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
        if isinstance(one, LanesAccess):
            return not isinstance(other, LanesAccess) or not self._is_beside(one, other)
        return isinstance(other, LanesAccess) or not self._rectangle(one).is_beside(self._rectangle(other))

    def _is_beside(self, one: LanesAccess, other: LanesAccess) -> bool:
        """True if the accesses of all lanes are known to be disjoint."""
        return all(a.is_beside(b) for a in self._places_of(one) for b in self._places_of(other))

    def _places_of(self, op: LanesAccess) -> Sequence[_Place]:
        key = id(op)
        if key not in self._places:
            self._places[key] = [self._place(pointer, nbytes) for pointer, nbytes in self._pointers_of(op)]
        return self._places[key]

    def _place(self, address: Sum | None, nbytes: int) -> _Place:
        if address is None:
            return _Place(_NO_SUM, 0, None, nbytes)
        pointer = dict(address)
        offset = pointer.pop((), 0)
        symbolic = self._symbolic.setdefault(frozenset(pointer.items()), len(self._symbolic))
        return _Place(symbolic, offset, self._of_lanes(pointer), nbytes)

    def _of_lanes(self, place: Sum) -> int | None:
        """Return the bytes from a lane's address to the next one's; None if lanes may differ by other values."""
        stride = 0
        for product, count in place.items():
            unknown = [variable.value for variable in product if isinstance(variable, Unknown)]
            if len(product) == 1 and any(isinstance(value.owner, LaneIdOp) for value in unknown):
                stride = count
            elif not all(map(self._is_same_in_lanes, unknown)):
                return None
        return stride

    def _is_same_in_lanes(self, value: SSAValue) -> bool:
        """True if a value derives from ids of all lanes and arguments alone."""
        if (key := id(value)) not in self._same_in_lanes:
            found, pending = {key}, [value]
            while pending:
                sources = _sources(pending.pop())
                if sources is None:
                    self._same_in_lanes[key] = False
                    return False
                further = [each for each in sources if id(each) not in found and not self._same_in_lanes.get(id(each))]
                found.update(map(id, further))
                pending += further
            self._same_in_lanes.update(dict.fromkeys(found, True))
        return self._same_in_lanes[key]

    def _pointers_of(self, op: LanesAccess) -> Iterator[tuple[Sum | None, int]]:
        """Yield each pointer of an access, those of the lanes which use what a load reads if the same condition selects
        both, and the bytes that it accesses there. A pointer is None if it is no sum.
        """
        value = op.operands[0] if isinstance(op, StoreOp | StoreEachOp) else op.results[0]
        nbytes = length_of(value) * bits_of(element_of(value)) // 8
        if isinstance(op, LoadOp | StoreOp):
            yield self._pointer(op.ptr, _used_where(value) if isinstance(op, LoadOp) else frozenset()), nbytes
            return
        count = length_of(value)
        for at in range(count):
            where = _used_where(value, at) if isinstance(op, LoadEachOp) else frozenset[_Register]()
            pointer: Sum | None = self._pointer(op.ptr, where)
            for chunk in op.offsets:
                offset = self._of_register(chunk, at if count > 1 else None, where)
                pointer = None if pointer is None or offset is None else added(pointer, offset, nbytes // count)
            yield pointer, nbytes // count

    def _pointer(self, pointer: SSAValue, where: frozenset[_Register]) -> Sum:
        """Return a pointer where conditions hold, which may select offsets."""
        place = dict[Product, int]()
        while where and isinstance(step := pointer.owner, GEPOp):
            offset: Index
            (offset,) = step.ssa_indices or step.rawConstantIndices.get_values()
            chosen = constant(offset) if isinstance(offset, int) else self._offset(offset, where)
            place, pointer = added(place, chosen, bits_of(step.elem_type) // 8), step.ptr
        return added(self._sums.of(pointer), place)

    def _offset(self, value: SSAValue, where: frozenset[_Register]) -> Sum:
        """Return an offset where conditions hold, which may select it."""
        found = self._of_register(*_register(_without_casts(value)), where)
        return self._sums.of(value) if found is None else found

    def _of_register(self, chunk: SSAValue, at: int | None, where: frozenset[_Register]) -> Sum | None:
        """Return an offset, the register of a chunk or a scalar, where conditions hold; None if it is no sum."""
        chunk = _without_casts(chunk)
        while at is not None and isinstance(shuffle := chunk.owner, xvector.ShuffleOp):
            chunk, at = source_of(shuffle, at)
            chunk = _without_casts(chunk)
        if isinstance(chosen := chunk.owner, SelectOp) and _of_chunk(chosen.cond, at) in where:
            chunk = chosen.lhs
        return self._sums.of(chunk) if at is None else self._sums.of_register(chunk, at)

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
    return kind in _PURE_TOO or (kind.has_trait(NoMemoryEffect) and not kind.has_trait(IsTerminator))


def _inside(op: Operation) -> Iterator[Operation]:
    return (inner for region in op.regions for block in region.blocks for inner in block.ops)


def _without_casts(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, IndexCastOp | arith.IndexCastOp):
        value = value.owner.operands[0]
    return value


def _used_where(value: SSAValue, at: int | None = None) -> frozenset[_Register]:
    """Return the conditions by which a loaded value, or the chunk of which it is the register `at`, is selected: they
    hold wherever it is taken.
    """
    users = [use.operation for use in value.uses]
    if len(users) == 1 and isinstance(chunk := users[0], FromElementsOp):
        value, at = chunk.dest, list(chunk.elements).index(value)
    where = frozenset[_Register]()
    while condition := _selected_by(value):
        where |= _all_of(_of_chunk(condition, at))
        value = next(iter(value.uses)).operation.results[0]
    return where


def _selected_by(value: SSAValue) -> SSAValue | None:
    """Return the condition by which the only user of a value selects it."""
    users = [use.operation for use in value.uses]
    if len(users) == 1 and isinstance(chosen := users[0], SelectOp) and chosen.rhs is not value:
        return chosen.cond
    return None


def _all_of(condition: _Register) -> frozenset[_Register]:
    """Return a condition and those that it is the conjunction of."""
    chunk, at = condition
    match chunk.owner:
        case xvector.ExtractOp(dynamic_position=()):
            parts = [_register(chunk)]
        case xvector.BroadcastOp() as splat:
            parts = [_of_chunk(splat.source, None)]
        case arith.AndIOp() as both:
            parts = [_of_chunk(part, at) for part in both.operands]
        case _:
            parts = []
    return frozenset((condition,)).union(*map(_all_of, parts))


def _register(value: SSAValue) -> _Register:
    """Return the chunk and the position there of an extracted register, or else the value."""
    extract = value.owner
    if isinstance(extract, xvector.ExtractOp) and not extract.dynamic_position:
        (position,) = numbers(extract.static_position)
        return extract.vector, position
    return value, None


def _of_chunk(value: SSAValue, at: int | None) -> _Register:
    """Return a register of a chunk, or a value of all registers."""
    return value, at if isinstance(value.type, VectorType) else None


def _sources(value: SSAValue) -> Sequence[SSAValue] | None:
    """Return the values that a value is computed, loaded or carried in a loop from, if it is the same in all lanes
    where these are; None if lanes may differ.
    """
    owner = value.owner
    if isinstance(owner, Block):
        loop = owner.parent_op()
        if loop is None:
            return ()  # an argument of the kernel, whose block is in no function yet
        return _carried(loop, value.index - 1) if isinstance(loop, scf.ForOp) else None  # pyright: ignore
    if isinstance(owner, scf.ForOp):
        return _carried(owner, value.index)  # pyright: ignore
    if type(owner) in _SAME_IN_LANES:
        return ()
    return owner._operands if owner.name.startswith("arith.") or type(owner) in _LOADED else None


def _carried(loop: scf.ForOp, number: int) -> Sequence[SSAValue]:
    """Return what decides how often a loop runs, and the first and the next of a carried value; -1 is its counter."""
    last = loop.body.block.last_op
    of_value = () if number < 0 or last is None else (loop.iter_args[number], last._operands[number])
    return loop.lb, loop.ub, loop.step, *of_value


def _number(sum_: Sum) -> int | None:
    """Return the number of a constant sum, else None."""
    return sum_.get((), 0) if not sum_.keys() - {()} else None
