"""DPAS: splits an xegpu.dpas of any multiple of the instruction's size into instructions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import cast

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    FloatTF32Type,
    IntegerType,
    Signedness,
    VectorType,
    bf16,
    f16,
    f32,
    i16,
    i32,
)
from xdsl.dialects.vector import BitcastOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.arith_casts import (
    ExtFOp,
    ExtSIOp,
    TruncIOp,
)
from codegen.xe.dialects.upstream.llvm_ops import (
    DeviceCallOp,
)
from codegen.xe.dialects.upstream.vector_ops import (
    ExtractStridedSliceOp,
    integers,
)
from codegen.xe.dialects.upstream.xevm import MmaOp
from codegen.xe.dialects.xegpu import DpasOp
from codegen.xe.passes.lanes.emitter import (
    Emitter,
    Register,
    bits_of,
    chunk_type,
    element_of,
    length_of,
)
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
)
from codegen.xe.passes.lanes.values import (
    Lanes,
    lane_element,
    shape_of,
)
from codegen.xe.passes.lanes.vectors.contraction import multiply_add, widened
from codegen.xe.passes.lanes.vectors.fragments import own
from codegen.xe.passes.lanes.vectors.layout import (
    LONGEST,
    LaneLayout,
    Places,
    canonical,
    column_groups,
    pieces,
    row_pairs,
)
from codegen.xe.passes.lanes.vectors.shuffles import splat
from codegen.xe.subgroup import subgroup_size

_ROWS = 8
_MLIR_LANES = 16


@dataclass(frozen=True, slots=True)
class Instruction:
    """Operand types: K of one instruction, register types of A and B, and its accumulator types."""

    a: str
    b: str
    k: int
    register_a: Attribute
    register_b: Attribute
    accumulators: tuple[Attribute, ...]


_FLOATS: dict[Attribute, Instruction] = {
    f16: Instruction("f16", "f16", 16, i16, i32, (f32, f16)),
    bf16: Instruction("bf16", "bf16", 16, i16, i32, (f32, bf16)),
    FloatTF32Type(): Instruction("tf32", "tf32", 8, f32, f32, (f32,)),
}
_BYTE = 8
_U8 = IntegerType(_BYTE, Signedness.UNSIGNED)


def instruction_of(op: DpasOp) -> Instruction:
    """Return the instruction for the operands of an operation.

    Raises:
        PassFailedException: there is no such instruction.
    """
    a, b, d = (cast(VectorType, v.type).element_type for v in (op.a, op.b, op.d))
    if isinstance(a, IntegerType) and isinstance(b, IntegerType) and a.width.data == b.width.data == _BYTE:
        names = ["u8" if e.signedness.data is Signedness.UNSIGNED else "i8" for e in (a, b)]
        if lane_element(d) != i32:
            raise PassFailedException(
                f"lower-to-lanes: expected a dpas of {a} and {b} with sums in i32, which do not wrap, got {d}: "
                "convert them afterwards"
            )
        return _for_lanes(Instruction(names[0], names[1], 32, i16, i32, (i32,)))
    found = _FLOATS.get(a)
    if found is None or a != b:
        hint = ": arith.truncf rounds them to tf32, vector.contract multiplies them in f32" if a == b == f32 else ""
        raise PassFailedException(
            f"lower-to-lanes: expected a and b of dpas alike, of f16, bf16, tf32 or i8, got {a} and {b}{hint}"
        )
    if bits_of(lane_element(d)) > bits_of(f32):
        raise PassFailedException(
            f"lower-to-lanes: expected a dpas of {a} with sums of at most 32 bits, got {d}: extend them afterwards, or "
            "multiply with vector.contract"
        )
    return _for_lanes(found)


def _for_lanes(kind: Instruction) -> Instruction:
    """Return the instruction for the sub-group size: 8 lanes hold a row of A in words, and have no tf32."""
    if subgroup_size() == _MLIR_LANES:
        return kind
    if kind.register_b == f32:
        raise PassFailedException(
            f"lower-to-lanes: expected a dpas of f16, bf16 or i8 with sub-groups of {subgroup_size()}, got tf32: "
            "vector.contract multiplies in f32"
        )
    return replace(kind, register_a=i32, accumulators=kind.accumulators[:1])


def plain_shapes(op: DpasOp) -> tuple[Ints, Ints]:
    """Return [M, K] of a and [K, N] of b, unpacked."""
    a, b = shape_of(op.a), shape_of(op.b)
    if len(a) == 3:
        a = a[0], a[1] * a[2]
    if len(b) == 3:
        b = b[0] * b[2], b[1]
    return a, b


def layout_a(op: DpasOp) -> LaneLayout:
    """Return the layout of A.

    Raises:
        PassFailedException: there is no instruction for the operands, or K is no multiple of its own.
    """
    (m, k), _ = plain_shapes(op)
    kind = instruction_of(op)
    if k % kind.k:
        raise PassFailedException(
            f"lower-to-lanes: expected a dpas of {kind.a} with K a multiple of {kind.k}, got K {k}: "
            "pad A and B with zeros, as loads of tiles that reach beyond a matrix do"
        )
    if kind.k < subgroup_size():
        return row_pairs(m, k)
    return column_groups(m, k, kind.k // subgroup_size())


def layout_b(op: DpasOp) -> LaneLayout:
    """Return the layout of B."""
    _, (k, n) = plain_shapes(op)
    layout = canonical((k, n), 8 if instruction_of(op).k == 8 else LONGEST)
    shape = shape_of(op.b)
    return layout if len(shape) == 2 else layout.relabelled(_word_names(shape))


@cache
def _word_names(shape: Ints) -> Places:
    """Return the element of [K / v, N, v] for each element of [K, N]."""
    words, n, v = shape
    return np.arange(words * n * v).reshape(words, n, v).transpose(0, 2, 1).reshape(-1)


def _dpas(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, DpasOp)
    kind = instruction_of(op)
    if lowering.work_items:
        _dpas_of_work_items(lowering, op, kind)
        return
    if not lowering.limits.has_dpas:
        _multiply_add(lowering, op)
        return
    (m, k), (_, n) = plain_shapes(op)
    a = _uncut(lowering.emitter, lowering.vector(op.a, layout_a(op)).registers())
    b = lowering.vector(op.b, layout_b(op)).registers()
    product = _Product(lowering, op, kind, (m, k, n), (a, b, _accumulated(lowering, op, canonical((m, n)))))
    rows = list(_cut(m))
    places = [(row, height, column) for column in range(0, n, subgroup_size()) for row, height in rows]
    chunks = product.tiles(places) if subgroup_size() != _MLIR_LANES else [product.tile(*place) for place in places]
    type_ = op.d.type
    lowering.finish(op.d, Lanes(type_, canonical((m, n)), tuple(chunks)))


def _multiply_add(lowering: Lowering, op: DpasOp) -> None:
    """Multiply and add in lanes, where the device has no DPAS."""
    emitter, ((m, k), (_, n)) = lowering.emitter, plain_shapes(op)
    of = [cast(VectorType, v.type).element_type for v in (op.a, op.b)]
    element = i32 if isinstance(of[0], IntegerType) else f32
    given = zip((op.a, op.b), of, strict=True)
    a, b = (widened(emitter, lowering.vector(v), element, unsigned=type_ == _U8) for v, type_ in given)
    layout, type_ = lowering.layout(op.d), VectorType(element, (m, n))
    if op.c is None:
        acc = splat(emitter, emitter.constant(0, element), layout, type_)
    else:
        chunks = lowering.vector(op.c, layout).chunks
        acc = Lanes(type_, layout, tuple(_converted(emitter, chunk, element) for chunk in chunks))
    rows, columns = np.indices((m, n))
    of_a = np.arange(m * k).reshape(m, k)
    of_b = _word_names(shape_of(op.b)) if len(shape_of(op.b)) == 3 else np.arange(k * n)
    steps = ((of_a[rows, step], of_b[step * n + columns]) for step in range(k))
    total, result = multiply_add(emitter, (a, b), steps, acc), lane_element(op.d.type.element_type)
    lowering.define(op.d, Lanes(op.d.type, layout, tuple(_converted(emitter, c, result) for c in total.chunks)))


def _cut(extent: int) -> list[tuple[int, int]]:
    heights = pieces(extent, _ROWS)
    return [(sum(heights[:i]), height) for i, height in enumerate(heights)]


def _dpas_of_work_items(lowering: Lowering, op: DpasOp, kind: Instruction) -> None:
    """Lower one instruction, whose operands work-items hold as the instruction takes them."""
    if not lowering.limits.has_dpas:
        raise PassFailedException("lower-to-lanes: expected a device with DPAS for xegpu.dpas at work-item level")
    a, b, d = (prod(shape_of(v)) for v in (op.a, op.b, op.d))
    if not 1 <= d <= _ROWS or a * subgroup_size() != d * kind.k or b != kind.k:
        raise PassFailedException(
            f"lower-to-lanes: xegpu.dpas at work-item level: expected {kind.k} elements of b, m of d and "
            f"{kind.k / subgroup_size():g} m of a, for m of 1 to {_ROWS}, as one instruction for {kind.a} takes, "
            f"got {b}, {d} and {a}"
        )
    layout = own(shape_of(op.d))
    operands = lowering.vector(op.a).registers(), lowering.vector(op.b).registers(), _accumulated(lowering, op, layout)
    product = _Product(lowering, op, kind, (d, kind.k, subgroup_size()), operands)
    lowering.define(op.d, Lanes(op.d.type, layout, (product.tile(0, d, 0),)))


def _accumulated(lowering: Lowering, op: DpasOp, layout: LaneLayout) -> list[Register]:
    """Return the registers of the accumulator, or of zeros."""
    if op.c is not None:
        return lowering.vector(op.c, layout).registers()
    zero = lowering.emitter.constant(0, lane_element(op.d.type.element_type))
    return splat(lowering.emitter, zero, layout, op.d.type).registers()


class _Product:
    """The operands of one operation of M, K and N: the registers of A, B and C in the order of the instruction."""

    def __init__(
        self,
        lowering: Lowering,
        op: DpasOp,
        kind: Instruction,
        sizes: tuple[int, int, int],
        operands: tuple[list[Register], list[Register], list[Register]],
    ) -> None:
        self._lowering, self._kind = lowering, kind
        self._emitter = lowering.emitter
        self._m, self._k, _ = sizes
        self._a, self._b, self._c = operands
        self._result = lane_element(op.d.type.element_type)
        self._of_a: dict[tuple[int, int], SSAValue] = {}
        self._of_b: dict[tuple[int, int], SSAValue] = {}

    def tile(self, row: int, height: int, column: int) -> SSAValue:
        """Compute one tile of the result."""
        (total,) = self.tiles([(row, height, column)])
        return total

    def tiles(self, places: Sequence[tuple[int, int, int]]) -> list[SSAValue]:
        """Compute tiles of the result step by step of K, so that few registers of operands are held at a time."""
        totals = [self._initial(*place) for place in places]
        for step in range(0, self._k, self._kind.k):
            for number, (row, height, column) in enumerate(places):
                a, b = self._rows_of_a(row, height, step), self._rows_of_b(step, column)
                totals[number] = self._multiply(a, b, totals[number], height)
        return [_converted(self._emitter, total, self._result) for total in totals]

    def _initial(self, row: int, height: int, column: int) -> SSAValue:
        first = column // subgroup_size() * self._m + row
        return _accumulator(self._emitter, self._emitter.chunk(self._c[first : first + height]), self._kind)

    def _rows_of_a(self, row: int, height: int, step: int) -> SSAValue:
        key = row, step
        if key not in self._of_a:
            self._of_a[key] = self._packed_a(row, height, step)
        return self._of_a[key]

    def _packed_a(self, row: int, height: int, step: int) -> SSAValue:
        kind, group = self._kind, step // self._kind.k
        if kind.k < subgroup_size():  # two rows per register
            first, count = group * ((self._m + 1) // 2) + row // 2, (height + 1) // 2
        else:
            each = kind.k // subgroup_size()
            first, count = (group * self._m + row) * each, height * each
        return self._joined(self._a[first : first + count], kind.register_a)

    def _rows_of_b(self, step: int, column: int) -> SSAValue:
        key = step, column
        if key not in self._of_b:
            self._of_b[key] = self._packed_b(column // subgroup_size() * self._k + step)
        return self._of_b[key]

    def _packed_b(self, first: int) -> SSAValue:
        """Pack registers of rows of B to eight words."""
        return self._joined(self._b[first : first + self._kind.k], self._kind.register_b)

    def _joined(self, registers: Sequence[Register], element: Attribute) -> SSAValue:
        """Join registers to a chunk of words."""
        emitter = self._emitter
        parts = [
            emitter.bitcast(emitter.chunk(registers[at : at + LONGEST]), element)
            for at in range(0, len(registers), LONGEST)
        ]
        if len(parts) == 1:
            return parts[0]
        return emitter.chunk([(part, i) for part in parts for i in range(length_of(part))])

    def _multiply(self, a: SSAValue, b: SSAValue, c: SSAValue, height: int) -> SSAValue:
        kind, emitter = self._kind, self._emitter
        if kind.k == 32 or height == 1 or subgroup_size() != _MLIR_LANES:
            return self._call(a, b, c, height)
        accumulator = element_of(c).name
        types = accumulator, kind.a, kind.b, accumulator
        return emitter.value(MmaOp(a, b, c, (height, subgroup_size(), kind.k), types))

    def _call(self, a: SSAValue, b: SSAValue, c: SSAValue, height: int) -> SSAValue:
        """Call the built-in: MLIR's name of the 8-bit one is not Intel's, and MLIR only takes vectors of 16 lanes."""
        kind, emitter = self._kind, self._emitter
        type_ = c.type
        if element_of(c) == bf16:
            c = emitter.bitcast(c, i16)
        name = f"intel_sub_group_{kind.a}_{kind.b}_matrix_mad_k{kind.k}"
        word = "j" if element_of(a) == i32 else "t"
        letters = [word if kind.a == "u8" else None, "j" if kind.b == "u8" else None, None]
        symbol = f"_Z{len(name)}{name}{_mangled([a, b, c], letters)}"
        emitter.declare(symbol, (a, b, c), c.type, convergent=True)
        result = emitter.value(DeviceCallOp(symbol, [a, b, c], c.type))
        return result if result.type == type_ else emitter.bitcast(result, bf16)


def _uncut(emitter: Emitter, registers: Sequence[Register]) -> list[Register]:
    """Return registers as parts of whole message words: Intel's compiler copies split words and then their elements."""
    wholes: dict[SSAValue, SSAValue] = {}
    out: list[Register] = []
    for chunk, position in registers:
        cast_ = chunk.owner
        cut = cast_.source.owner if type(cast_) is BitcastOp else None
        if type(cut) is ExtractStridedSliceOp:
            words, parts = cut.source, length_of(chunk) // length_of(cut.result)
            if 1 <= parts <= LONGEST // length_of(words):
                if words not in wholes:
                    wholes[words] = emitter.bitcast(words, element_of(chunk))
                chunk, position = wholes[words], integers(cut.offsets)[0] * parts + position
        out.append((chunk, position))
    return out


