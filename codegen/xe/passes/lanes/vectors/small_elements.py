"""Conversion of elements of 4 and 8 bits to floats: exact, by shifts and masks of words that hold several elements.

An integer becomes the low bits of a float whose unit is 1, from which that float is subtracted. Sign, exponent and
fraction of a float move to their places in f16; a multiplication then corrects the bias of the exponent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects import vector as xvector
from xdsl.dialects.builtin import (
    FixedBitwidthType,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    IntegerType,
    f16,
    f32,
)
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.interned import integer_type
from codegen.xe.dialects.upstream.arith_casts import ExtFOp, ExtUIOp
from codegen.xe.dialects.upstream.arith_ops import CmpiOp
from codegen.xe.dialects.upstream.vector_ops import TransposeOp
from codegen.xe.passes.lanes.emitter import Emitter, bits_of, chunk_type, element_of, length_of
from codegen.xe.passes.lanes.lowering import Lowering, element_type
from codegen.xe.passes.lanes.values import lane_element

_BYTE = 8
_HALF = 16


@dataclass(frozen=True, slots=True)
class _Format:
    """Bits of exponent and fraction of a small float, the bias of its exponent, and whether all ones are a NaN.

    `beyond`: the highest exponent is that of infinities and NaN, as in f16.
    """

    exponent: int
    fraction: int
    bias: int
    nan: bool = False
    beyond: bool = False


_FORMATS: Mapping[Attribute, _Format] = {
    Float8E5M2Type(): _Format(5, 2, 15, beyond=True),
    Float8E4M3FNType(): _Format(4, 3, 7, nan=True),
    Float4E2M1FNType(): _Format(2, 1, 1),
}
_WIDE: Mapping[Attribute, _Format] = {f16: _Format(5, 10, 15, beyond=True), f32: _Format(8, 23, 127, beyond=True)}
_UNITS: Mapping[Attribute, tuple[int, float]] = {f16: (0x6400, 2.0**10), f32: (0x4B000000, 2.0**23)}
"""The bits of the floats whose unit is 1, and their values."""


def is_small(element: Attribute) -> bool:
    """Return whether elements are integers or floats of 2 to 8 bits."""
    return isinstance(element, FixedBitwidthType) and 1 < element.bitwidth <= _BYTE


def converts_small(op: Operation) -> bool:
    """Return whether an operation converts small elements to floats."""
    return op.name in ("arith.uitofp", "arith.sitofp", "arith.extf") and is_small(_element(op.operands[0]))


def converts_packed(op: Operation) -> bool:
    """Return whether an operation converts elements that share a byte."""
    return converts_small(op) and bits_of(lane_element(_element(op.operands[0]))) < _BYTE


def converted_minuend(op: Operation) -> Operation | None:
    """Return the conversion of small integers from which an operation subtracts, if it may do so in another order.

    The integers may be transposed in between.
    """
    if not isinstance(op, arith.SubfOp) or FastMathFlag.REASSOC not in op.fastmath.data:
        return None
    minuend = op.operands[0].owner
    conversion = minuend.vector.owner if isinstance(minuend, TransposeOp) else minuend
    if not isinstance(conversion, Operation) or isinstance(conversion, ExtFOp):
        return None
    return conversion if converts_small(conversion) else None


def converted(lowering: Lowering, op: Operation, chunk: SSAValue, less: SSAValue | None = None) -> SSAValue:
    """Return the elements of a chunk as floats, integers less the numbers of another chunk.

    Raises:
        PassFailedException: the chunk does not fill bytes.
    """
    emitter, small, result = lowering.emitter, _element(op.operands[0]), element_type(op.results[0])
    if length_of(chunk) * bits_of(element_of(chunk)) < _BYTE:
        raise PassFailedException(f"lower-to-lanes: {op.name}: expected whole bytes of {small} in a lane, got one")
    if isinstance(op, ExtFOp):
        keeps_nan = op.fastmath is None or FastMathFlag.NO_NANS not in op.fastmath.data
        value = _from_float(emitter, chunk, _FORMATS[small], f16 if result == f16 else f32, keeps_nan)
    else:
        value = _from_integer(emitter, chunk, f16 if result == f16 else f32, less, signed=op.name == "arith.sitofp")
    if element_of(value) == result:
        return value
    cast_ = arith.TruncFOp if bits_of(result) < bits_of(element_of(value)) else ExtFOp
    return emitter.value(cast_(value, chunk_type(result, length_of(chunk))))


def _from_integer(emitter: Emitter, chunk: SSAValue, to: Attribute, less: SSAValue | None, *, signed: bool) -> SSAValue:
    bits, length = bits_of(element_of(chunk)), length_of(chunk)
    words, each = _words(emitter, chunk, bits_of(to))
    sign = 1 << (bits - 1) if signed else 0
    spread = _spread(emitter, words, each, length)
    shifted = emitter.value(arith.ShRUIOp(spread, _numbers(emitter, [i % each * bits for i in range(length)], spread)))
    low = emitter.value(arith.AndIOp(shifted, _splat(emitter, (1 << bits) - 1, shifted)))
    pattern, unit = _UNITS[to]
    # With its sign flipped, a signed number is one without sign, plus 2^(bits - 1).
    number = emitter.bitcast(emitter.value(arith.XOrIOp(low, _splat(emitter, pattern ^ sign, low))), to)
    over = _splat(emitter, unit + sign, number)
    if less is not None:
        over = _sum(emitter, less, over)
    return emitter.value(arith.SubfOp(number, over))


def _from_float(emitter: Emitter, chunk: SSAValue, kind: _Format, to: Attribute, keeps_nan: bool) -> SSAValue:
    if kind.beyond and to == f32:
        return emitter.as_f32(_from_float(emitter, chunk, kind, f16, keeps_nan))
    wide, width = _WIDE[to], bits_of(to)
    bits, length = bits_of(element_of(chunk)), length_of(chunk)
    words, each = _words(emitter, chunk, width)
    spread = _spread(emitter, words, each, length)
    top = emitter.value(
        arith.ShLIOp(spread, _numbers(emitter, [width - bits * (i % each + 1) for i in range(length)], spread))
    )
    if wide.exponent > kind.exponent:
        top = emitter.value(arith.ShRSIOp(top, _splat(emitter, wide.exponent - kind.exponent, top)))
    magnitude = ((1 << bits - 1) - 1) << (wide.fraction - kind.fraction)
    placed = emitter.value(arith.AndIOp(top, _splat(emitter, 1 << (width - 1) | magnitude, top)))
    value = emitter.bitcast(placed, to)
    if wide.bias != kind.bias:
        value = emitter.value(arith.MulfOp(value, _splat(emitter, 2.0 ** (wide.bias - kind.bias), value)))
    if kind.nan and keeps_nan:
        unsigned = emitter.value(arith.AndIOp(placed, _splat(emitter, (1 << (width - 1)) - 1, placed)))
        is_nan = emitter.value(CmpiOp(unsigned, _splat(emitter, magnitude, placed), "eq"))
        value = emitter.value(arith.SelectOp(is_nan, _splat(emitter, float("nan"), value), value))
    return value


def _words(emitter: Emitter, chunk: SSAValue, width: int) -> tuple[SSAValue, int]:
    """Return a chunk as words of this many bits, or of fewer if it has fewer, and the elements of a word."""
    bits = bits_of(element_of(chunk))
    held = min(width, bits * length_of(chunk))
    words = emitter.bitcast(chunk, integer_type(held))
    if held < width:
        words = emitter.value(ExtUIOp(words, integer_type(width)))
    return words, held // bits


def _sum(emitter: Emitter, less: SSAValue, over: SSAValue) -> SSAValue:
    """Return the sum of two chunks, the second of equal numbers: one addition where the first are equal too."""
    repeated = less.owner
    if isinstance(repeated, xvector.ShuffleOp) and len(set(repeated.mask.get_values())) == 1:
        place, first = repeated.mask.get_values()[0], length_of(repeated.v1)
        one = emitter.register((repeated.v1, place) if place < first else (repeated.v2, place - first))
    elif isinstance(repeated, xvector.BroadcastOp):
        one = repeated.source
    else:
        return emitter.value(arith.AddfOp(less, over))
    return emitter.splat(emitter.value(arith.AddfOp(one, emitter.register((over, 0)))), length_of(less))


def _spread(emitter: Emitter, words: SSAValue, each: int, length: int) -> SSAValue:
    """Return for each element the word that holds it."""
    return emitter.chunk([(words, i // each) for i in range(length)])


def _numbers(emitter: Emitter, numbers: Sequence[int], like: SSAValue) -> SSAValue:
    return emitter.chunk([(emitter.constant(number, element_of(like)), 0) for number in numbers])


def _splat(emitter: Emitter, number: int | float, like: SSAValue) -> SSAValue:
    element = element_of(like)
    if isinstance(element, IntegerType):
        half = 1 << (bits_of(element) - 1)
        number = (int(number) + half) % (2 * half) - half  # signed
    return emitter.splat(emitter.constant(number, element), length_of(like))


def _element(value: SSAValue) -> Attribute:
    type_ = value.type
    return getattr(type_, "element_type", type_)
