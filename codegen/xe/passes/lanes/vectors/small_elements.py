"""Conversion of elements of 4 and 8 bits to floats: exact, by shifts and masks of words that hold several elements.

An integer becomes the low bits of a float whose unit is 1, from which that float is subtracted. Sign, exponent and
fraction of a float move to their places in f16; a multiplication then corrects the bias of the exponent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, math
from xdsl.dialects import vector as xvector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FixedBitwidthType,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    IntegerType,
    bf16,
    f16,
    f32,
    i8,
    i32,
    i64,
)
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.interned import dense, integer_type, vector
from codegen.xe.dialects.upstream.arith_casts import ExtFOp, ExtSIOp, ExtUIOp
from codegen.xe.dialects.upstream.arith_ops import CmpiOp, SelectOp
from codegen.xe.dialects.upstream.vector_ops import ShapeCastOp, TransposeOp
from codegen.xe.passes.lanes.emitter import Emitter, Register, bits_of, chunk_type, element_of, length_of
from codegen.xe.passes.lanes.lowering import Lowering, element_type
from codegen.xe.passes.lanes.values import lane_element

_BYTE = 8
_HALF, _WORD = 16, 32
_BYTES = _WORD // _BYTE


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
_FRACTION, _BIAS = 23, 127  # of f32
_HALF_FRACTION, _HALF_BIAS = 10, 15  # of f16
_TOGETHER = 8


def is_small(element: Attribute) -> bool:
    """Return whether elements are integers or floats of 2 to 8 bits."""
    return isinstance(element, FixedBitwidthType) and 1 < element.bitwidth <= _BYTE


def converts_small(op: Operation) -> bool:
    """Return whether an operation converts small elements to floats."""
    return op.name in ("arith.uitofp", "arith.sitofp", "arith.extf") and is_small(_element(op.operands[0]))


def converts_packed(op: Operation) -> bool:
    """Return whether an operation converts elements that share a byte."""
    return converts_small(op) and bits_of(lane_element(_element(op.operands[0]))) < _BYTE


@dataclass(frozen=True, slots=True)
class Affine:
    """A conversion of small elements, less `less`, times `scale`, of which not both are None.

    `turned`: the transposition between the conversion and the result; `less_first`: it follows the subtraction.
    """

    conversion: Operation
    turned: TransposeOp | None
    less: SSAValue | None
    less_first: bool
    scale: SSAValue | None


def affine_of(op: Operation) -> Affine | None:
    """Return the conversion that an operation scales, subtracts from or rounds.

    Of integers, if it may do so in another order, and the result is the same in it.
    """
    if isinstance(op, arith.TruncFOp) and isinstance(product := op.operands[0].owner, arith.MulfOp):
        return affine_of(product) if _element(op.results[0]) in (f16, bf16) else None
    if not isinstance(op, arith.SubfOp | arith.MulfOp) or _element(op.results[0]) not in (f16, bf16, f32):
        return None
    scale, value = (op.operands[1], op.operands[0]) if isinstance(op, arith.MulfOp) else (None, op.results[0])
    less: SSAValue | None = None
    turned: TransposeOp | None = None
    less_first = False
    while isinstance(inner := value.owner, Operation) and not converts_small(inner):
        if isinstance(inner, TransposeOp) and turned is None:
            turned, value = inner, inner.vector
        elif isinstance(inner, arith.SubfOp) and less is None and FastMathFlag.REASSOC in inner.fastmath.data:
            less, value, less_first = inner.operands[1], inner.operands[0], turned is not None
        else:
            return None
    if not isinstance(inner, Operation):
        return None
    found, is_f32 = Affine(inner, turned, less, less_first, scale), _element(op.results[0]) == f32
    if isinstance(inner, ExtFOp):
        is_plain = less is None and is_f32 and not _FORMATS[_element(inner.operands[0])].beyond
        return found if is_plain and _element(inner.results[0]) == f32 and not _keeps_nan(inner) else None
    if FastMathFlag.REASSOC not in op.fastmath.data:
        return None
    return found if scale is None or (is_f32 and _least_place(found) is not None) else None


def _keeps_nan(conversion: ExtFOp) -> bool:
    return conversion.fastmath is None or FastMathFlag.NO_NANS not in conversion.fastmath.data


def affine(
    lowering: Lowering, op: Affine, to: Attribute, chunk: SSAValue, less: SSAValue | None, scale: SSAValue | None
) -> SSAValue:
    """Return the elements of a chunk as floats, less the numbers of a chunk and times those of another."""
    emitter, conversion = lowering.emitter, op.conversion
    _check_whole(conversion, chunk)
    if isinstance(conversion, ExtFOp):
        assert op.scale is not None  # a float is scaled
        assert scale is not None
        kind = _FORMATS[_element(conversion.operands[0])]
        # Elements are multiples of 2^(1 - bias - fraction): so many low bits of a product are not zero, of a scale are.
        fits = to == bf16 and _low_zeros(op.scale) >= _HALF + kind.bias - 1 + kind.fraction
        return _scaled(emitter, chunk, kind, to, scale, fits_half=fits and length_of(chunk) % 2 == 0)
    known = _known_number(op.less)
    if known is not None:
        less = None
    least = _least_place(op) or 0
    signed = conversion.name == "arith.sitofp"
    if scale is None and to == f16:
        return _in_halves(emitter, chunk, less or known or 0, signed=signed)
    return _from_integer(emitter, chunk, to, signed=signed, less=less or known or 0, scale=scale, least=least)


def converted(lowering: Lowering, op: Operation, chunk: SSAValue) -> SSAValue:
    """Return the elements of a chunk as floats.

    Raises:
        PassFailedException: the chunk does not fill bytes.
    """
    emitter, small, result = lowering.emitter, _element(op.operands[0]), element_type(op.results[0])
    _check_whole(op, chunk)
    if isinstance(op, ExtFOp):
        value = _from_float(emitter, chunk, _FORMATS[small], f16 if result == f16 else f32, _keeps_nan(op))
    else:
        signed = op.name == "arith.sitofp"
        if result == f16 and bits_of(element_of(chunk)) < _BYTE:
            return _in_halves(emitter, chunk, 0, signed=signed)
        return _from_integer(emitter, chunk, result, signed=signed)
    return _in_type(emitter, value, result)


def _in_type(emitter: Emitter, value: SSAValue, result: Attribute) -> SSAValue:
    """Return a chunk of floats in another type of floats."""
    if element_of(value) == result:
        return value
    cast_ = arith.TruncFOp if bits_of(result) < bits_of(element_of(value)) else ExtFOp
    return emitter.value(cast_(value, chunk_type(result, length_of(value))))


def _check_whole(op: Operation, chunk: SSAValue) -> None:
    if length_of(chunk) * bits_of(element_of(chunk)) < _BYTE:
        small = _element(op.operands[0])
        raise PassFailedException(f"lower-to-lanes: {op.name}: expected whole bytes of {small} in a lane, got one")


def _in_halves(emitter: Emitter, chunk: SSAValue, less: SSAValue | int, *, signed: bool) -> SSAValue:
    """Return integers as f16: their bits at some place of a fraction, less the float without them."""
    bits, length = bits_of(element_of(chunk)), length_of(chunk)
    words, each = _words(emitter, chunk, _HALF)
    sign = 1 << (bits - 1) if signed else 0
    fixed = sign + (less if isinstance(less, int) else 0)
    places = _places(bits, each, _HALF_FRACTION)
    over: dict[tuple[int, Register | None], SSAValue] = {}

    def less_over(i: int) -> SSAValue:
        key = places[i % each][1], None if isinstance(less, int) else _register_of(less, i)
        if key not in over:
            base = emitter.constant(2.0 ** (_HALF_FRACTION - key[0]) + fixed, f16)
            over[key] = base if key[1] is None else _of_two(emitter, arith.AddfOp, emitter.register(key[1]), base)
        return over[key]

    out: list[Register] = []
    for some in _groups(length):
        at = [places[i % each][1] for i in some]
        joined = _shifted_words(emitter, words, [(i // each, places[i % each][0]) for i in some])
        low = _of_two(
            emitter, arith.AndIOp, joined, _numbers(emitter, [(1 << bits) - 1 << place for place in at], joined)
        )
        patterns = [(_HALF_FRACTION - place + _HALF_BIAS << _HALF_FRACTION) ^ sign << place for place in at]
        number = emitter.bitcast(_of_two(emitter, arith.XOrIOp, low, _numbers(emitter, patterns, low)), f16)
        part = _of_two(emitter, arith.SubfOp, number, _joined(emitter, [less_over(i) for i in some]))
        out += [(part, i) for i in range(len(some))]
    return emitter.chunk(out)


def _from_integer(
    emitter: Emitter,
    chunk: SSAValue,
    to: Attribute,
    *,
    signed: bool,
    less: SSAValue | int = 0,
    scale: SSAValue | None = None,
    least: int = 0,
) -> SSAValue:
    """Return integers as floats: their bits at some place of a fraction, less the float without them.

    With a scale, one multiply-add does both: with places of at least `least`, its addend is exact.
    """
    bits, length = bits_of(element_of(chunk)), length_of(chunk)
    words, each = _words(emitter, chunk, _WORD)
    # With its sign flipped, a signed number is one without sign, plus 2^(bits - 1).
    sign = 1 << (bits - 1) if signed else 0
    places = _places(bits, each, _FRACTION, least)
    given = None if isinstance(less, int) else less
    fixed = sign + (less if isinstance(less, int) else 0)
    over: dict[tuple[int, Register | None, Register | None], SSAValue] = {}

    def registers(i: int) -> tuple[Register | None, Register | None]:
        by, minus = (None if chunk is None else _register_of(chunk, i) for chunk in (scale, given))
        return by, minus

    def less_over(i: int) -> SSAValue:
        key = places[i % each][1], *registers(i)
        if key not in over:
            over[key] = _over(emitter, 2.0 ** (_FRACTION - key[0]) + fixed, *registers(i))
        return over[key]

    # Intel's compiler keeps about this order: neighbours do not wait for each other, and few are held in f32.
    out: list[Register] = []
    for some in _groups(length):
        at = [places[i % each][1] for i in some]
        joined = _shifted_words(emitter, words, [(i // each, places[i % each][0]) for i in some])
        low = _of_two(
            emitter, arith.AndIOp, joined, _numbers(emitter, [(1 << bits) - 1 << place for place in at], joined)
        )
        patterns = [_power_of_two(_FRACTION - place) ^ sign << place for place in at]
        number = emitter.bitcast(_of_two(emitter, arith.XOrIOp, low, _numbers(emitter, patterns, low)), f32)
        addend = _joined(emitter, [less_over(i) for i in some])
        if scale is None:
            value = _of_two(emitter, arith.SubfOp, number, addend)
        else:
            by = emitter.chunk([_register_of(scale, i) for i in some])
            value = emitter.make(math.FmaOp, (number, by, addend), number.type)
        part = _in_type(emitter, value, to)
        out += [(part, i) for i in range(len(some))]
    return emitter.chunk(out)


def _over(emitter: Emitter, fixed: float, scale: Register | None, less: Register | None) -> SSAValue:
    """Return what a number has too much, `fixed` and `less`; with a scale, the addend that takes it away."""
    if scale is None:
        number = emitter.constant(fixed, f32)
        return number if less is None else _of_two(emitter, arith.AddfOp, emitter.register(less), number)
    number = emitter.constant(-fixed, f32)
    if less is not None:
        number = _of_two(emitter, arith.SubfOp, number, emitter.register(less))
    return _of_two(emitter, arith.MulfOp, emitter.register(scale), number)


def _places(bits: int, each: int, fraction: int, least: int = 0) -> list[tuple[int, int]]:
    """Return for each element of a word the shift to the right, and its place in the fraction then: few shifts."""
    most = fraction - bits
    shifts = [0]
    for begin in range(0, each * bits, bits):
        if not any(least <= begin - shift <= most for shift in shifts):
            shifts.append(begin - max(least, 1))
    found = [(shift, begin - shift) for begin in range(0, each * bits, bits) for shift in shifts]
    usable = [(shift, place) for shift, place in found if least <= place <= most]
    return [next(x for x in usable if sum(x) == begin) for begin in range(0, each * bits, bits)]


def _least_place(op: Affine) -> int | None:
    """Return the least place in the fraction whose addend is exact, of all higher ones too; None if there is none."""
    bits, known = bits_of(lane_element(_element(op.conversion.operands[0]))), _known_number(op.less)
    if op.scale is None:
        return 0
    sign = 1 << (bits - 1) if op.conversion.name == "arith.sitofp" else 0
    found = None
    for place in reversed(range(_FRACTION - bits + 1)):
        fixed = (1 << _FRACTION - place) + sign + (known or 0)
        length = (
            _FRACTION - place + 1 if op.less is not None and known is None else (fixed // (fixed & -fixed)).bit_length()
        )
        if length + _significant_bits(op.scale) > _FRACTION + 1:
            break
        found = place
    return found


def _significant_bits(value: SSAValue) -> int:
    """Return the most significant bits of the floats of a vector, as far as its conversions tell."""
    while isinstance(value.owner, TransposeOp | xvector.BroadcastOp | ShapeCastOp):
        value = value.owner.operands[0]
    source = _element(value.owner.operands[0]) if isinstance(value.owner, ExtFOp) else None
    return 11 if source == f16 else 8 if source == bf16 else _FRACTION + 1


def _low_zeros(value: SSAValue) -> int:
    """Return how many low bits of the words of a vector of f32 are zero, as far as its operations tell."""
    match value.owner:
        case TransposeOp() | xvector.BroadcastOp() | ShapeCastOp() | arith.BitcastOp():
            return _low_zeros(value.owner.operands[0])
        case SelectOp() | arith.MaxUIOp():
            return min(_low_zeros(operand) for operand in value.owner.operands[-2:])
        case arith.ShLIOp():
            shift = _known_number(value.owner.operands[1])
            return shift if shift is not None and shift >= 0 else 0
        case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as elements) if elements.is_splat():
            number = elements.get_values()[0]
            return (number & -number).bit_length() - 1 if isinstance(number, int) and number else 0
        case _:
            return 0


def _known_number(value: SSAValue | None) -> int | None:
    """Return the whole number that all elements are, if it is a constant that a byte may be."""
    if value is None or not isinstance(value.owner, arith.ConstantOp):
        return None
    elements = value.owner.value
    if not isinstance(elements, DenseIntOrFPElementsAttr) or not elements.is_splat():
        return None
    number = elements.get_values()[0]
    if isinstance(number, tuple) or abs(number) >= 1 << _BYTE or number != int(number):
        return None
    return int(number)


def _shifted(emitter: Emitter, word: SSAValue, right: int) -> SSAValue:
    if right == 0:
        return word
    shift = arith.ShRUIOp if right > 0 else arith.ShLIOp
    return emitter.pure(shift, (word, _splat(emitter, abs(right), word)), word.type)


def _power_of_two(power: int) -> int:
    """Return the bits of the f32 that is a power of two."""
    return power + _BIAS << _FRACTION


def _register_of(chunk: SSAValue, place: int) -> Register:
    """Return the register of an element of a chunk, that of the first element if all are equal."""
    source = chunk.owner
    if isinstance(source, xvector.BroadcastOp):
        return source.source, 0
    if isinstance(source, xvector.ShuffleOp):
        at, first = source.mask.get_values()[place], length_of(source.v1)
        return _register_of(source.v1, at) if at < first else _register_of(source.v2, at - first)
    return chunk, place


def _from_float(emitter: Emitter, chunk: SSAValue, kind: _Format, to: Attribute, keeps_nan: bool) -> SSAValue:
    if kind.beyond and to == f32:
        return emitter.as_f32(_from_float(emitter, chunk, kind, f16, keeps_nan))
    bits, length, width = bits_of(element_of(chunk)), length_of(chunk), bits_of(to)
    by = _WIDE[to].exponent - kind.exponent
    words, each = _words(emitter, chunk, width)
    if to == f32:
        parts = [_sign_and_rest(emitter, words, bits, some, width - _BYTE - by) for some in _groups(length)]
        floats = [_of_bits(emitter, part, bits, kind, to, keeps_nan) for part in parts]
        return emitter.chunk([(part, i) for part in floats for i in range(length_of(part))])
    spread = emitter.chunk([(words, i // each) for i in range(length)])
    shifts = _numbers(emitter, [width - bits * (i % each + 1) for i in range(length)], spread)
    top = _of_two(emitter, arith.ShLIOp, spread, shifts)
    if by:
        top = _of_two(emitter, arith.ShRSIOp, top, _splat(emitter, by, top))
    return _of_bits(emitter, top, bits, kind, to, keeps_nan)


def _scaled(
    emitter: Emitter, chunk: SSAValue, kind: _Format, to: Attribute, scale: SSAValue, *, fits_half: bool
) -> SSAValue:
    """Return floats times those of another chunk, computed in f32, some at a time.

    `fits_half`: the low halves of products are zero, so that two high halves are joined to a word instead of rounded.
    """
    bits, length = bits_of(element_of(chunk)), length_of(chunk)
    words, _ = _words(emitter, chunk, _WORD)
    left = _WORD - _BYTE - _WIDE[f32].exponent + kind.exponent
    out: list[Register] = []
    for some in _groups(length):
        top = _sign_and_rest(emitter, words, bits, some, left)
        value = _of_bits(emitter, top, bits, kind, f32, keeps_nan=False)
        by = emitter.chunk([_register_of(scale, i) for i in some])
        product = _of_two(emitter, arith.MulfOp, value, by)
        part = _high_halves(emitter, product) if fits_half else _in_type(emitter, product, to)
        out += [(part, i) for i in range(length_of(part))]
    joined = emitter.chunk(out)
    return emitter.bitcast(joined, to) if fits_half else joined


def _high_halves(emitter: Emitter, floats: SSAValue) -> SSAValue:
    """Return the high halves of a chunk, two in a word; the low ones are zero."""
    words = emitter.bitcast(floats, i32)
    low, high = (emitter.chunk([(words, i) for i in range(first, length_of(words), 2)]) for first in (0, 1))
    return _of_two(emitter, arith.OrIOp, _of_two(emitter, arith.ShRUIOp, low, _splat(emitter, _HALF, low)), high)


def _of_bits(emitter: Emitter, top: SSAValue, bits: int, kind: _Format, to: Attribute, keeps_nan: bool) -> SSAValue:
    """Return floats whose sign, exponent and fraction are where those of another type are; other bits are not used."""
    wide, width = _WIDE[to], bits_of(to)
    magnitude = ((1 << bits - 1) - 1) << (wide.fraction - kind.fraction)
    placed = _of_two(emitter, arith.AndIOp, top, _splat(emitter, 1 << (width - 1) | magnitude, top))
    value = emitter.bitcast(placed, to)
    if wide.bias != kind.bias:
        value = _of_two(emitter, arith.MulfOp, value, _splat(emitter, 2.0 ** (wide.bias - kind.bias), value))
    if kind.nan and keeps_nan:
        unsigned = _of_two(emitter, arith.AndIOp, placed, _splat(emitter, (1 << (width - 1)) - 1, placed))
        is_nan = emitter.value(CmpiOp(unsigned, _splat(emitter, magnitude, placed), "eq"))
        value = emitter.value(arith.SelectOp(is_nan, _splat(emitter, float("nan"), value), value))
    return value


def _sign_and_rest(emitter: Emitter, words: SSAValue, bits: int, some: range, left: int) -> SSAValue:
    """Return some elements as a word each: the sign in all high bits, and the rest as the high bits of a byte shifted
    left.

    Intel's compiler reads a byte of a word, with its sign, where it shifts it.
    """

    def bytes_of(word: SSAValue) -> SSAValue:
        return emitter.bitcast(word, i8)

    if bits < _BYTE:
        word = emitter.register((words, some[0] * bits // _WORD))
        low, high = bytes_of(_shifted(emitter, word, bits - _BYTE)), bytes_of(word)
        mask = {"mask": dense(i64, [i // 2 + i % 2 * _BYTES for i in range(len(some))])}
        small = emitter.pure(xvector.ShuffleOp, (low, high), vector(i8, len(some)), mask)
        wide = emitter.make(ExtSIOp, (small,), vector(i32, len(some)))
    else:  # one by one: Intel's compiler would move the bytes of a vector
        small = [(bytes_of(emitter.register((words, i // _BYTES))), i % _BYTES) for i in some]
        wide = _joined(emitter, [emitter.make(ExtSIOp, (emitter.register(byte),), i32) for byte in small])
    return _of_two(emitter, arith.ShLIOp, wide, _splat(emitter, left, wide))


def _groups(length: int) -> list[range]:
    """Return the elements of a chunk in groups that are converted together."""
    return [range(begin, min(begin + _TOGETHER, length)) for begin in range(0, length, _TOGETHER)]


def _joined(emitter: Emitter, scalars: Sequence[SSAValue]) -> SSAValue:
    """Join scalars to a chunk."""
    if all(scalar is scalars[0] for scalar in scalars):
        return emitter.splat(scalars[0], len(scalars))
    return emitter.chunk([(scalar, 0) for scalar in scalars])


def _shifted_words(emitter: Emitter, words: SSAValue, at: Sequence[tuple[int, int]]) -> SSAValue:
    """Return words of a chunk by their positions, each shifted to the right by a number of bits, as a chunk."""
    distinct = list(dict.fromkeys(word for word, _ in at))
    some = emitter.chunk([(words, word) for word in distinct])
    shifted = {right: _shifted(emitter, some, right) for right in dict.fromkeys(right for _, right in at)}
    return emitter.chunk([(shifted[right], distinct.index(word)) for word, right in at])


def _of_two(emitter: Emitter, kind: type[Operation], a: SSAValue, b: SSAValue) -> SSAValue:
    """Return the result of an operation on two values of one type, which it has too."""
    return emitter.make(kind, (a, b), a.type)


def _words(emitter: Emitter, chunk: SSAValue, width: int) -> tuple[SSAValue, int]:
    """Return a chunk as words of this many bits, or of fewer if it has fewer, and the elements of a word."""
    bits = bits_of(element_of(chunk))
    held = min(width, bits * length_of(chunk))
    words = emitter.bitcast(chunk, integer_type(held))
    if held < width:
        words = emitter.value(ExtUIOp(words, integer_type(width)))
    return words, held // bits


def _numbers(emitter: Emitter, numbers: Sequence[int], like: SSAValue) -> SSAValue:
    return _joined(emitter, [_constant(emitter, number, element_of(like)) for number in numbers])


def _splat(emitter: Emitter, number: int | float, like: SSAValue) -> SSAValue:
    return emitter.splat(_constant(emitter, number, element_of(like)), length_of(like))


def _constant(emitter: Emitter, number: int | float, element: Attribute = i32) -> SSAValue:
    if isinstance(element, IntegerType):
        half = 1 << (bits_of(element) - 1)
        number = (int(number) + half) % (2 * half) - half  # signed
    return emitter.constant(number, element)


def _element(value: SSAValue) -> Attribute:
    type_ = value.type
    return getattr(type_, "element_type", type_)
