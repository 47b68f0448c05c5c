"""Vectors of one element become that element."""

import llvmlite.binding as llvm
import pytest

from codegen import CompileFailed
from codegen.xe.llvm.single_elements import take_single_elements
from codegen.xe.spirv import emit_spirv

HEADER = """target triple = "spirv64-unknown-unknown"
"""
KERNEL = (
    HEADER
    + """
define spir_kernel void @k(ptr addrspace(1) %C) {
  %1 = load <1 x half>, ptr addrspace(1) %C, align 2
  %2 = extractelement <1 x half> %1, i64 0
  %3 = fpext half %2 to float
  %4 = insertelement <1 x float> poison, float %3, i64 0
  %5 = bitcast <1 x float> %4 to i32
  store <1 x float> %4, ptr addrspace(1) %C, align 4
  store i32 %5, ptr addrspace(1) %C, align 4
  ret void
}
"""
)


def test_loads_stores_and_casts_are_of_the_element() -> None:
    text = take_single_elements(KERNEL)
    llvm.parse_assembly(text).verify()
    assert "<1 x" not in text
    assert "element" not in text
    assert "%1 = load half, ptr addrspace(1) %C, align 2" in text
    assert "%3 = fpext half %1 to float" in text
    assert "store float %3, ptr addrspace(1) %C, align 4" in text
    assert emit_spirv(text)[:4] == b"\x03\x02\x23\x07"


def test_text_without_such_vectors_is_left_alone() -> None:
    other = KERNEL.replace("<1 x ", "<2 x ")
    assert take_single_elements(other) is other


@pytest.mark.parametrize(
    "use",
    [
        "  %6 = extractelement <1 x half> %1, i64 %n",
        "  %6 = call <1 x half> @twice(<1 x half> %1)",
    ],
)
def test_another_use_is_refused(use: str) -> None:
    with pytest.raises(CompileFailed, match="vector of one"):
        take_single_elements(KERNEL.replace("  ret void", use + "\n  ret void"))


def test_an_element_that_is_repeated_is_put_into_a_vector_first() -> None:
    text = """define void @k(<1 x float> %v) {
  %r = shufflevector <1 x float> %v, <1 x float> poison, <8 x i32> zeroinitializer
  ret void
}
"""
    assert take_single_elements(text).splitlines()[1:3] == [
        "  %repeated.r = insertelement <8 x float> poison, float %v, i64 0",
        "  %r = shufflevector <8 x float> %repeated.r, <8 x float> poison, <8 x i32> zeroinitializer",
    ]


@pytest.mark.parametrize(
    ("use", "became"),
    [
        ("%6 = fadd <1 x half> %1, splat (half 1.0)", "%6 = fadd half %1, 1.0"),
        ("store <1 x i32> zeroinitializer, ptr addrspace(1) %C, align 4", "store i32 0, ptr addrspace(1) %C, align 4"),
        ("store <1 x half> zeroinitializer, ptr addrspace(1) %C", "store half 0.0, ptr addrspace(1) %C"),
        (
            "%6 = call <1 x half> @llvm.minnum.v1f16(<1 x half> %1, <1 x half> %1)",
            "%6 = call half @llvm.minnum.f16(half %1, half %1)",
        ),
        (
            "%6 = shufflevector <1 x half> %1, <1 x half> %1, <2 x i32> <i32 0, i32 1>",
            "%6 = insertelement <2 x half> %joined.0.6, half %1, i64 1",
        ),
        (
            "%6 = shufflevector <1 x half> %1, <1 x half> %1, <4 x i32> <i32 1, i32 poison, i32 0, i32 poison>",
            "%6 = insertelement <4 x half> %joined.0.6, half %1, i64 2",
        ),
        (
            "%6 = shufflevector <4 x float> %v, <4 x float> poison, <1 x i32> <i32 2>",
            "%6 = extractelement <4 x float> %v, i64 2",
        ),
    ],
)
def test_arithmetic_and_shuffles_are_of_the_element(use: str, became: str) -> None:
    declared = "declare <1 x half> @llvm.minnum.v1f16(<1 x half>, <1 x half>)\n"
    kernel = KERNEL.replace("(ptr addrspace(1) %C)", "(ptr addrspace(1) %C, <4 x float> %v)")
    text = take_single_elements(kernel.replace("  ret void", f"  {use}\n  ret void") + declared)
    llvm.parse_assembly(text).verify()
    assert "<1 x" not in text
    assert became in text
