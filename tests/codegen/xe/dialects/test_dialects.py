"""Types and attributes survive their text; modules print with aliases, and survive it too.

XeTile operations and their verifiers are in tests/filecheck/xetile_*.mlir, XeGPU's in xegpu_*.mlir there.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType, bf16, f16, f32
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from codegen.xe.dialects import (
    context,
    parse,
    text,
)
from codegen.xe.dialects.maps import (
    SgMap,
    WgMap,
)
from codegen.xe.dialects.printer import ModulePrinter
from codegen.xe.dialects.xetile.tile import TileType
from codegen.xe.dialects.xetile.tile_attr import TileTraits
from tests.few import few

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
        sg_map=draw(st.sampled_from([None, SgMap.of(data, (1, 1))])),
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


def test_operations_of_one_form_print_their_own_operands() -> None:
    lines = ["%0 = arith.addi %a, %b : i32", "%1 = arith.addi %b, %b : i32", "%2 = arith.addi %0, %1 : i32"]
    source = "func.func @f(%a: i32, %b: i32) {\n  " + "\n  ".join(lines) + "\n  func.return\n}"
    printed = text(parse(source))
    assert [line.strip() for line in printed.splitlines() if "addi" in line] == lines


def test_aliases_are_those_of_each_module() -> None:
    other = KERNEL.replace("sg_layout = [8, 4], sg_data = [32, 16]", "sg_layout = [16, 2], sg_data = [16, 16]")
    for kernel in (KERNEL, other, KERNEL):
        assert text(parse(kernel)) == kernel


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


FIXTURES = Path(__file__).parents[1] / "fixtures" / "xetile"
EXAMPLES = Path(__file__).parents[4] / "examples"
FILES = sorted([*FIXTURES.glob("*.mlir"), *EXAMPLES.glob("*.mlir")])


@pytest.mark.parametrize("file", few(FILES, 2), ids=lambda f: f.stem)
def test_files_with_kernels_and_hosts_parse_verify_and_survive_their_text(file: Path) -> None:
    module = parse(file.read_text(), str(file))
    module.verify()
    printed, generic = text(module), text(module, generic=True)
    assert text(parse(printed)) == printed
    assert text(parse(generic)) == printed
    assert text(parse(printed), generic=True) == generic


FOREIGN = """\
#target = #spirv.target_env<#spirv.vce<v1.4, [Addresses], []>, #spirv.resource_limits<>>
%0 = "other.op"() {a = #other.attr<"x", [1]>, b = #target} : () -> !other.type<4 x f32>
"""


def test_other_dialects_are_kept_unread_in_the_generic_form() -> None:
    printed = text(parse(FOREIGN))
    assert '"other.op"() {a = #other.attr<"x", [1]>' in printed
    assert "!other.type<4 x f32>" in printed
    assert text(parse(printed)) == printed
    assert parse(FOREIGN).is_structurally_equivalent(parse(FOREIGN))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "complex.create %i, %i : complex<f32>",
            'complex.create is of no dialect known here: expected its generic form, "complex.create"',
        ),
        (
            '"xetile.lod_tile"() : () -> ()',
            "got xetile.lod_tile; did you mean xetile.load_tile?",
        ),
        (
            '"test.op"() {a = #xetile.wg_mapp<x>} : () -> ()',
            "got xetile.wg_mapp; did you mean xetile.wg_map?",
        ),
        ("frobnicate", "expected an operation, got frobnicate"),
    ],
)
def test_what_does_not_parse(source: str, message: str) -> None:
    with pytest.raises(ParseError) as refused:
        parse(source)
    assert message in str(refused.value)


def test_sub_groups_own_what_the_rfc_tables() -> None:
    owned = WgMap.of((2, 2), (32, 128)).owned((128, 128))
    assert owned == (((0, 0), (64, 0)),) * 2 + (((32, 0), (96, 0)),) * 2


@given(pairs, st.tuples(st.integers(1, 4), st.integers(1, 4)), st.tuples(st.integers(1, 5), st.integers(1, 5)))
def test_every_block_is_owned_and_shared_only_by_wrapping_around(
    data: tuple[int, int], layout: tuple[int, int], blocks: tuple[int, int]
) -> None:
    shape = (data[0] * blocks[0], data[1] * blocks[1])
    if any(b % n and n % b for b, n in zip(blocks, layout, strict=True)):
        return
    owned = WgMap.of(layout, data).owned(shape)
    assert len(owned) == layout[0] * layout[1]
    every = [block for each in owned for block in each]
    assert set(every) == {(r * data[0], c * data[1]) for r in range(blocks[0]) for c in range(blocks[1])}
    shared = max(1, layout[0] // blocks[0]) * max(1, layout[1] // blocks[1])
    assert all(every.count(block) == shared for block in every)
