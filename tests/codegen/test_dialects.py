"""Types and attributes survive their text; modules print with aliases; gpu and XeGPU operations are verified.

XeTile operations and their verifiers are in tests/filecheck/ops.mlir and invalid.mlir.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType, bf16, f16, f32
from xdsl.dialects.test import Test
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from codegen.dialects import context, parse, text
from codegen.dialects.maps import SgMap, WgMap
from codegen.dialects.printer import ModulePrinter
from codegen.dialects.tile import TileType
from codegen.dialects.tile_attr import TileTraits

KERNEL = """\
#tile = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 16]>>
#wg_map = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 16]>
builtin.module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy(%A: memref<512x96xf16>, %n: index) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
      %x = gpu.block_id x
      %z = gpu.thread_id z
      %s = gpu.subgroup_id : index
      %t = xetile.init_tile %A[%x, %n] : memref<512x96xf16> -> !xetile.tile<256x16xf16, #tile>
      xetile.prefetch_tile %t {map = #wg_map} : !xetile.tile<256x16xf16, #tile>
      gpu.return
    }
  }
}
"""

pairs = st.tuples(st.integers(1, 64), st.integers(1, 64))


@st.composite
def tile_types(draw: st.DrawFn) -> TileType:
    """Tiles that their maps and blocks divide."""
    layout, data, rounds = draw(pairs), draw(pairs), draw(pairs)
    shape = tuple(a * b * c for a, b, c in zip(layout, data, rounds, strict=True))
    traits = TileTraits(
        sg_map=draw(st.none() | st.builds(SgMap.of, pairs, pairs)),
        wg_map=draw(st.sampled_from([None, WgMap.of(layout, data)])),
        order=draw(st.sampled_from([(1, 0), (0, 1)])),
        inner_blocks=draw(st.sampled_from([None, data])),
        array_length=draw(st.integers(1, 4)),
        memory_space=draw(st.sampled_from([0, 3])),
        scattered=draw(st.booleans()),
    )
    return TileType(shape, draw(st.sampled_from([f16, bf16, f32])), traits)


@given(tile_types())
def test_a_tile_type_is_what_its_text_says(tile: TileType) -> None:
    assert Parser(context(), str(tile)).parse_type() == tile


def test_a_bare_wg_map_is_a_tile_attr_with_that_map() -> None:
    bare = "!xetile.tile<64x32xf16, #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 8]>>"
    tile = Parser(context(), bare).parse_type()
    assert tile == TileType((64, 32), f16, TileTraits(wg_map=WgMap.of((2, 4), (32, 8))))


def test_a_kernel_survives_its_text() -> None:
    module = parse(KERNEL)
    module.verify()
    assert text(module) == KERNEL


def test_the_generic_form_has_no_aliases_and_is_the_same_module() -> None:
    generic = text(parse(KERNEL), generic=True)
    assert "#tile" not in generic
    assert '"gpu.func"()' in generic
    assert text(parse(generic)) == KERNEL


@pytest.mark.parametrize("values", [[0.0], [1.5], [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]])
def test_constants_print_as_xdsl_prints_them(values: list[float]) -> None:
    constant = DenseIntOrFPElementsAttr.from_list(VectorType(f32, (2, 3)), values)
    printer = ModulePrinter()
    assert printer.written_out(constant) == str(constant)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("gpu.module @m { gpu.func @k() kernel attributes {known_block_size = 64 : i32} { gpu.return } }", "an array"),
        ("%i = gpu.block_id w", "x"),
    ],
)
def test_what_gpu_does_not_parse(source: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        parse(source)


FUNC = '"gpu.func"() <{%s}> ({ ^b(%%A: index): "gpu.return"() : () -> () }) {sym_name = "k"} : () -> ()'
DESC = (
    '%A, %i, %v, %t = "test.op"() : () -> (memref<512x96xf16>, index, vector<64x32xf16>, !xegpu.tensor_desc<64x32xf16>)'
)
DPAS = '%a, %b, %c = "test.op"() : () -> (vector<64x32xf16>, vector<32x48xf16>, vector<64x48xf32>)'
BOTH = "const_offsets = array<i64: 0, 0>"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (FUNC % "function_type = (f32) -> ()", "gpu.func: expected arguments ['f32'], got ['index']"),
        (FUNC % "function_type = (index) -> f32, kernel", "gpu.func: expected a kernel to return nothing, got"),
        (
            FUNC % "function_type = (index) -> (), known_block_size = array<i32: 64>",
            "gpu.func: expected three entries of known_block_size, got 1",
        ),
        (
            f'{DESC}\n%d = "xegpu.create_nd_tdesc"(%A) <{{const_shape = array<i64: 512, 96>, const_strides = '
            "array<i64: 96, 1>, operandSegmentSizes = array<i32: 1, 0, 0>}> : "
            "(memref<512x96xf16>) -> !xegpu.tensor_desc<64x32xf16>",
            "create_nd_tdesc: expected no shape for the static memref<512x96xf16>, got one",
        ),
        (
            '%p = "test.op"() : () -> i64\n%d = "xegpu.create_nd_tdesc"(%p) <{operandSegmentSizes = '
            "array<i32: 1, 0, 0>}> : (i64) -> !xegpu.tensor_desc<64x32xf16>",
            "create_nd_tdesc: expected shape and strides for i64, got none",
        ),
        (
            f'{DESC}\n%w = "xegpu.load_nd"(%t) <{{{BOTH}}}> : (!xegpu.tensor_desc<64x32xf16>) -> vector<32x64xf16>',
            "load_nd: expected vector<64x32xf16>, got vector<32x64xf16>",
        ),
        (
            f'{DESC}\n"xegpu.prefetch_nd"(%t) <{{const_offsets = array<i64: 0>}}> : '
            "(!xegpu.tensor_desc<64x32xf16>) -> ()",
            "prefetch_nd: expected at least 2 offsets, got 1",
        ),
        (
            f'{DESC}\n"xegpu.store_nd"(%v, %t, %i) <{{{BOTH}}}> : '
            "(vector<64x32xf16>, !xegpu.tensor_desc<64x32xf16>, index) -> ()",
            "store_nd: expected a value for each marker in const_offsets, got 1",
        ),
        (
            f'{DESC}\n"xegpu.prefetch_nd"(%t) <{{{BOTH}, layout = #xegpu.layout<sg_layout = [2, 1], '
            "sg_data = [48, 32]>}> : (!xegpu.tensor_desc<64x32xf16>) -> ()",
            "prefetch_nd: expected sg_data to divide [64, 32], got [48, 32]",
        ),
        (
            f'{DPAS}\n%d = "xegpu.dpas"(%b, %a, %c) : '
            "(vector<32x48xf16>, vector<64x32xf16>, vector<64x48xf32>) -> vector<64x48xf32>",
            "dpas: expected (m x k) (k x n) = (m x n), got [32, 48] [64, 32] = [64, 48]",
        ),
        (
            f'{DPAS}\n%d = "xegpu.dpas"(%a, %b, %c) : '
            "(vector<64x32xf16>, vector<32x48xf16>, vector<64x48xf32>) -> vector<64x48xf16>",
            "dpas: expected c and the result of one type, got vector<64x48xf32> and vector<64x48xf16>",
        ),
    ],
)
def test_what_gpu_and_xegpu_refuse(source: str, message: str) -> None:
    ctx = context().clone()
    ctx.load_dialect(Test)
    with pytest.raises(VerifyException) as refused:
        Parser(ctx, source).parse_module().verify()
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ("sg_layout = [8, 4]", "expected sg_layout and sg_data together, got one of them"),
        ("sg_layout = [8, 4], sg_data = [32]", "expected entries of one length, got ['sg_layout', 'sg_data']"),
        (
            "sg_layout = [8, 4], sg_data = [32, 48], inst_data = [32, 32]",
            "expected inst_data to divide sg_data [32, 48], got [32, 32]",
        ),
    ],
)
def test_layouts_that_contradict_themselves(layout: str, message: str) -> None:
    with pytest.raises(VerifyException) as refused:
        Parser(context(), f"#xegpu.layout<{layout}>").parse_attribute()
    assert message in str(refused.value)
