"""Weights: a tile of B as stored, converted to the type that is multiplied, in registers.

Source of the arithmetic: `codegen.problem.quantization`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    IntegerType,
    VectorType,
    bf16,
    f16,
    f32,
    i1,
    i8,
    i32,
)
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Attribute, SSAValue

from codegen.problem.dtype import DType
from codegen.problem.gemm import GemmProblem
from codegen.xe.build.matrices import Matrix
from codegen.xe.build.tiles import Shared
from codegen.xe.build.writer import Writer
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import WgMap
from codegen.xe.dialects.upstream.arith_casts import ExtFOp, ExtUIOp, SIToFPOp, UIToFPOp
from codegen.xe.dialects.upstream.arith_ops import CmpiOp, SelectOp
from codegen.xe.dialects.xetile import BroadcastOp, LoadTileOp, TransposeOp

_NIBBLE = 4
_NO_NANS = arith.FastMathFlagsAttr([FastMathFlag.NO_NANS])  # weights are numbers
_REASSOC = arith.FastMathFlagsAttr([FastMathFlag.REASSOC])
_FRACTION = 23  # bits of the fraction of f32
_LEAST_POWER = 1 << 22  # 2^-127, a subnormal f32
_BYTE_NAN, _QUIET_NAN = 255, 0x7FC00000
_ELEMENTS: dict[DType, AnyFloat | IntegerType] = {
    DType.S8: i8,
    DType.U8: i8,
    DType.S4: IntegerType(_NIBBLE),
    DType.U4: IntegerType(_NIBBLE),
    DType.E4M3: Float8E4M3FNType(),
    DType.E5M2: Float8E5M2Type(),
    DType.E2M1: Float4E2M1FNType(),
}


@dataclass(frozen=True, slots=True)
class GroupRow:
    """Numbers that a group of K shares: the scale of each column, and its zero point where those are stored."""

    scale: SSAValue
    zero: SSAValue | None


@dataclass(frozen=True, slots=True)
class Weights:
    """Conversion of the tiles of B: `used` is their distribution, `scale` and `zero` the matrices of a quantised B.

    With `k_end`, which is K, tiles may reach beyond it, where A is 0.
    """

    problem: GemmProblem
    used: Shared
    k_end: Index | None
    scale: Matrix | None
    zero: Matrix | None

    def converted(self, w: Writer, stored: SSAValue, k: Index, row: GroupRow | None) -> SSAValue:
        """Return the tile of a K step that begins at `k`, from the tile as stored and the row of its group."""
        quantization = self.problem.quantization
        if quantization is None or row is None:
            return self._numbers(w, stored, self._element)
        # In f32 all is exact but products with scales of f32; the result is rounded to A's type.
        value = self._numbers(w, stored, self._computed, quantization.zero)
        if row.zero is not None:
            value = _less(w, value, self._repeated(w, row.zero))
        if self.k_end is not None and (row.zero is not None or quantization.zero):
            value = self._zero_from(w, value, w.sub(self.k_end, k))
        flags = _REASSOC if self.problem.dtype_b.is_integer else None
        scaled = w.insert(arith.MulfOp(value, self._repeated(w, row.scale), flags)).result
        if self._computed == self._element:
            return scaled
        return w.insert(arith.TruncFOp(scaled, self._type(self._element))).result

    def group_row(self, w: Writer, batch: Index, k: Index, column: Index) -> GroupRow | None:
        """Load the scales, and zero points, of the group that the element `k` of K is in; None without scales."""
        quantization = self.problem.quantization
        if quantization is None:
            return None
        assert self.scale is not None
        group = 0 if quantization.group is None else w.div(k, quantization.group)
        zero = None if self.zero is None else self._zero(w, self.zero, batch, group, column, self._computed)
        return GroupRow(_extended(w, self._row(w, self.scale, batch, group, column), self._computed), zero)

    @property
    def _element(self) -> AnyFloat:
        return f16 if self.problem.dtype_a is DType.F16 else bf16

    @property
    def _computed(self) -> AnyFloat:
        """The type in which elements are scaled.

        An integer of 4 bits less a zero point is exact in f16, so that its product with a scale of f16 has the bits
        that f32 rounded to f16 has. Scales of other types may exceed f16. Intel's compiler orders the conversions
        of groups of 32 better in f32.
        """
        quantization = self.problem.quantization
        has_halves = quantization is not None and quantization.scale is DType.F16 and quantization.group != 32
        is_nibble = self.problem.dtype_b in (DType.U4, DType.S4)
        return f16 if self._element == f16 and has_halves and is_nibble else f32

    def _zero_from(self, w: Writer, value: SSAValue, row: Index) -> SSAValue:
        """Return the tile with zeros from a row on, which is that of K.

        Zeros are loaded there, but less the zero point and scaled they may be infinite, and 0 of A by infinity is NaN.
        """
        rows, columns = (w.value(size) for size in (row, self.used.shape[1]))
        inside = w.insert(vector.CreateMaskOp([rows, columns], self._type(i1))).mask_vector
        assert isinstance(value.type, VectorType)
        none = w.splat(self.used.shape, value.type.element_type, 0)
        return w.insert(SelectOp(inside, value, none)).results[0]

    def _numbers(self, w: Writer, stored: SSAValue, to: AnyFloat, zero: int = 0) -> SSAValue:
        """Return the elements as floats, less `zero`."""
        small, packed = _ELEMENTS[self.problem.dtype_b], self.problem.dtype_b.packed
        if packed == 1:
            value = stored if small == i8 else w.insert(arith.BitcastOp(stored, self._type(small))).result
            return _less_number(w, self._as_float(w, value, self._type(to)), zero)
        # Elements of a word are neighbours along K: those of a row, once transposed.
        (k, n), (words, _) = self.used.shape, _shape(stored)
        there, back = self._turned(words), self._turned(k)
        columns = w.insert(TransposeOp(stored, VectorType(i32, (n, words)), properties=there)).result
        elements = w.insert(vector.BitcastOp(columns, VectorType(small, (n, k)))).result
        value = _less_number(w, self._as_float(w, elements, VectorType(to, (n, k))), zero)
        if back:
            back = {"wg_map_source": back["wg_map_result"], "wg_map_result": back["wg_map_source"]}
        return w.insert(TransposeOp(value, self._type(to), properties=back)).result

    def _turned(self, rows: int) -> dict[str, Attribute]:
        """Return the maps of a transposition of [rows, N] in which each sub-group transposes what it owns.

        Those of one column share a part.
        """
        if self.used.wg_map is None:
            return {}
        layout, (_, share) = self.used.wg_map.sg_layout, self.used.wg_map.sg_data
        here, there = WgMap.of(layout, (rows, share)), WgMap.of((layout[0] * layout[1], 1), (share, rows))
        return {"wg_map_source": here, "wg_map_result": there}

    def _as_float(self, w: Writer, value: SSAValue, to: VectorType) -> SSAValue:
        kind = self.problem.dtype_b
        if not kind.is_integer:
            return w.insert(ExtFOp(value, to, fastmath=_NO_NANS)).result
        return w.insert((SIToFPOp if kind in (DType.S8, DType.S4) else UIToFPOp)(value, to)).results[0]

    def _zero(self, w: Writer, matrix: Matrix, batch: Index, group: Index, column: Index, to: AnyFloat) -> SSAValue:
        """Return the zero points of a group, one for each column."""
        packed = self.problem.dtype_b.packed
        stored = self._row(w, matrix, batch, w.div(group, packed), column)
        shape = _shape(stored)
        if packed > 1:
            place = w.value(w.mul(w.rem(group, packed), _NIBBLE))
            shift = w.insert(arith.IndexCastOp(place, i32)).result
            shifts = w.insert(vector.BroadcastOp(shift, VectorType(i32, shape))).vector
            low = w.insert(arith.ShRUIOp(stored, shifts)).result
            stored = w.insert(arith.AndIOp(low, w.splat(shape, i32, (1 << _NIBBLE) - 1))).result
        return w.insert(UIToFPOp(stored, VectorType(to, shape))).results[0]

    def _row(self, w: Writer, matrix: Matrix, batch: Index, row: Index, column: Index) -> SSAValue:
        one = self.used.columns()
        return w.insert(LoadTileOp(matrix.at(w, batch, row, column, one.shape, one.wg_map))).value

    def _repeated(self, w: Writer, row: SSAValue) -> SSAValue:
        """Return the row for each element of K of the tile."""
        element = row.type.element_type  # pyright: ignore[reportAttributeAccessIssue]
        one, all_ = self.used.columns().wg_map, self.used.wg_map
        maps: dict[str, Attribute] = {}
        if one is not None and all_ is not None:
            maps = {"wg_map_source": one, "wg_map_result": all_}
        return w.insert(BroadcastOp(row, (0,), self._type(element), properties=maps)).result

    def _type(self, element: Attribute) -> VectorType:
        return VectorType(element, self.used.shape)


def _less_number(w: Writer, value: SSAValue, number: int) -> SSAValue:
    if not number:
        return value
    type_ = value.type
    assert isinstance(type_, VectorType)
    return _less(w, value, w.splat(type_.get_shape(), type_.element_type, number))


def _less(w: Writer, value: SSAValue, zero: SSAValue) -> SSAValue:
    """Return the difference of whole numbers, which is the same in any order."""
    return w.insert(arith.SubfOp(value, zero, _REASSOC)).result


def _extended(w: Writer, scale: SSAValue, to: AnyFloat) -> SSAValue:
    type_ = scale.type
    assert isinstance(type_, VectorType)
    if type_.element_type == to:
        return scale
    wide = VectorType(f32, type_.get_shape())
    if type_.element_type != i8:
        return w.insert(ExtFOp(scale, wide)).result
    return _power_of_two(w, scale, wide)


def _power_of_two(w: Writer, exponent: SSAValue, to: VectorType) -> SSAValue:
    """Return 2^(e - 127) of bytes e of e8m0: NaN of 255."""
    words, shape = VectorType(i32, to.get_shape()), to.get_shape()

    def number(value: int) -> SSAValue:
        return w.splat(shape, i32, value)

    wide = w.insert(ExtUIOp(exponent, words)).results[0]
    bits = w.insert(arith.ShLIOp(wide, number(_FRACTION))).result
    bits = w.insert(arith.MaxUIOp(bits, number(_LEAST_POWER))).result  # of 0
    is_nan = w.insert(CmpiOp(wide, number(_BYTE_NAN), "eq")).result
    bits = w.insert(SelectOp(is_nan, number(_QUIET_NAN), bits)).results[0]
    return w.insert(arith.BitcastOp(bits, to)).result


def _shape(value: SSAValue) -> Sequence[int]:
    assert isinstance(value.type, VectorType)
    return value.type.get_shape()
