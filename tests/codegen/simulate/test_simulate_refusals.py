"""The simulator refuses, by name, code that it cannot represent or that the hardware does not define."""

import pickle

import numpy as np
import pytest

from codegen.simulate import (
    SimulationRefused,
    SimulationTimedOut,
    simulate,
)
from tests.codegen.ir_snippets import run
from tests.codegen.xe.gemm_fixtures import RAGGED

NAME = "_Z41intel_sub_group_2d_block_read_16b_8r16x1cPU3AS1viiiDv2_iPt"
READ = f"""
  %block = alloca [8 x i16], align 64
  %base = getelementptr i8, ptr addrspace(1) %A, i64 0
  call spir_func void @{NAME}(ptr addrspace(1) %base, i32 96, i32 20, i32 112, <2 x i32> <i32 2, i32 3>, ptr %block)
  ret void"""


def _refusal(body: str) -> SimulationRefused:
    with pytest.raises(SimulationRefused) as caught:
        run(body, np.zeros(4096, np.uint8), np.zeros(64, np.uint8))
    return caught.value


def test_the_block_read_that_others_vary_is_right() -> None:
    run(READ, np.zeros(4096, np.uint8), np.zeros(64, np.uint8))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("%A, i64 0", "%A, i64 32", "starts at byte 32 of its buffer, not at a multiple of 64"),
        ("i32 96", "i32 60", "width is 64 to 2^24 bytes, got 60"),
        ("i32 96", "i32 94", "width is a multiple of 4 bytes, got 94"),
        ("i32 112", "i32 80", "pitch is at least the width, got 80"),
        ("i32 112", "i32 104", "pitch is a multiple of 16 bytes, got 104"),
        ("i32 20", "i32 0", "height is 1 to 2^24 rows, got 0"),
        ("i32 20", "i32 37", "touches bytes 0 and 4128 on, of a buffer of 4096 bytes"),
        ("<i32 2,", "<i32 3,", "starts at column 3, not at a multiple of 4 bytes"),
        ("<2 x i32> <i32 2, i32 3>", "<2 x i32> %apart", "argument 4 differs between the lanes"),
        ("_Z41intel_sub_group_2d_block_read_16b_8r16x1c", "_Z41intel_sub_group_2d_block_read_16b_6r16x1c", "not known"),
        ("_Z41intel_sub_group_2d_block_read_16b_8r16x1c", "_Z41intel_sub_group_2d_block_read_16b_8r16x4c", "not known"),
        ("[8 x i16]", "[7 x i16]", "touches bytes 0 to 16 of 14 private ones"),
    ],
)
def test_a_block_read_outside_of_its_definition_is_refused(old: str, new: str, message: str) -> None:
    assert old in READ
    apart = "\n  %apart = insertelement <2 x i32> zeroinitializer, i32 %lane32, i64 0"
    refusal = _refusal(apart + READ.replace(old, new))
    assert message in str(refusal)
    assert "2d_block_read" in refusal.where


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%x = atomicrmw umul ptr addrspace(1) %A, i32 1 monotonic, align 4", "atomic umul of i32 is not known"),
        (
            "%q = getelementptr i8, ptr addrspace(1) %A, i64 2\n  %x = atomicrmw or ptr addrspace(1) %q, i32 1 acquire",
            "an atomic operation of 4 bytes that is not aligned",
        ),
        ("call spir_func void @_Z7barrierj(i32 %lane32)", "a barrier needs a constant"),
        ("%x = call float @llvm.lgamma.f32(float 1.0)", "function llvm.lgamma.f32 is not known"),
        ("%x = call float @_Z6lgammaf(float 1.0)", "function _Z6lgammaf is not known"),
        ("%x = load i32, ptr addrspace(3) @shared, align 4", "the module has no variable of this name"),
        ("%x = load <8 x i1>, ptr addrspace(1) %A, align 4", "<8 x i1> in memory"),
        ("%x = call i32 @_Z17sub_group_shuffleij(i32 1, i32 16)", "a lane outside of 0 to 15"),
        ("%x = load i128, ptr addrspace(1) %A, align 4", "type i128 is not known"),
        ("%x = udiv i32 1, %subgroup", "division by zero"),
        ("%x = add i32 %nothing, 1", "a value is used where it is not defined"),
        ("%x = alloca i32, i32 %lane32, align 4", "a size known only at run time"),
        ("store ptr addrspace(1) %A, ptr addrspace(1) %B, align 8", "pointers in memory"),
        ("%x = extractelement <4 x i32> zeroinitializer, i32 %lane32", "outside of a vector of 4 elements"),
        (
            "%x = call <8 x i32> @_Z36intel_sub_group_s8_s8_matrix_mad_k32Dv8_sDv8_iS0_(<8 x i16> zeroinitializer, "
            "<8 x i32> zeroinitializer, <8 x i32> zeroinitializer)",
            # The name that the upstream pipeline gets wrong.
            "no built-in s8_s8_matrix_mad_k32: signed bytes are called i8",
        ),
    ],
)
def test_what_is_not_known_is_refused(line: str, message: str) -> None:
    refusal = _refusal(f"  {line}\n  ret void")
    assert message in str(refusal)


