"""Work-group sizes of kernels, and refused blocks, elements and values."""

import re

import numpy as np
import pytest

from codegen import CompileFailed, Refused, compile_module, simulate_module
from codegen.artifact.stages import Stages
from codegen.xe.opt import (
    OptFailed,
    read_passes,
    run_passes,
)
from hal import find

B580 = find("b580")
COPY = """#t = #xetile.tile_attr<wg_map = <sg_layout = [4, 2], sg_data = [16, 32]>>
gpu.module @m {
  gpu.func @copy(%A: memref<64x64xf32>, %C: memref<64x64xf32>) kernel {
    %a = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #t>
    %x = xetile.load_tile %a : !xetile.tile<64x64xf32, #t> -> vector<64x64xf32>
    %c = xetile.init_tile %C[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #t>
    xetile.store_tile %x, %c : vector<64x64xf32>, !xetile.tile<64x64xf32, #t>
    gpu.return
  }
}
"""
COUNTING = """gpu.module @m {
  gpu.func @fill(%C: memref<64x32xf32>) kernel attributes {VectorComputeFunctionINTEL} {
    %c16 = arith.constant 16 : index
    %x = gpu.thread_id x
    %row = arith.muli %x, %c16 : index
    %v = arith.constant dense<1.5> : vector<16x32xf32>
    %c = xetile.init_tile %C[%row, 0] : memref<64x32xf32> -> !xetile.tile<16x32xf32>
    xetile.store_tile %v, %c : vector<16x32xf32>, !xetile.tile<16x32xf32>
    gpu.return
  }
}
"""
LAUNCH = """func.func @main(%C: memref<64x32xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  gpu.launch_func @m::@fill blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1) args(%C : memref<64x32xf32>)
  return
}
"""


def copy_in(items: str, level: str = "") -> str:
    """The copy with a block; at sub-group level, if asked, without its map."""
    source = COPY.replace("kernel {", f"kernel attributes {{known_block_size = array<i32: {items}>}} {{")
    return source.replace(", #t>", ">") if level == "sub-group" else source


@pytest.mark.parametrize("items", ["16, 1, 1", "112, 1, 1", "24, 1, 1", "8, 15, 1"])
def test_a_block_has_the_sub_groups_that_maps_count(items: str) -> None:
    message = f"of whole sub-groups of 16 work-items, at least 8 as its maps count, got {items.replace(', ', 'x')}"
    with pytest.raises(CompileFailed, match=re.escape(message)):
        compile_module(copy_in(items), B580)


def test_a_block_is_whole_sub_groups_without_maps_too() -> None:
    with pytest.raises(CompileFailed, match="of whole sub-groups of 16 work-items, got 24x1x1"):
        compile_module(copy_in("24, 1, 1", "sub-group"), B580)


def test_a_block_may_have_more_sub_groups() -> None:
    a = np.random.default_rng(0).random((64, 64), np.float32)
    c = np.zeros_like(a)
    simulate_module(compile_module(copy_in("256, 1, 1"), B580), "copy", (1, 1, 1), None, [a, c])
    np.testing.assert_array_equal(a, c)


@pytest.mark.parametrize("items", ["0, 1, 1", "-16, 1, 1", "65536, 65536, 1"])
def test_a_block_is_three_numbers(items: str) -> None:
    with pytest.raises(CompileFailed, match="expected a block of three numbers of at least 1"):
        compile_module(copy_in(items), B580)


def test_a_kernel_that_counts_sub_groups_takes_the_block_that_is_given() -> None:
    with pytest.raises(CompileFailed, match="expected the block of kernel fill"):
        compile_module(COUNTING, B580)
    artifact = compile_module(COUNTING, B580, block=(4, 1, 1))
    assert artifact.kernels[0].local_size == (64, 1, 1)
    c = np.zeros((64, 32), np.float32)
    simulate_module(artifact, "fill", (1, 1, 1), (4, 1, 1), [c])
    np.testing.assert_array_equal(c, 1.5)


