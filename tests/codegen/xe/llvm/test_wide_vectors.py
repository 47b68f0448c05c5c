"""Wide vectors are split into vectors that SPIR-V supports, with the same numbers."""

import re

import llvmlite.binding as llvm
import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import CompileFailed
from codegen.simulate import run_kernel
from codegen.xe.llvm.wide_vectors import split_wide_vectors
from codegen.xe.spirv import emit_spirv

LAYOUT = (
    'target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:'
    '64-G1"\ntarget triple = "spirv64-unknown-unknown"\n'
)

READ = "_Z42intel_sub_group_2d_block_read_16b_32r16x1cPU3AS1viiiDv2_iPt"
WRITE = "_Z42intel_sub_group_2d_block_write_16b_8r16x1cPU3AS1viiiDv2_iPt"

# The second eight rows of each block of 32 rows, loaded one turn of the loop before they are stored.
PIPELINED = f"""
{LAYOUT}
declare spir_func void @{READ}(ptr addrspace(1), i32, i32, i32, <2 x i32>, ptr)
declare spir_func void @{WRITE}(ptr addrspace(1), i32, i32, i32, <2 x i32>, ptr)

define spir_kernel void @k(ptr addrspace(1) %A, ptr addrspace(1) %C) {{
entry:
  %1 = alloca [32 x i16], align 64
  call spir_func void @{READ}(ptr addrspace(1) %A, i32 128, i32 40, i32 128, <2 x i32> zeroinitializer, ptr %1)
  %2 = load <32 x i16>, ptr %1, align 2
  br label %3

3:
  %4 = phi i32 [ 0, %entry ], [ %7, %3 ]
  %5 = phi <32 x i16> [ %2, %entry ], [ %11, %3 ]
  %6 = mul i32 %4, 16
  %7 = add i32 %4, 1
  %8 = mul i32 %7, 16
  %9 = insertelement <2 x i32> zeroinitializer, i32 %8, i32 0
  %10 = alloca [32 x i16], align 64
  call spir_func void @{READ}(ptr addrspace(1) %A, i32 128, i32 40, i32 128, <2 x i32> %9, ptr %10)
  %11 = load <32 x i16>, ptr %10, align 2
  %12 = shufflevector <32 x i16> %5, <32 x i16> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, \
i32 14, i32 15>
  %13 = alloca [8 x i16], align 64
  store <8 x i16> %12, ptr %13, align 16
  %14 = insertelement <2 x i32> zeroinitializer, i32 %6, i32 0
  call spir_func void @{WRITE}(ptr addrspace(1) %C, i32 128, i32 8, i32 128, <2 x i32> %14, ptr %13)
  %15 = icmp ult i32 %7, 4
  br i1 %15, label %3, label %16

16:
  ret void
}}
"""


def _narrow(text: str) -> str:
    split = split_wide_vectors(text)
    llvm.parse_assembly(split).verify()
    assert not [m for m in re.findall(r"<(\d+) x ", split) if int(m) > 16]
    return split


def test_spirv_has_no_phi_of_a_wide_vector() -> None:
    """LLVM's SPIR-V target fails on such a phi."""
    with pytest.raises(CompileFailed, match=r"unable to legalize instruction.*G_PHI"):
        emit_spirv(PIPELINED)


def test_a_wide_vector_that_a_loop_carries_becomes_its_slices() -> None:
    split = _narrow(PIPELINED)
    assert emit_spirv(split)[:4] == b"\x03\x02\x23\x07"
    assert len(re.findall(r"= phi <8 x i16>", split)) == 4
    assert "shufflevector" not in split  # the slice is one of the pieces
    a: NDArray[np.int16] = np.arange(40 * 64, dtype=np.int16).reshape(40, 64)
    c = np.zeros((8, 64), np.int16)
    run_kernel(split, "k", (1, 1, 1), (16, 1, 1), [a, c])
    np.testing.assert_array_equal(c, a[8:16])


def _both(body: str, declarations: str = "") -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Run a kernel of this body before and after its vectors are split, and return %out of both; %in is random."""
    text = f"""{LAYOUT}{declarations}
