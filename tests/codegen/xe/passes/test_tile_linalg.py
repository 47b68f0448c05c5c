"""Products of linalg become tiled XeTile kernels for a configuration, and launches of them."""

import pytest
from xdsl.context import Context
from xdsl.utils.exceptions import ParseError, PassFailedException, VerifyException

from codegen.xe.dialects import (
    parse,
    text,
)
from codegen.xe.dialects.gpu.host import device_part
from codegen.xe.passes.tile_linalg import TileLinalgPass

SOURCE = """
func.func @main(%A: memref<96x80xf16>, %B: memref<80x112xf16>, %C: memref<96x112xf32>) {
  linalg.matmul ins(%A, %B : memref<96x80xf16>, memref<80x112xf16>) outs(%C : memref<96x112xf32>)
  return
}"""
BATCH = """
func.func @main(%A: memref<3x48x64xf16>, %B: memref<3x64x32xf16>, %C: memref<3x48x32xf32>) {
  linalg.batch_matmul ins(%A, %B : memref<3x48x64xf16>, memref<3x64x32xf16>) outs(%C : memref<3x48x32xf32>)
  return
}"""
FLAGS = TileLinalgPass(block=(64, 32, 16), sg_layout=(2, 1))


def tiled(source: str) -> str:
    """The module of kernels and launches that a program becomes."""
    module = parse(source)
    module.verify()
    FLAGS.apply(Context(), module)
    module.verify()
    return text(module)


def test_a_matmul_is_launched_over_blocks_of_c() -> None:
    (launch,) = device_part(tiled(SOURCE)).launches
    assert (launch.module, launch.kernel) == ("matmul", "matmul")
    assert launch.grid == (4, 2, 1)
    assert launch.block == (32, 1, 1)


def test_a_batch_is_counted_by_z() -> None:
    (launch,) = device_part(tiled(BATCH)).launches
    assert launch.grid == (1, 1, 3)
    assert "memref<3x48x64xf16> -> !xetile.tile<64x16xf16" in tiled(BATCH)


def test_two_products_are_two_kernels() -> None:
    again = SOURCE.replace("  return", SOURCE.splitlines()[2] + "\n  return")
    assert [launch.kernel for launch in device_part(tiled(again)).launches] == ["matmul_0", "matmul_1"]


def test_a_dynamic_shape_is_refused() -> None:
    dynamic = SOURCE.replace("96x80", "?x80").replace("96x112", "?x112")
    with pytest.raises(PassFailedException, match="expected memrefs of static shape"):
        tiled(dynamic)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(VerifyException, match=r"linalg\.matmul: expected 2-D a .*got \[96, 80\], \[88, 112\]"):
        tiled(SOURCE.replace("80x112", "88x112"))


def test_a_block_that_does_not_divide_over_sub_groups_is_refused() -> None:
    with pytest.raises(ValueError, match=r"divides over sg_layout, got \[64, 30, 16\] over \[2, 4\]"):
        TileLinalgPass(block=(64, 30, 16), sg_layout=(2, 4))


PAYLOAD = """
module {
  func.func @payload(%A: memref<96x80xf16>, %B: memref<80x112xf16>, %C: memref<96x112xf32>)
      attributes {llvm.emit_c_interface} {
    linalg.matmul ins(%A, %B : memref<96x80xf16>, memref<80x112xf16>) outs(%C : memref<96x112xf32>)
    return
  }
  func.func @gpu_alloc_f16(%rows: i32, %columns: i32) -> memref<?x?xf16> attributes {llvm.emit_c_interface} {
    %m = arith.index_cast %rows : i32 to index
    %n = arith.index_cast %columns : i32 to index
    %memref = gpu.alloc (%m, %n) : memref<?x?xf16>
    return %memref : memref<?x?xf16>
  }
}"""
"""A payload as lighthouse's generator of matmuls makes it, accumulating and on memrefs, with a function of its host."""


def test_a_payload_of_lighthouse_is_tiled_and_its_host_functions_are_kept() -> None:
    made = tiled(PAYLOAD)
    (launch,) = device_part(made).launches
    assert (launch.kernel, launch.grid, launch.block) == ("matmul", (4, 2, 1), (32, 1, 1))
    kept = text(parse(PAYLOAD)).split("func.func @gpu_alloc_f16")[1].split("func.return %memref")[0]
    assert kept in made
    assert "func.func @payload(%A: memref<96x80xf16>" in made


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("linalg.fill ins(%zero : f32) outs(%C : memref<96x112xf32>)", "linalg.fill"),
        (
            "%t = bufferization.to_tensor %A restrict : memref<96x80xf16> to tensor<96x80xf16>",
            "bufferization.to_tensor",
        ),
    ],
)
def test_other_operations_of_payloads_are_refused_by_name(line: str, named: str) -> None:
    with pytest.raises(ParseError, match=named):
        parse(
            PAYLOAD.replace("    linalg.matmul", f"    %zero = arith.constant 0.0 : f32\n    {line}\n    linalg.matmul")
        )
