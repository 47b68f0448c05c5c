"""The epilogue: steps between the accumulator and C, on the tile that a work-group holds in registers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects import math as math_dialect
from xdsl.dialects import vector as xvector
from xdsl.dialects.builtin import AnyFloat, IntegerType, VectorType, f32, i8, i32
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, SSAValue

from codegen.problem.dtype import DType
from codegen.problem.epilogue import (
    Axis,
    EpilogueKind,
    EpilogueStep,
)
from codegen.problem.gemm import GemmProblem
from codegen.xe.build.matrices import (
    Matrix,
    stored_element,
)
from codegen.xe.build.sources import Place
from codegen.xe.build.tiles import Shared
from codegen.xe.build.writer import Writer
from codegen.xe.dialects.index_list import (
    Index,
    index,
)
from codegen.xe.dialects.interned import vector
from codegen.xe.dialects.upstream.arith_casts import (
    ExtFOp,
    FPToSIOp,
    IndexCastOp,
    SIToFPOp,
    TruncIOp,
    UIToFPOp,
)
from codegen.xe.dialects.upstream.arith_ops import (
    CmpfOp,
    CmpiOp,
    SelectOp,
)
from codegen.xe.dialects.upstream.vector_ops import (
    MultiReductionOp,
    ShapeCastOp,
    StepOp,
)
from codegen.xe.dialects.xetile import (
    BroadcastOp,
    LoadTileOp,
    StoreTileOp,
)

_RANGES = {DType.S8: (-128, 127), DType.U8: (0, 255), DType.I32: (-(2**31), 2**31 - 1)}
_LARGEST_BELOW_2_31 = 2.0**31 - 128  # in f32
# erfc(y) of y >= 0 is exp(-y^2) times this series of 1 / (1 + bend y), within 1.5e-7.
# Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
_ERFC_BEND = 0.3275911
_ERFC_SERIES = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
_GELU_TANH = (math.sqrt(2 / math.pi), 0.044715)


@dataclass(frozen=True, slots=True)
class Epilogue:
    """Converts tiles of the sums to C: `matrices` are C (key None) and the steps' operands, by step index.

    `sums` are the buffers for partial sums of a reduction: one number per row (or column) and tile across it.
    """

    problem: GemmProblem
    c: Shared
    matrices: Mapping[int | None, Matrix]
    sums: Mapping[int, Matrix]

    def write(self, w: Writer, place: Place, products: Sequence[SSAValue]) -> None:
        """Apply the gate and the steps to the tile at a place, of the sums of each product; store it and its
        reductions.
        """
        out, gate = self.matrices[None], self.problem.gate
        if not self.problem.epilogue and gate is None:
            self._store(w, place, out, converted(w, products[0], self.problem.dtype_c))
            return
        x = as_f32(w, products[0])
        if gate is not None:
            x = _scaled(w, elementwise(w, gate.step, x), as_f32(w, products[1]))
        for number, step in enumerate(self.problem.epilogue):
            if step.kind is EpilogueKind.REDUCE:
                self._reduce(w, place, number, step, x)
            else:
                x = self._step(w, place, number, step, x)
        self._store(w, place, out, converted(w, x, self.problem.dtype_c))

    def _store(self, w: Writer, place: Place, matrix: Matrix, value: SSAValue) -> None:
        tile = matrix.at(w, place.batch, place.row, place.column, self.c.shape, self.c.wg_map)
        w.insert(StoreTileOp(value, tile))

    def _step(self, w: Writer, place: Place, number: int, step: EpilogueStep, x: SSAValue) -> SSAValue:
        match step.kind:
            case EpilogueKind.BIAS:
                return _added(w, x, self._vector(w, place, number, step))
            case EpilogueKind.SCALE if step.axis is not None:
                return _scaled(w, x, self._vector(w, place, number, step))
            case EpilogueKind.ADD:
                return _added(w, x, self._matrix(w, place, number))
            case EpilogueKind.MULTIPLY:
                return _scaled(w, x, self._matrix(w, place, number))
            case EpilogueKind.BETA:
                old = self._matrix(w, place, None)
                return _added(w, x, _scaled(w, old, _like(w, x, step.value)))
            case _:
                return elementwise(w, step, x)

    def _matrix(self, w: Writer, place: Place, number: int | None) -> SSAValue:
        tile = self.matrices[number].at(w, place.batch, place.row, place.column, self.c.shape, self.c.wg_map)
        unsigned = number is None and self.problem.dtype_c is DType.U8
        return as_f32(w, w.insert(LoadTileOp(tile)).value, unsigned=unsigned)

    def _vector(self, w: Writer, place: Place, number: int, step: EpilogueStep) -> SSAValue:
        shared, axis, at = self._along(step.axis, place)
        tile = self.matrices[number].at(w, place.batch, *at, shared.shape, shared.wg_map)
        value = as_f32(w, w.insert(LoadTileOp(tile)).value)
        return self._broadcast(w, value, shared, axis)

    def _along(self, axis: Axis | None, place: Place) -> tuple[Shared, int, tuple[Index, Index]]:
        """Return the distribution of a vector along an axis, the dimension it lacks, and its start."""
        if axis is Axis.ROW:
            return self.c.rows(), 1, (place.row, 0)
        return self.c.columns(), 0, (0, place.column)

    def _reduce(self, w: Writer, place: Place, number: int, step: EpilogueStep, x: SSAValue) -> None:
        """Sum the elements inside C along rows or columns, and store one number per row or column of this tile."""
        shared, along, at = self._along(step.axis, place)
        matrix, length = self.sums[number], self.c.shape[along]
        extent, first = (self.matrices[None].columns, place.column) if along else (self.matrices[None].rows, place.row)
        if not (isinstance(extent, int) and extent % length == 0):
            x = self._inside(w, x, along, w.sub(extent, first))
        kept = self.c.shape[1 - along]
        zero = w.splat((kept,), f32, 0)
        total = w.insert(MultiReductionOp(CombiningKindAttr(CombiningKindFlag.ADD), x, zero, (along,))).dest
        column = w.insert(ShapeCastOp(total, VectorType(f32, shared.shape))).result
        tile_number = w.div(first, length)
        start = (at[0], tile_number) if along else (tile_number, at[1])
        tile = matrix.at(w, place.batch, *start, shared.shape, shared.wg_map)
        w.insert(StoreTileOp(column, tile))

    def _inside(self, w: Writer, x: SSAValue, along: int, count: Index) -> SSAValue:
        """Return `x` with zeros from row (or column) `count` on."""
        length, shared = self.c.shape[along], self.c.columns() if along else self.c.rows()
        numbers = w.insert(StepOp(VectorType(index, (length,)))).result
        numbers = w.insert(IndexCastOp(numbers, VectorType(i32, (length,)))).result
        limit = w.insert(IndexCastOp(w.value(count), i32)).result
        limits = w.insert(xvector.BroadcastOp(limit, vector(i32, length))).vector
        inside = w.insert(CmpiOp(numbers, limits, "slt")).result
        ones = w.insert(SelectOp(inside, w.splat((length,), f32, 1), w.splat((length,), f32, 0))).result
        line = w.insert(ShapeCastOp(ones, VectorType(f32, shared.shape))).result
        mask = self._broadcast(w, line, shared, 1 - along)
        zero = _like(w, x, 0.0)
        return w.insert(SelectOp(w.insert(CmpfOp(mask, zero, "ogt")).result, x, zero)).result

    def _broadcast(self, w: Writer, line: SSAValue, shared: Shared, axis: int) -> SSAValue:
        maps: dict[str, Attribute] = {}
        if shared.wg_map is not None and self.c.wg_map is not None:
            maps = {"wg_map_source": shared.wg_map, "wg_map_result": self.c.wg_map}
        return w.insert(BroadcastOp(line, (axis,), VectorType(f32, self.c.shape), properties=maps)).result


def elementwise(w: Writer, step: EpilogueStep, x: SSAValue) -> SSAValue:
    """Apply a step that has no operand but the tile."""
    zero = _like(w, x, 0.0)
    match step.kind:
        case EpilogueKind.ALPHA | EpilogueKind.SCALE:
            return _scaled(w, x, _like(w, x, step.value))
        case EpilogueKind.RELU:
            return w.insert(arith.MaximumfOp(x, zero)).result
        case EpilogueKind.LEAKY_RELU:
            positive = w.insert(CmpfOp(x, zero, "ogt")).result
            return w.insert(SelectOp(positive, x, _scaled(w, x, _like(w, x, step.value)))).result
        case EpilogueKind.GELU:
            return _gelu(w, x)
        case EpilogueKind.GELU_TANH:
            factor, cubic = (_like(w, x, number) for number in _GELU_TANH)
            inner = _scaled(w, x, _added(w, _scaled(w, _scaled(w, x, x), cubic), _like(w, x, 1.0)))
            # 0.5 (1 + tanh(y)) is the sigmoid of 2y.
            return _scaled(w, x, _sigmoid(w, _scaled(w, _scaled(w, inner, factor), _like(w, x, 2.0))))
        case EpilogueKind.SILU:
            return _scaled(w, x, _sigmoid(w, x))
        case EpilogueKind.SIGMOID:
            return _sigmoid(w, x)
        case EpilogueKind.TANH:
            return w.insert(math_dialect.TanhOp(x)).result
        case EpilogueKind.CLIP:
            raised = w.insert(arith.MaximumfOp(x, _like(w, x, step.value))).result
            return w.insert(arith.MinimumfOp(raised, _like(w, x, step.high))).result
        case _:
            raise AssertionError(f"{step.kind} is not an element-wise step")


def as_f32(w: Writer, value: SSAValue, *, unsigned: bool = False) -> SSAValue:
    """Convert the elements of a vector to f32; integers are signed unless `unsigned`."""
    kind, element = _vector_type(value), _vector_type(value).element_type
    if element == f32:
        return value
    wide = vector(f32, *kind.get_shape())
    if isinstance(element, IntegerType):
        return w.insert(UIToFPOp(value, wide) if unsigned else SIToFPOp(value, wide)).result
    return w.insert(ExtFOp(value, wide)).result


def converted(w: Writer, value: SSAValue, dtype: DType) -> SSAValue:
    """Convert f32 or i32 elements to the type of C: rounds to nearest even; integers saturate, NaN becomes 0."""
    element, target = _vector_type(value).element_type, stored_element(dtype)
    if element == target:
        return value
    if isinstance(element, IntegerType) and isinstance(target, IntegerType):
        return _narrowed(w, value, dtype)
    if isinstance(target, AnyFloat):
        value = as_f32(w, value)
        return value if target == f32 else w.insert(arith.TruncFOp(value, _of(value, target))).result
    return _rounded(w, value, dtype)


def _narrowed(w: Writer, value: SSAValue, dtype: DType) -> SSAValue:
    shape, (least, most) = _vector_type(value).get_shape(), _RANGES[dtype]
    value = w.insert(arith.MaxSIOp(value, w.splat(shape, i32, least))).result
    value = w.insert(arith.MinSIOp(value, w.splat(shape, i32, most))).result
    return w.insert(TruncIOp(value, _of(value, i8))).result


def _rounded(w: Writer, value: SSAValue, dtype: DType) -> SSAValue:
    shape, (least, most) = _vector_type(value).get_shape(), _RANGES[dtype]
    number = w.insert(CmpfOp(value, value, "ord")).result
    value = w.insert(SelectOp(number, value, _like(w, value, 0.0))).result
    whole = w.insert(math_dialect.RoundEvenOp(value)).result
    highest = min(float(most), _LARGEST_BELOW_2_31)
    bounded = w.insert(arith.MaximumfOp(whole, _like(w, value, float(least)))).result
    bounded = w.insert(arith.MinimumfOp(bounded, _like(w, value, highest))).result
    integers = w.insert(FPToSIOp(bounded, _of(value, i32))).result
    if dtype is not DType.I32:
        return w.insert(TruncIOp(integers, _of(value, i8))).result
    beyond = w.insert(CmpfOp(whole, _like(w, value, highest), "ogt")).result
    return w.insert(SelectOp(beyond, w.splat(shape, i32, most), integers)).result


def _gelu(w: Writer, x: SSAValue) -> SSAValue:
    """max(x, 0) - |x| erfc(|x| / sqrt 2) / 2; compilers' own erf is a function call, for which registers spill."""
    size = w.insert(math_dialect.AbsFOp(x)).result
    bent = _added(w, _scaled(w, size, _like(w, x, _ERFC_BEND * math.sqrt(0.5))), _like(w, x, 1.0))
    t = w.insert(arith.DivfOp(_like(w, x, 1.0), bent)).result
    series = _like(w, x, 0.0)
    for factor in reversed(_ERFC_SERIES):
        series = _scaled(w, _added(w, series, _like(w, x, factor)), t)
    falling = w.insert(math_dialect.ExpOp(_scaled(w, _scaled(w, x, x), _like(w, x, -0.5)))).result
    below = _scaled(w, _scaled(w, size, _like(w, x, 0.5)), _scaled(w, series, falling))
    positive = w.insert(arith.MaximumfOp(x, _like(w, x, 0.0))).result
    return w.insert(arith.SubfOp(positive, below)).result


def _sigmoid(w: Writer, x: SSAValue) -> SSAValue:
    one = _like(w, x, 1.0)
    falling = w.insert(math_dialect.ExpOp(w.insert(arith.NegfOp(x)).result)).result
    return w.insert(arith.DivfOp(one, _added(w, falling, one))).result


def _added(w: Writer, a: SSAValue, b: SSAValue) -> SSAValue:
    return w.insert(arith.AddfOp(a, b)).result


def _scaled(w: Writer, a: SSAValue, b: SSAValue) -> SSAValue:
    return w.insert(arith.MulfOp(a, b)).result


def _like(w: Writer, x: SSAValue, number: float | None) -> SSAValue:
    assert number is not None  # checked by the step
    return w.splat(_vector_type(x).get_shape(), f32, number)


def _of(value: SSAValue, element: AnyFloat | IntegerType) -> VectorType:
    return vector(element, *_vector_type(value).get_shape())


def _vector_type(value: SSAValue) -> VectorType:
    assert isinstance(value.type, VectorType)
    return value.type
