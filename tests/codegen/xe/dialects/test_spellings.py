"""Alternative spellings in files are accepted; operations of other dialects are kept unchanged."""

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


KERNEL = """#map = #xegpu.sg_map<sg_layout = [2, 2], sg_data = [8, 16]>
#across = #xegpu.sg_map<sg_layout = [2, 2], sg_data = [16, 8]>
#scatter = !xegpu.tdesc_attr<memory_space = global, scattered = true>
#wg = #xetile.wg_map<sg_layout = [2, 2], sg_data = [8, 16]>
gpu.module @m {
  gpu.func @k(%A: memref<16x32xf32>, %a: vector<16x32xf32>, %t: !xegpu.tensor_desc<16x32xf32>, %x: vector<16x16xf16>,
              %y: vector<16x32xf16>, %o: index, %p: vector<16xindex>, %q: ui64) kernel {
    %two:2 = scf.execute_region -> (index, index) { scf.yield %o, %o : index, index }
"""


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (
            "%r = xegpu.create_nd_tdesc %A : memref<16x32xf32> into tensor_desc<16x32xf32 #map>",
            "%r = xegpu.create_nd_tdesc %A : memref<16x32xf32> -> !xegpu.tensor_desc<16x32xf32, #map>",
        ),
        (
            "xegpu.prefetch_nd %t[0, 0] locality<2> : tensor_desc<16x32xf32>",
            "xegpu.prefetch_nd %t[0, 0] <{l1_hint = #xegpu.cache_hint<uncached>, l2_hint = #xegpu.cache_hint<cached>, "
            "l3_hint = #xegpu.cache_hint<cached>}> : !xegpu.tensor_desc<16x32xf32>",
        ),
        (
            "%r = xegpu.create_tdesc %q, %p : uint64, vector<16xindex> into tensor_desc<16xfp32, #scatter>",
            "%r = xegpu.create_tdesc %q, %p : ui64, vector<16xindex> -> "
            "!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>",
        ),
        (
            "%r = vector.transpose %a, [1, 0] {#map #across} : vector<16x32xf32> to vector<32x16xf32>",
            "%r = vector.transpose %a, [1, 0] {layout_result_0 = #across} : vector<16x32xf32> to vector<32x16xf32>",
        ),
        (
            "%r = arith.addf %a, %a {#map} : vector<16x32xf32>",
            "%r = arith.addf %a, %a {layout_result_0 = #map} : vector<16x32xf32>",
        ),
        ("%r = math.exp %a {#wg} : vector<16x32xf32>", "%r = math.exp %a {map = #wg} : vector<16x32xf32>"),
        (
            "%r = xetile.tile_mma %x, %y #wg #wg #wg : vector<16x16xf16>, vector<16x32xf16> into vector<16x32xf32>",
            "%r = xetile.tile_mma %x, %y {wg_map_a = #wg, wg_map_b = #wg, wg_map_c = #wg} : "
            "vector<16x16xf16>, vector<16x32xf16> -> vector<16x32xf32>",
        ),
        (
            "%r = xetile.init_tile %A, %two:2 : memref<16x32xf32> into tile<16x32xf32>",
            "%r = xetile.init_tile %A[%two#0, %two#1] : memref<16x32xf32> -> !xetile.tile<16x32xf32>",
        ),
    ],
)
def test_a_line_of_the_rfcs_is_read_as_mlir_would_write_it(written: str, meant: str) -> None:
    ours, plain = (parse(f"{KERNEL}{line}\ngpu.return\n}}\n}}") for line in (written, meant))
    assert text(ours) == text(plain)
    assert text(parse(text(ours))) == text(ours)


@pytest.mark.parametrize("count", [0, 1_000_000_007])
def test_a_pack_has_as_many_values_as_a_tile_may_take(count: int) -> None:
    line = f"%r = xegpu.create_nd_tdesc %A, %two:{count} : memref<16x32xf32> into tensor_desc<16x32xf32 #map>"
    with pytest.raises(ParseError, match=f"expected a pack of 1 to 16 values, got {count}"):
        parse(f"{KERNEL}{line}\ngpu.return\n}}\n}}")


def test_an_attribute_without_a_key_is_a_map() -> None:
    with pytest.raises(ParseError, match=r"expected key = value, or a map without a key, got #xegpu\.range"):
        parse(f"{KERNEL}%r = arith.addf %a, %a {{#xegpu.range<[0, 1]>}} : vector<16x32xf32>\ngpu.return\n}}\n}}")


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
