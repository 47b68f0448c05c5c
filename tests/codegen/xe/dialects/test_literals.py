"""Constants read and printed here are those that upstream MLIR reads."""

# MLIR's bindings declare no types.
# pyright: reportAttributeAccessIssue=false

import random
from io import StringIO
from math import prod

import pytest
from torch_mlir import ir
from xdsl.utils.exceptions import ParseError

from codegen.xe import dialects
from codegen.xe.dialects.kernel_context import KernelParser
from codegen.xe.dialects.printer import ModulePrinter
from codegen.xe.mlir.context import context

_BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
_SPECIAL = {
    "f16": (0x0, 0x8000, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7C01, 0x0001, 0x83FF, 0x3C00),
    "bf16": (0x0, 0x8000, 0x7F80, 0xFF80, 0x7FC0, 0xFFC1, 0x7F81, 0x0001, 0x807F, 0x3F80),
    "f32": (0x0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 0x1, 0x807FFFFF),
    "f64": (0x0, 1 << 63, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, (0xFFF8 << 48) + 1, (0x7FF << 52) + 1, 0x1),
}


def rewritten(source: str) -> str:
    """The text of an attribute after reading and printing it."""
    stream = StringIO()
    ModulePrinter(stream).print_attribute(KernelParser(dialects.context(), source).parse_attribute())
    return stream.getvalue()


def assert_as_upstream(source: str) -> None:
    """Upstream reads the attribute and our text of it alike."""
    with context():
        assert ir.Attribute.parse(rewritten(source)) == ir.Attribute.parse(source), source


@pytest.mark.parametrize("element", _BITS)
def test_bit_patterns(element: str) -> None:
    for bits in _SPECIAL[element]:
        literal = f"0x{bits:0{_BITS[element] // 4}X}"
        assert_as_upstream(f"{literal} : {element}")
        assert_as_upstream(f"dense<{literal}> : vector<8x16x{element}>")
        assert_as_upstream(f"dense<[[{literal}], [1.5]]> : vector<2x1x{element}>")
        assert_as_upstream(f'dense<"0x{bits.to_bytes(_BITS[element] // 8, "little").hex()}"> : vector<4x{element}>')


def test_zeros_of_both_signs_are_no_splat() -> None:
    assert_as_upstream("dense<[-0.0, 0.0]> : vector<2xf32>")
    assert_as_upstream("dense<[0.0, -0.0, 0.0]> : vector<3xf16>")


def test_masks_of_more_elements_than_are_listed() -> None:
    assert_as_upstream(f"dense<[{', '.join(['true', 'false', 'false'] * 50)}]> : vector<150xi1>")
    assert_as_upstream(f"dense<[{', '.join(map(str, range(-75, 75)))}]> : vector<150xi8>")


def test_excess_rounds_to_infinity() -> None:
    for source in (
        "1.0e10 : f16",
        "65519.9 : f16",
        "65520.0 : f16",
        "3.4028236e38 : f32",
        "-1.0e300 : bf16",
        "1.0e400 : f64",
    ):
        assert_as_upstream(source)
    assert_as_upstream("dense<[1.0e10, -1.0e10]> : vector<2xf16>")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("0x1FF800000 : f32", "expected at most 32 bits of f32, got 0x1FF800000"),
        ("dense<0x10000> : vector<4xbf16>", "expected at most 16 bits of bf16, got 0x10000"),
        ("-0x3C00 : f16", "expected the sign of a hexadecimal float in its first bit, got a minus"),
        ("dense<-0x3C00> : vector<2xf16>", "expected the sign of a hexadecimal float in its first bit, got a minus"),
        ("1.5 : i32", "expected an integer or a float for 1.5, got i32"),
    ],
)
def test_refused(source: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        KernelParser(dialects.context(), source).parse_attribute()
    with context(), pytest.raises(ir.MLIRError):
        ir.Attribute.parse(source)


@pytest.mark.parametrize("string", ['"' + "a" * 5000, '"' + "a" * 5000 + '\\q"', '"' + "a" * 50 + '\n"'])
def test_a_string_that_is_not_closed_is_refused_at_once(string: str) -> None:
    with pytest.raises(ParseError, match="closing string literal"):
        KernelParser(dialects.context(), string).parse_attribute()


@pytest.mark.parametrize("draws", [300, pytest.param(3_000, marks=pytest.mark.slow)])
def test_drawn_constants(draws: int) -> None:
    drawn = random.Random(19)
    for _ in range(draws):
        assert_as_upstream(_drawn(drawn))


def _drawn(drawn: random.Random) -> str:
    element = drawn.choice(list(_BITS))
    shape = [drawn.choice((1, 2, 3, 5, 16)) for _ in range(drawn.randrange(1, 4))]
    kind = f"vector<{'x'.join(map(str, shape))}x{element}>"
    match drawn.randrange(4):
        case 0:
            return f"{_literal(drawn, element)} : {element}"
        case 1:
            return f"dense<{_literal(drawn, element)}> : {kind}"
        case 2:
            pool = [_literal(drawn, element) for _ in range(drawn.choice((1, 2, 50)))]
            return f"dense<{_listed(drawn, pool, shape)}> : {kind}"
        case _:
            count = drawn.choice((1, prod(shape)))
            return f'dense<"0x{drawn.randbytes(count * _BITS[element] // 8).hex()}"> : {kind}'


def _listed(drawn: random.Random, pool: list[str], shape: list[int]) -> str:
    if not shape:
        return drawn.choice(pool)
    return f"[{', '.join(_listed(drawn, pool, shape[1:]) for _ in range(shape[0]))}]"


def _literal(drawn: random.Random, element: str) -> str:
    width = _BITS[element]
    match drawn.randrange(4):
        case 0:
            return f"0x{drawn.getrandbits(width):0{width // 4}{drawn.choice('xX')}}"
        case 1:
            return f"0x{drawn.choice(_SPECIAL[element]):x}"
        case 2:
            number = drawn.uniform(-1, 1) * 10.0 ** drawn.randrange(-50, 50)
            return f"{number:.{drawn.randrange(1, 20)}e}"
        case _:
            return f"{drawn.uniform(-70000, 70000):.{drawn.randrange(1, 9)}f}"
