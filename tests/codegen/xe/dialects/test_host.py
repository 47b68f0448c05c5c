"""The device's part of a file: what is kept, that lines stay where they were, and the sizes of launches."""

from pathlib import Path

import pytest

from codegen.xe.dialects import (
    gpu,
    parse,
    text,
)
from codegen.xe.dialects.gpu.host import (
    Launch,
    device_part,
)

FIXTURES = Path(__file__).parents[1] / "fixtures" / "xetile"

MIXED = r"""
// gpu.module @in_a_comment { gpu.func @no() kernel { gpu.return } }
#map = affine_map<(d0, d1) -> (d1, d0)>
#tile = #xetile.tile_attr<
  memory_space = 3 : i32>   // {
!small = !xetile.tile<8x16xf16>
module @"outer {" attributes {gpu.container_module, note = "gpu.module @in_a_string {"} {
  func.func @first(%x: memref<4x4xf32>) {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 5 : index
    affine.for %i = 0 to 10 { linalg.generic {indexing_maps = [#map]} ins(%x : memref<4x4xf32>) { ^bb0(%a: f32): } }
    return
  }
  gpu.module @one [#spirv.target_env<#spirv.vce<v1.4, [], []>, #spirv.limits<>>] attributes {a = {b = "}"}} {
    gpu.func @k(%A: memref<64x32xf16>) kernel {  // }
      %t = xetile.init_tile %A[0, 0] : memref<64x32xf16> -> !small
      xetile.prefetch_tile %t {test.note = "} \" {"} : !small
      xegpu.compile_hint
      gpu.return
    }
  }
  func.func @second(%n: index, %c1: index) {
    %c8 = arith.constant {note = "8"} 8 : index
    %c2 = arith.constant
        2 : index
    // gpu.launch_func @no::@no blocks in (%c8, %c8, %c8) threads in (%c8, %c8, %c8)
    %t = gpu.launch_func async [%u]
        @one::@k blocks in (%c8, %c2, %c8)
        threads in (%c2, %c2, %c2) args(%x : memref<64x32xf16>)
    gpu.launch_func @one::@k blocks in (%n, %c2, %c2) threads in (%c8, %c1, %c2) args(%x : memref<64x32xf16>)
    gpu.launch_func @"two"::@other blocks in (%c2, %c2, %c2) threads in (%c2, %c2, %c2)
    return
  }
  gpu.module @"two" {
  }
}
"""


def test_only_modules_and_aliases_are_kept() -> None:
    part = device_part(MIXED)
    module = parse(part.text)
    module.verify()
    assert [op.sym_name.data for op in module.ops if isinstance(op, gpu.ModuleOp)] == ["one", "two"]
    assert all(isinstance(op, gpu.ModuleOp) for op in module.ops)
    assert "func.func" not in part.text
    assert "compile_hint" not in part.text


def test_what_is_kept_stays_in_its_place() -> None:
    part = device_part(MIXED)
    assert len(part.text) == len(MIXED)
    for kept, given in zip(part.text.splitlines(), MIXED.splitlines(), strict=True):
        assert all(k in (" ", g) for k, g in zip(kept, given, strict=True))


def test_launches_have_the_constants_of_their_own_function() -> None:
    assert device_part(MIXED).launches == (
        Launch("one", "k", (8, 2, 8), (2, 2, 2)),
        Launch("one", "k", None, None),
        Launch("two", "other", (2, 2, 2), (2, 2, 2)),
    )


def test_a_constant_of_many_digits_is_no_size_of_a_launch() -> None:
    launches = device_part(MIXED.replace('"8"} 8 :', f'"8"}} {"8" * 5000} :')).launches
    assert launches[0] == Launch("one", "k", None, (2, 2, 2))


@pytest.mark.parametrize("source", ["", "func.func @f() { return }", "// gpu.module @m {}\nmodule {}"])
def test_a_file_without_modules_stays_as_it_is(source: str) -> None:
    part = device_part(source)
    assert (part.text, part.launches) == (source, ())


@pytest.mark.parametrize("source", ["gpu.module @m { gpu.func @k() kernel {", "gpu.module @m", 'gpu.module @m { "'])
def test_an_unfinished_module_is_left_to_the_parser(source: str) -> None:
    assert device_part(source).text == source


@pytest.mark.parametrize("name", ["gemm_host", "subgroup_shared_memory"])
def test_the_generic_form_has_the_same_device_part(name: str) -> None:
    source = (FIXTURES / f"{name}.mlir").read_text()
    pretty, generic = device_part(source), device_part(text(parse(source), generic=True))
    assert generic.launches == pretty.launches != ()
    kept = text(parse(pretty.text)).splitlines()
    assert [line for line in text(parse(generic.text)).splitlines() if "compile_hint" not in line] == kept


def test_generic_text_that_does_not_parse_is_left_to_the_parser() -> None:
    source = '"gpu.module"() ({'
    assert device_part(source).text == source