_LETTERS: dict[Attribute, str] = {i16: "s", i32: "i", f32: "f", f16: "Dh"}


def _mangled(operands: Sequence[SSAValue], unsigned: Sequence[str | None]) -> str:
    """Mangle parameter types as in the Itanium ABI: a repeated vector type is a substitution."""
    out = ""
    seen: list[str] = []
    for operand, letter in zip(operands, unsigned, strict=True):
        scalar = letter or _LETTERS[element_of(operand)]
        vector = f"Dv{length_of(operand)}_{scalar}"
        if length_of(operand) == 1:
            out += scalar
        elif vector in seen:
            out += f"S{seen.index(vector) - 1 if seen.index(vector) else ''}_"
        else:
            seen.append(vector)
            out += vector
    return out


def _accumulator(emitter: Emitter, chunk: SSAValue, kind: Instruction) -> SSAValue:
    """Convert to an accumulator type of the instruction."""
    element = element_of(chunk)
    if element in kind.accumulators:
        return chunk
    return _converted(emitter, chunk, kind.accumulators[0])


def _converted(emitter: Emitter, chunk: SSAValue, element: Attribute) -> SSAValue:
    """Convert a chunk of accumulators to another element type."""
    before, length = element_of(chunk), length_of(chunk)
    if before == element:
        return chunk
    to = chunk_type(element, length)
    if isinstance(before, IntegerType):
        assert isinstance(element, IntegerType)
        wider = element.width.data > before.width.data
        return emitter.value((ExtSIOp if wider else TruncIOp)(chunk, to))
    if bits_of(element) < bits_of(before):
        return emitter.value(arith.TruncFOp(chunk, to))
    wide = emitter.as_f32(chunk)
    return wide if element == f32 else emitter.value(ExtFOp(wide, to))


HANDLERS: Mapping[str, Handler] = {"xegpu.dpas": _dpas}
