"""The operands of a problem as a kernel sees them: arguments, and the position of tiles in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    FloatTF32Type,
    IntegerType,
    MemRefType,
    NoneAttr,
    Signedness,
    StridedLayoutAttr,
    UnitAttr,
    bf16,
    f16,
    f32,
    i8,
    i32,
)
from xdsl.dialects.memref import ReinterpretCastOp
from xdsl.ir import Attribute, SSAValue

from codegen.problem.dtype import DType
from codegen.problem.gemm import (
    GATED_AXIS,
    GROUP_AXIS,
    GemmProblem,
    Operand,
)
from codegen.xe.build.writer import (
    Writer,
    named,
)
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.interned import memref
from codegen.xe.dialects.kernel_attributes import LANE_ACCESS
from codegen.xe.dialects.maps import WgMap
from codegen.xe.dialects.xetile import (
    InitTileOp,
    TileTraits,
    TileType,
)
from codegen.xe.dialects.xetile.tile_attr import COLUMN_MAJOR

Element = AnyFloat | IntegerType

_KEPT = 1024  # types
_MULTIPLIED: dict[DType, Element] = {
    DType.F16: f16,
    DType.BF16: bf16,
    DType.TF32: FloatTF32Type(),
    DType.F32: f32,
    DType.S8: i8,
    DType.U8: IntegerType(8, Signedness.UNSIGNED),
}
_STORED: dict[DType, Element] = (
    _MULTIPLIED
    | {DType.U8: i8, DType.I32: i32}
    | dict.fromkeys((DType.E4M3, DType.E5M2, DType.E8M0), i8)
    | dict.fromkeys((DType.S4, DType.U4, DType.E2M1), i32)
)


def multiplied_element(dtype: DType) -> Element:
    """Return the element type of what is multiplied."""
    return _MULTIPLIED[dtype]


def stored_element(dtype: DType) -> Element:
    """Return the element type of what is added, scaled and stored: integers are signless."""
    return _STORED[dtype]


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix of [rows, columns] in memory, whose rows, or columns if `by_columns`, are contiguous.

    `pitch` and `batch_stride` count elements; a stride of 0 is one matrix for the whole batch.
    """

    name: str
    element: Element
    rows: Index
    columns: Index
    pitch: Index
    batch_stride: Index
    batch: int
    by_columns: bool
    by_lanes: bool
    memory: SSAValue | None = None

    @property
    def is_static(self) -> bool:
        """True if all sizes and strides are constants."""
        return all(isinstance(n, int) for n in (self.rows, self.columns, self.pitch, self.batch_stride))

    @property
    def type(self) -> MemRefType[Element]:
        """The argument's type: with its shape and strides if static, else only its rank."""
        if not self.is_static:
            strides = (1, None) if self.by_columns else (None, 1)
            return _memory(self.element, (DYNAMIC_INDEX, DYNAMIC_INDEX), strides)
        rows, columns, pitch, batch_stride = self.rows, self.columns, self.pitch, self.batch_stride
        assert isinstance(rows, int)
        assert isinstance(columns, int)
        assert isinstance(pitch, int)
        assert isinstance(batch_stride, int)
        shape, strides = (rows, columns), (1, pitch) if self.by_columns else (pitch, 1)
        if self._is_batched:
            shape, strides = (self.batch, *shape), (batch_stride, *strides)
        # One element by columns keeps its strides, of which both are 1: without them a memref is by rows.
        by_rows = strides == _tight(shape) and not self.by_columns
        return _memory(self.element, shape, None if by_rows else strides)

    @property
    def _is_batched(self) -> bool:
        return self.batch > 1 and self.batch_stride != 0

    def tile(self, shape: tuple[int, int], wg_map: WgMap | None) -> TileType:
        """Return the type of a tile of the matrix, which sub-groups share by a map."""
        traits = TileTraits(wg_map=wg_map, order=COLUMN_MAJOR) if self.by_columns else TileTraits(wg_map=wg_map)
        return _tile(shape, self.element, traits)

    def at(
        self, w: Writer, batch: Index, row: Index, column: Index, shape: tuple[int, int], wg_map: WgMap | None
    ) -> SSAValue[TileType]:
        """Create a tile at a row and column of one matrix of the batch."""
        assert self.memory is not None
        tile = self.tile(shape, wg_map)
        attributes: dict[str, Attribute] = {LANE_ACCESS: UnitAttr()} if self.by_lanes else {}
        if self.is_static:
            offsets: Sequence[Index] = (batch, row, column) if self._is_batched else (row, column)
            init = InitTileOp(self.memory, offsets, tile, attributes=attributes)
        else:
            strides = (1, self.pitch) if self.by_columns else (self.pitch, 1)
            init = InitTileOp(
                self._of_batch(w, batch),
                (row, column),
                tile,
                sizes=(self.rows, self.columns),
                strides=strides,
                attributes=attributes,
            )
        return named(w.insert(init).tile, f"{self.name.lower()}_tile")

    def until(self, w: Writer, end: Index) -> "Matrix":
        """Return the matrix without the rows from `end` on: loads of these return zero, stores are dropped."""
        assert self.memory is not None
        assert not self._is_batched
        layout = StridedLayoutAttr([self.pitch if isinstance(self.pitch, int) else None, 1], None)
        shape = [DYNAMIC_INDEX, self.columns if isinstance(self.columns, int) else DYNAMIC_INDEX]
        result = MemRefType(self.element, shape, layout)
        cast = ReinterpretCastOp.from_dynamic(self.memory, [0], [end, self.columns], [self.pitch, 1], result)
        return replace(self, rows=end, memory=w.insert(cast).result)

    def _of_batch(self, w: Writer, batch: Index) -> SSAValue:
        assert self.memory is not None
        if not self._is_batched or (offset := w.mul(batch, self.batch_stride)) == 0:
            return self.memory
        strides: Sequence[Index] = (1, self.pitch) if self.by_columns else (self.pitch, 1)
        layout = StridedLayoutAttr([s if isinstance(s, int) else None for s in strides], None)
        shape = [n if isinstance(n, int) else DYNAMIC_INDEX for n in (self.rows, self.columns)]
        result = MemRefType(self.element, shape, layout)
        return w.insert(
            ReinterpretCastOp.from_dynamic(
                self.memory, [w.value(offset)], [self.rows, self.columns], list(strides), result
            )
        ).result