define spir_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {{
entry:
{body}
  ret void
}}
"""
    outputs: list[NDArray[np.uint8]] = []
    for version in (text, _narrow(text)):
        out = np.zeros(1024, np.uint8)
        numbers = np.random.default_rng(3).integers(1, 100, 128).astype(np.float32)
        run_kernel(version, "k", (1, 1, 1), (16, 1, 1), [numbers, out, 3])
        outputs.append(out)
    assert emit_spirv(_narrow(text))
    return outputs[0], outputs[1]


LOAD = "  %v = load <32 x float>, ptr addrspace(1) %in, align 4\n"
LOAD_INTEGERS = "  %i = load <32 x i32>, ptr addrspace(1) %in, align 4\n"


@pytest.mark.parametrize(
    "body",
    [
        LOAD + "  store <32 x float> %v, ptr addrspace(1) %out, align 4",
        LOAD + "  %w = fadd fast <32 x float> %v, splat (float 2.500000e+00)\n"
        "  store <32 x float> %w, ptr addrspace(1) %out, align 64",
        LOAD + "  %w = fptrunc <32 x float> %v to <32 x half>\n  store <32 x half> %w, ptr addrspace(1) %out, align 2",
        LOAD + "  %w = fneg <32 x float> %v\n  %x = bitcast <32 x float> %w to <64 x i16>\n"
        "  store <64 x i16> %x, ptr addrspace(1) %out, align 2",
        LOAD + "  %c = fcmp ogt <32 x float> %v, splat (float 5.000000e+01)\n"
        "  %w = select <32 x i1> %c, <32 x float> %v, <32 x float> zeroinitializer\n"
        "  store <32 x float> %w, ptr addrspace(1) %out, align 4",
        LOAD + "  %c = icmp sgt i32 %n, 5\n  %w = select i1 %c, <32 x float> zeroinitializer, <32 x float> %v\n"
        "  store <32 x float> %w, ptr addrspace(1) %out, align 4",
        LOAD + "  %w = insertelement <32 x float> %v, float 7.000000e+00, i64 21\n"
        "  %x = extractelement <32 x float> %w, i64 20\n  %y = insertelement <32 x float> %w, float %x, i64 0\n"
        "  store <32 x float> %y, ptr addrspace(1) %out, align 4",
        LOAD
        + "  %h = extractelement <32 x float> %v, i64 9\n  %a = insertelement <32 x float> poison, float %h, i64 0\n"
        "  %w = shufflevector <32 x float> %a, <32 x float> poison, <32 x i32> zeroinitializer\n"
        "  %x = fmul <32 x float> %w, %v\n  store <32 x float> %x, ptr addrspace(1) %out, align 4",
        LOAD + "  %r = shufflevector <32 x float> %v, <32 x float> poison, <4 x i32> <i32 1, i32 9, i32 17, i32 31>\n"
        "  store <4 x float> %r, ptr addrspace(1) %out, align 4",
        LOAD + "  %w = call contract <32 x float> @llvm.sqrt.v32f32(<32 x float> %v)\n"
        "  store <32 x float> %w, ptr addrspace(1) %out, align 4",
        LOAD_INTEGERS + "  %s = lshr exact <32 x i32> %i, splat (i32 15)\n  %t = xor <32 x i32> %s, %i\n"
        "  %z = trunc <32 x i32> %t to <32 x i8>\n  %b = bitcast <32 x i8> %z to <8 x i32>\n"
        "  store <8 x i32> %b, ptr addrspace(1) %out, align 4",
        "  %i = load <16 x i32>, ptr addrspace(1) %in, align 4\n  %b = bitcast <16 x i32> %i to <64 x i8>\n"
        "  %c = add <64 x i8> %b, splat (i8 3)\n  store <64 x i8> %c, ptr addrspace(1) %out, align 1",
        "  %a = load <16 x float>, ptr addrspace(1) %in, align 4\n"
        "  %p = getelementptr float, ptr addrspace(1) %in, i64 16\n"
        "  %b = load <16 x float>, ptr addrspace(1) %p, align 4\n"
        "  %w = shufflevector <16 x float> %a, <16 x float> %b, <32 x i32> <"
        + ", ".join(f"i32 {at}" for at in (*range(8, 24), *range(8), *range(24, 32)))
        + ">\n  store <32 x float> %w, ptr addrspace(1) %out, align 4",
        "  store <24 x i16> splat (i16 -3), ptr addrspace(1) %out, align 2",
        LOAD + "  %w = freeze <32 x float> %v\n  store <32 x float> %w, ptr addrspace(1) %out, align 4",
    ],
)
def test_splitting_does_not_change_what_is_computed(body: str) -> None:
    declarations = "declare <32 x float> @llvm.sqrt.v32f32(<32 x float>)\n" if "sqrt" in body else ""
    before, after = _both(body, declarations)
    assert before.any()
    np.testing.assert_array_equal(before, after)


def test_a_split_place_is_as_aligned_as_the_whole_was() -> None:
    text = f"{LAYOUT}define void @k(ptr addrspace(1) %in, ptr %p) {{\n{LOAD}  store <32 x float> %v, ptr %p, align 8\n"
    split = split_wide_vectors(text + "  ret void\n}\n")
    assert set(re.findall(r"load .*, align (\d+)", split)) == {"4"}
    assert set(re.findall(r"store .*, align (\d+)", split)) == {"8"}


def test_the_same_text_is_split_the_same_way() -> None:
    assert split_wide_vectors(PIPELINED) == split_wide_vectors(PIPELINED)
