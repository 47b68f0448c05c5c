"""Literals: hexadecimal floats are bit patterns, every NaN keeps its payload, and excess rounds to infinity.

xDSL reads hexadecimal elements of a float vector as integers, and prints vectors of both zeros as one of them. Its
lexer takes exponential time for a string that is not closed.
"""

import re
import struct
from math import isnan, prod

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyFloat,
    BFloat16Type,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    FloatData,
    IndexType,
    IntegerAttr,
    IntegerType,
    RankedStructure,
    VectorType,
    f64,
    i64,
)
from xdsl.parser import AttrParser, Parser
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

_FRACTION: dict[object, int] = {BFloat16Type: 7, Float16Type: 10, Float32Type: 23, Float64Type: 52}
"""Bits of the fraction."""


def float_of(raw: bytes, kind: AnyFloat) -> float:
    """Return the number of a bit pattern, little-endian; a NaN keeps sign and payload."""
    (number,) = kind.unpack(raw, 1)
    fraction = _FRACTION.get(type(kind))
    if fraction is None or not isnan(number):
        return number
    bits = int.from_bytes(raw, "little")
    sign, payload = bits >> (8 * len(raw) - 1), bits & ((1 << fraction) - 1)
    (number,) = struct.unpack("<d", (sign << 63 | 0x7FF << 52 | payload << (52 - fraction)).to_bytes(8, "little"))
    return number


def bytes_of(number: float, kind: AnyFloat) -> bytes:
    """Return the bit pattern of the nearest number of a type, little-endian; a NaN keeps sign and payload."""
    fraction = _FRACTION.get(type(kind))
    if fraction is None or not isnan(number):
        try:
            return kind.pack((number,))
        except OverflowError:
            return kind.pack((float("-inf" if number < 0 else "inf"),))
    (bits,) = struct.unpack("<Q", struct.pack("<d", number))
    payload = (bits & ((1 << 52) - 1)) >> (52 - fraction) or 1 << (fraction - 1)
    size = kind.compile_time_size
    exponent = (1 << (8 * size - 1)) - (1 << fraction)
    return ((bits >> 63) << (8 * size - 1) | exponent | payload).to_bytes(size, "little")


def is_splat(attribute: DenseIntOrFPElementsAttr) -> bool:
    """Return whether all elements have the same bits; xDSL makes a Python number of each to compare them."""
    data, size = attribute.data.data, attribute.type.element_type.compile_time_size
    return bool(data) and data == data[:size] * (len(data) // size)


class _Literal(AttrParser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
    """An element of a literal, whose type is known after it."""

    def to_type(
        self, parser: AttrParser, type: AnyFloat | IntegerType | IndexType | ComplexType
    ) -> float | tuple[float, float]:
        if not isinstance(type, AnyFloat):
            return super().to_type(parser, type)
        assert isinstance(parser, LiteralParser)
        raw = self.to_bytes(parser, type)
        parser.float_bytes.append(raw)
        return float_of(raw, type)

    def to_bytes(self, parser: AttrParser, kind: AnyFloat) -> bytes:
        """Return the bit pattern of a float."""
        try:
            if self.span.text.lstrip("-")[:2].lower() == "0x":
                return self._bit_pattern(parser, kind)
            return bytes_of(self.to_float(parser), kind)
        except (NotImplementedError, OverflowError):
            parser.raise_error(f"expected no constants of {kind}, got {self.span.text}", self.span)

    def _bit_pattern(self, parser: AttrParser, kind: AnyFloat) -> bytes:
        bits = int(self.span.text.lstrip("-"), 16)
        if self.span.text.startswith("-"):
            parser.raise_error("expected the sign of a hexadecimal float in its first bit, got a minus", self.span)
        if bits.bit_length() > kind.bitwidth:
            parser.raise_error(f"expected at most {kind.bitwidth} bits of {kind}, got {self.span.text}", self.span)
        return bits.to_bytes(kind.compile_time_size, "little")


class _Lexer(MLIRLexer):
    # Possessive, so that nothing is matched a second time.
    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')


class LiteralParser(Parser):
    """Parser that reads literals as MLIR does."""

    float_bytes: list[bytes]
    """Bit patterns of the floats of the literal that is being parsed."""
    _is_splat: bool = False
    _splat_of: RankedStructure[AnyDenseElement] | None = None

    def __init__(self, ctx: Context, input: str, name: str = "<unknown>") -> None:
        """Read the first token.

        Raises:
            ParseError: there is none.
        """
        super().__init__(ctx, "", name)
        self._parser_state = ParserState(_Lexer(Input(input, name)))

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr:
        self.float_bytes, self._splat_of = [], None
        parsed = super().parse_dense_int_or_fp_elements_attr(type)
        whole = parsed.type if self._splat_of is None else self._splat_of
        raw = b"".join(self.float_bytes) or parsed.data.data
        size = prod(whole.get_shape()) * whole.element_type.compile_time_size
        return DenseIntOrFPElementsAttr(whole, BytesAttr(raw * (size // len(raw) if raw else 1)))

    def _parse_tensor_literal(self) -> tuple[list[AttrParser._TensorLiteralElement], list[int]]:
        elements, shape = super()._parse_tensor_literal()
        self._is_splat = not shape and len(elements) == 1
        return elements, shape

    def _parse_dense_literal_type(self) -> RankedStructure[AnyDenseElement]:
        """Return the type of a literal; of a splat that of one element, for xDSL would make a list of all."""
        type_ = super()._parse_dense_literal_type()
        if not self._is_splat or not isinstance(type_, VectorType):
            return type_
        self._splat_of = type_
        return VectorType(type_.element_type, [1])

    def parse_optional_builtin_int_or_float_attr(self) -> IntegerAttr | FloatAttr | None:
        if (boolean := self.try_parse_builtin_boolean_attr()) is not None:
            return boolean
        if (found := self._parse_optional_bool_int_or_float()) is None:
            return None
        value, span = found
        literal = _Literal(value < 0, value, span)
        if self._current_token.kind is MLIRTokenKind.COLON:
            kind = self._parse_attribute_type()
        else:
            kind = f64 if isinstance(value, float) else i64
        if isinstance(kind, AnyFloat):
            return FloatAttr.new((FloatData(float_of(literal.to_bytes(self, kind), kind)), kind))
        if not isinstance(kind, IntegerType | IndexType) or not isinstance(value, int):
            self.raise_error(f"expected an integer or a float for {span.text}, got {kind}", span)
        return IntegerAttr(value, kind)

    def _parse_tensor_literal_element(self) -> AttrParser._TensorLiteralElement:
        parsed = super()._parse_tensor_literal_element()
        return _Literal(parsed.is_negative, parsed.value, parsed.span)
