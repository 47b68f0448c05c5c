"""Steps from MLIR's bitcode to the final LLVM IR."""

import llvmlite.binding as llvm
import pytest

from codegen import CompileFailed
from codegen.llvm.bare_pointers import bare_pointers
from codegen.llvm.private_memory import align_private_memory
from codegen.llvm.wide_vectors import split_wide_vectors
from codegen.spirv import emit_spirv

HEADER = 'target triple = "spirv64-unknown-unknown"\n'

WIDE = (
    HEADER
    + """
define spir_kernel void @k(ptr addrspace(1) %C) {
  %1 = alloca [64 x i16], align 2
  %2 = load <64 x i16>, ptr %1, align 2
  %3 = shufflevector <64 x i16> %2, <64 x i16> poison, <4 x i32> <i32 8, i32 9, i32 10, i32 11>
  %4 = bitcast <64 x i16> %2 to <32 x i32>
  %5 = extractelement <32 x i32> %4, i64 5
  store <4 x i16> %3, ptr addrspace(1) %C, align 16
  store i32 %5, ptr addrspace(1) %C, align 4
  ret void
}
"""
)


def test_slices_of_a_wide_load_become_loads_at_their_offsets() -> None:
    text = split_wide_vectors(align_private_memory(WIDE))
    llvm.parse_assembly(text).verify()
    assert "64 x i16>" not in text
    assert "32 x i32>" not in text
    assert "i64 16\n" in text  # elements 8.. of 2 bytes
    assert "i64 20\n" in text  # element 5 of 4 bytes
    assert emit_spirv(text)[:4] == b"\x03\x02\x23\x07"


def test_text_without_wide_vectors_is_left_alone() -> None:
    narrow = WIDE.replace("64 x i16> poison", "16 x i16> poison").split("%2 =")[0]
    assert split_wide_vectors(narrow) == narrow


@pytest.mark.parametrize(
    "use",
    [
        "  store <64 x i16> %2, ptr addrspace(1) %C, align 16",
        "  %6 = shufflevector <64 x i16> %2, <64 x i16> poison, <2 x i32> <i32 1, i32 3>",
    ],
    ids=["stored whole", "strided slice"],
)
def test_another_use_of_a_wide_vector_is_refused(use: str) -> None:
    with pytest.raises(CompileFailed, match="cannot split"):
        split_wide_vectors(WIDE.replace("  ret void", use + "\n  ret void"))


def test_private_arrays_are_as_aligned_as_a_whole_vector() -> None:
    assert "alloca [64 x i16], align 64" in align_private_memory(WIDE)


MEMREF = """define spir_kernel void @k(ptr addrspace(1) %A.allocated, ptr addrspace(1) %A, i64 %A.size0) #0 {
  store i32 1, ptr addrspace(1) %A, align 4
  ret void
}
"""


def test_only_the_aligned_pointer_stays_a_parameter() -> None:
    assert "@k(ptr addrspace(1) %A) #0 {" in bare_pointers(MEMREF, "k")


def test_a_used_memref_field_is_refused() -> None:
    used = MEMREF.replace("store i32 1", "store i64 %A.size0")
    with pytest.raises(CompileFailed, match=r"uses %A\.size0"):
        bare_pointers(used, "k")