def test_a_launch_in_the_file_is_stronger_than_a_block_that_is_given() -> None:
    artifact = compile_module(COUNTING + LAUNCH, B580, block=(2, 1, 1))
    assert artifact.kernels[0].local_size == (64, 1, 1)


@pytest.mark.parametrize("device_only", [False, True])
def test_the_pass_sees_launches_in_the_file(device_only: bool) -> None:
    passes = read_passes(["expand-subgroup-threads"])
    printed = run_passes(COUNTING + LAUNCH, passes, device_only=device_only)
    assert "known_block_size = array<i32: 64, 1, 1>" in printed
    assert ("threads in (%0, %1, %2)" in printed) is not device_only
    assert ("%0 = arith.constant 64 : index" in printed) is not device_only
    assert compile_module(printed, B580).kernels[0].local_size == (64, 1, 1)


def test_launches_with_other_blocks_are_refused() -> None:
    other = LAUNCH.replace("@main", "@other").replace("threads in (%c4", "threads in (%c1")
    message = re.escape("expected one block in the launches of fill, got [(1, 1, 1), (4, 1, 1)]")
    with pytest.raises(CompileFailed, match=message):
        compile_module(COUNTING + LAUNCH + other, B580)
    for device_only in (False, True):
        with pytest.raises(OptFailed, match=message):
            run_passes(COUNTING + LAUNCH + other, read_passes(["expand-subgroup-threads"]), device_only=device_only)


def test_memory_is_of_elements_that_a_launch_can_give() -> None:
    with pytest.raises(CompileFailed, match=r"argument A: expected elements of f64.*, got i4"):
        compile_module(COPY.replace("f32", "i4"), B580)


def test_a_value_fits_the_registers_of_the_sub_groups_that_hold_it() -> None:
    message = (
        "module-registers.*1048576 bytes of values are live at xegpu.store_nd; the registers of one sub-group are 16384"
    )
    with pytest.raises(Refused, match=message):
        compile_module(copy_in("16, 1, 1", "sub-group").replace("64x64xf32", "512x512xf32"), B580)
    larger = copy_in("128, 1, 1").replace("64x64xf32", "1024x512xf32")
    with pytest.raises(
        Refused, match="the registers of 8 sub-groups are 131072, and 8 times as much may spill: use smaller tiles"
    ):
        compile_module(larger, B580)


def test_transfers_of_vectors_name_the_pass_that_makes_tiles_of_them() -> None:
    source = """gpu.module @m {
  gpu.func @k(%A: memref<64x96xf32>) kernel {
    %c0 = arith.constant 0 : index
    %z = arith.constant 0.0 : f32
    %x = vector.transfer_read %A[%c0, %c0], %z : memref<64x96xf32>, vector<16x32xf32>
    gpu.return
  }
}"""
    with pytest.raises(
        CompileFailed, match=r"got vector\.transfer_read: convert it with `xetune opt FILE --pass vector-to-xetile`"
    ):
        compile_module(source, B580)


def test_a_stage_that_fails_without_a_word_says_what_was_raised() -> None:
    def fail() -> None:
        raise RuntimeError

    with pytest.raises(CompileFailed, match="stage lanes: RuntimeError"):
        Stages().run("lanes", fail)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (".gpu.module @m {}", r"^stage source: kernel.mlir:1:1: Expected three consecutive"),
        (
            COPY.replace("gpu.return", '"test.op"() : () -> ()\n    gpu.return'),
            r"kernel.mlir:8:5: lower-to-lanes: expected an operation of the dialects of a kernel, got test.op",
        ),
    ],
    ids=["first token", "unknown operation"],
)
def test_texts_that_once_ended_in_other_errors_are_refused_with_their_place(source: str, message: str) -> None:
    with pytest.raises(CompileFailed, match=message):
        compile_module(source, B580, "kernel.mlir")