def matrix_of(w: Writer, problem: GemmProblem, operand: Operand, given: Mapping[str, Index], by_lanes: bool) -> Matrix:
    """Return the matrix of an operand; `given` are the sizes that the launch passes, keyed as in `launch_sizes`."""
    name = operand.name
    by_columns = (name == "A" and problem.transpose_a) or (name == "B" and problem.transpose_b)
    multiplied = name == "A" or (name == "B" and not problem.has_weights)
    element = multiplied_element(operand.dtype) if multiplied else stored_element(operand.dtype)
    sizes = zip(operand.axes, (operand.rows, operand.columns), strict=True)
    rows, columns = (_extent(w, problem, operand.dtype, axis, size, given) for axis, size in sizes)
    pitch: Index = given.get(f"ld{name.lower()}", operand.pitch)
    stride: Index = given.get(f"batch_stride_{name.lower()}", operand.batch_stride)
    if operand.is_vector:
        pitch, stride = columns, (rows if columns == 1 else columns) if operand.batch_stride else 0
    if by_columns:
        rows, columns = columns, rows
    matrices = operand.matrices(problem.batch) if operand.experts > 1 else problem.batch
    return Matrix(name, element, rows, columns, pitch, stride, matrices, by_columns, by_lanes)


def _extent(w: Writer, problem: GemmProblem, dtype: DType, axis: str, size: int, given: Mapping[str, Index]) -> Index:
    """Return the length of an axis: a size of the launch, that of two products, words or groups of K, or a constant."""
    if axis == GATED_AXIS and "n" in given:
        return w.mul(given["n"], 2)
    if axis == "k" and "k" in given:
        return w.ceil_div(given["k"], dtype.packed)
    group = None if problem.quantization is None else problem.quantization.group
    if axis == GROUP_AXIS and "k" in given and group is not None:
        return w.ceil_div(w.ceil_div(given["k"], group), dtype.packed)
    return given.get(axis, size)


def launch_sizes(problem: GemmProblem) -> dict[str, int]:
    """Return the size arguments of a dynamic problem's kernels, in order, with their values for this problem."""
    p = problem
    if not p.dynamic:
        return {}
    sizes = {"m": p.m, "n": p.n, "k": p.k}
    matrices = [operand for operand in p.operands if not operand.is_vector]
    sizes |= {f"ld{operand.name.lower()}": operand.pitch for operand in matrices}
    if p.batch > 1:
        strided = [operand for operand in matrices if operand.batch_stride]
        sizes |= {f"batch_stride_{operand.name.lower()}": operand.batch_stride for operand in strided}
    return sizes


def _tight(shape: Sequence[int]) -> tuple[int, ...]:
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    return tuple(strides)


@lru_cache(_KEPT)
def _memory(element: Element, shape: tuple[int, ...], strides: tuple[int | None, ...] | None) -> MemRefType[Element]:
    return memref(element, shape, NoneAttr() if strides is None else StridedLayoutAttr(strides))


@lru_cache(_KEPT)
def _tile(shape: tuple[int, int], element: Element, traits: TileTraits) -> TileType:
    return TileType(shape, element, traits)
