"""What files write otherwise is read, and what is of other dialects stays as it is written."""

import pytest
from xdsl.utils.exceptions import ParseError

from codegen.xe.dialects import (
    parse,
    text,
)


@pytest.mark.parametrize(
    "written",
    ["#spirv.entry_point_abi<>", "#spirv.entry_point_abi", "#spirv.vce<v1.4, [A, B], []>", "#spirv<abi<>>", "!foo.t<>"],
)
def test_an_attribute_of_another_dialect_stays_as_it_is(written: str) -> None:
    module = parse(f'"x.y"() {{a = {written}}} : () -> ()')
    assert f"a = {written}}}" in text(module)
    assert f"a = {written}}}" in text(module, generic=True)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("!xegpu.tensor_desc<16 x ui8>", "!xegpu.tensor_desc<16xui8>"),
        ("!xegpu.tensor_desc<16 x 2 x uint8>", "!xegpu.tensor_desc<16x2xui8>"),
        ("vector<16xuint16>", "vector<16xui16>"),
        ("vector<8x64xfp16>", "vector<8x64xf16>"),
        ("memref<?x 4 xint32>", "memref<?x4xi32>"),
    ],
)
def test_types_are_read_as_the_rfc_has_them(written: str, meant: str) -> None:
    assert f"-> {meant}" in text(parse(f'"x.y"() : () -> ({written})'))


@pytest.mark.parametrize(
    "attribute", ["block_tdesc_attr<memory_space = slm>", "scatter_tdesc_attr<memory_space = slm>"]
)
def test_an_alias_of_an_attribute_may_have_the_mark_of_a_type(attribute: str) -> None:
    module = parse(f'#a = !xegpu.{attribute}\n"x.y"() : () -> !xegpu.tensor_desc<16xf32, #a>')
    assert f"!xegpu.tensor_desc<16xf32, #xegpu.{attribute}>" in text(module)


def test_such_an_attribute_is_no_type() -> None:
    with pytest.raises(ParseError, match=r"expected a type, got #xegpu\.block_tdesc_attr"):
        parse('"x.y"() : () -> !xegpu.block_tdesc_attr<memory_space = slm>')


def test_a_shape_cast_is_read_with_into() -> None:
    source = (
        '%v = "x.y"() : () -> vector<8x64xf16>\n%w = vector.shape_cast %v : vector<8x64xf16> into vector<8x32x2xf16>'
    )
    assert "vector.shape_cast %v : vector<8x64xf16> to vector<8x32x2xf16>" in text(parse(source))