@pytest.mark.parametrize("offset", [4093, -1, 1 << 39])
def test_a_load_outside_of_its_buffer_is_refused(offset: int) -> None:
    body = f"""
  %p = getelementptr i8, ptr addrspace(1) %A, i64 {offset}
  %x = load i32, ptr addrspace(1) %p, align 1
  ret void"""
    assert "%x = load i32" in _refusal(body).where


def test_an_access_outside_of_private_memory_is_refused() -> None:
    body = """
  %array = alloca [15 x i32], align 4
  %p = getelementptr i32, ptr %array, i64 %lane
  store i32 1, ptr %p, align 4
  ret void"""
    assert "touches bytes 60 to 64 of 60 private ones" in str(_refusal(body))


def test_the_launch_must_fit_the_kernel() -> None:
    a, b, c = RAGGED.operands()
    for buffers, groups, local_size, only, message in (
        ((a, b), RAGGED.groups, 32, None, "one global pointer for each of 2 buffers"),
        ((a, b, c), (3, 0, 1), 32, None, "groups of at least 1"),
        ((a, b, c), RAGGED.groups, 24, None, "whole sub-groups of 16"),
        ((a, b, c), RAGGED.groups, 48, None, r"requires work-groups of \(32, 1, 1\) and sub-groups of 16"),
        ((a, b, c), RAGGED.groups, 32, [6], "different work-groups below 6"),
        ((a, b, c), RAGGED.groups, 32, [1, 1], "different work-groups below 6"),
        ((a, b, c.T), RAGGED.groups, 32, None, "buffers must be contiguous"),
    ):
        with pytest.raises(SimulationRefused, match=message):
            simulate(RAGGED.ll, "gemm", buffers, groups, local_size, only)
    with pytest.raises(SimulationRefused, match="no definition of kernel another"):
        simulate(RAGGED.ll, "another", (a, b, c), RAGGED.groups, 32)


def test_a_refusal_travels_between_processes() -> None:
    refusal = pickle.loads(pickle.dumps(SimulationRefused("%x = y", "why")))
    assert (refusal.where, refusal.message) == ("%x = y", "why")
    assert str(refusal) == "simulation refused at `%x = y`: why"


def test_an_input_is_not_written() -> None:
    written = RAGGED.ll.replace("  ret void\n", "  store i16 0, ptr addrspace(1) %A, align 2\n  ret void\n")
    with pytest.raises(SimulationRefused, match="writes a buffer that is an input"):
        simulate(written, "gemm", RAGGED.operands(), RAGGED.groups, RAGGED.local_size)
    block = RAGGED.ll.replace("ptr addrspace(1) nonnull writeonly %C", "ptr addrspace(1) nonnull writeonly %A")
    assert block != RAGGED.ll
    with pytest.raises(SimulationRefused):
        simulate(block, "gemm", RAGGED.operands(), RAGGED.groups, RAGGED.local_size)


def test_a_time_limit_ends_a_simulation() -> None:
    with pytest.raises(SimulationTimedOut):
        simulate(RAGGED.ll, "gemm", RAGGED.operands(), RAGGED.groups, RAGGED.local_size, time_limit_s=0.0)
