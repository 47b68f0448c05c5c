"""Steps from MLIR's text to the final LLVM IR."""

import subprocess
import sys

import llvmlite.binding as llvm
import pytest

from codegen import CompileFailed
from codegen.artifact.signature import (
    Field,
    KernelArgument,
    Parameter,
)
from codegen.xe.llvm import optimise
from codegen.xe.llvm.parameters import keep_used_parameters
from codegen.xe.llvm.private_memory import align_private_memory
from codegen.xe.llvm.wide_vectors import split_wide_vectors
from codegen.xe.spirv import emit_spirv

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
        "  %6 = extractelement <64 x i16> %2, i64 %n",
        "  %6 = insertelement <64 x i16> %2, i16 1, i64 %n",
        "  %6 = call i16 @llvm.vector.reduce.add.v64i16(<64 x i16> %2)",
        "  %6 = call <64 x i16> @twice(<64 x i16> %2)",
        "  store <64 x i16> %2, ptr addrspace(3) @slm, align 16",
    ],
)
def test_another_use_of_a_wide_vector_is_refused(use: str) -> None:
    with pytest.raises(CompileFailed, match="cannot split"):
        split_wide_vectors(WIDE.replace("  ret void", use + "\n  ret void"))


def test_private_arrays_are_as_aligned_as_a_whole_vector() -> None:
    assert "alloca [64 x i16], align 64" in align_private_memory(WIDE)


MEMREF = """define spir_kernel void @k(ptr addrspace(1) %A.allocated, ptr addrspace(1) %A, i64 %A.offset, \
i64 %A.size0, i64 %A.stride0, i64 %n) #0 {
  store i32 1, ptr addrspace(1) %A, align 4
  ret void
}
"""
ARGUMENTS = (KernelArgument("A", "i32", (None,), (None,)), KernelArgument("n", "index"))
POINTER, NUMBER = Parameter(0, Field.POINTER), Parameter(1, Field.VALUE)


def test_pointers_and_numbers_stay_parameters() -> None:
    text, parameters = keep_used_parameters(MEMREF, "k", ARGUMENTS)
    assert "@k(ptr addrspace(1) %A, i64 %n) #0 {" in text
    assert parameters == (POINTER, NUMBER)


def test_a_used_extent_stays_a_parameter() -> None:
    used = MEMREF.replace("store i32 1", "store i64 %A.size0")
    text, parameters = keep_used_parameters(used, "k", ARGUMENTS)
    assert "@k(ptr addrspace(1) %A, i64 %A.size0, i64 %n) #0 {" in text
    assert parameters == (POINTER, Parameter(0, Field.SIZE, 0), NUMBER)


def test_what_another_kernel_uses_is_not_kept() -> None:
    other = (
        "define spir_kernel void @other(i64 %A.size0) #0 {\n  store i64 %A.size0, ptr null, align 8\n  ret void\n}\n"
    )
    assert keep_used_parameters(MEMREF + other, "k", ARGUMENTS)[1] == (POINTER, NUMBER)


def test_the_allocated_pointer_is_not_given_by_a_launch() -> None:
    used = MEMREF.replace("1, ptr addrspace(1) %A", "1, ptr addrspace(1) %A.allocated")
    with pytest.raises(CompileFailed, match=r"uses %A\.allocated"):
        keep_used_parameters(used, "k", ARGUMENTS)


PRODUCT_AFTER_BRANCHES = (
    HEADER
    + """
define spir_kernel void @k(i1 %first, i32 %x, i32 %y, ptr addrspace(1) %C) {
  br i1 %first, label %left, label %right
left:
  %1 = mul i32 %x, %y
  store volatile i32 %1, ptr addrspace(1) %C, align 4
  br label %end
right:
  store volatile i32 7, ptr addrspace(1) %C, align 4
  br label %end
end:
  %2 = mul i32 %x, %y
  store volatile i32 %2, ptr addrspace(1) %C, align 4
  ret void
}
"""
)


def test_a_large_module_is_optimised_at_o1() -> None:
    stores = "\n".join(f"  store volatile i32 {n}, ptr addrspace(1) %C, align 4" for n in range(3000))
    large = (
        f"{PRODUCT_AFTER_BRANCHES}define spir_kernel void @large(ptr addrspace(1) %C) {{\n{stores}\n  ret void\n}}\n"
    )
    assert " phi i32 " in _optimised(PRODUCT_AFTER_BRANCHES)  # O2 takes the product of the branch
    kernel = _optimised(large).partition("@large")[0]
    assert kernel.count(" mul i32 ") == 2
    assert " phi i32 " not in kernel


def test_o1_folds_what_a_large_module_repeats() -> None:
    products = "\n".join(
        f"  %p{n} = mul i32 %x, %y\n  store volatile i32 %p{n}, ptr addrspace(1) %C, align 4" for n in range(3000)
    )
    text = _optimised(
        f"{HEADER}define spir_kernel void @k(i32 %x, i32 %y, ptr addrspace(1) %C) {{\n{products}\n  ret void\n}}\n"
    )
    assert text.count(" mul i32 ") == 1
    assert text.count("store volatile") == 3000


def test_arguments_that_do_not_alias_are_read_once() -> None:
    text = f"""{HEADER}define spir_kernel void @k(ptr addrspace(1) %A, ptr addrspace(1) %C) {{
  %1 = load i32, ptr addrspace(1) %A, align 4
  store i32 7, ptr addrspace(1) %C, align 4
  %2 = load i32, ptr addrspace(1) %A, align 4
  %3 = mul i32 %1, %2
  store i32 %3, ptr addrspace(1) %A, align 4
  ret void
}}
"""
    assert _optimised(text).count(" load ") == 2
    apart = optimise(text, {}, apart=["k"]).text
    assert apart.count(" load ") == 1
    assert "noalias" not in apart


def _optimised(text: str) -> str:
    return optimise(text, {}).text


@pytest.mark.slow
def test_metadata_is_numbered_alike_whatever_a_process_compiled_before() -> None:
    earlier = "define spir_kernel void @k() !intel_reqd_sub_group_size !0 { ret void }\n!0 = !{i32 16}"
    later = earlier.replace(" { ret", " !reqd_work_group_size !1 { ret") + "\n!1 = !{i32 64, i32 1, i32 1}"
    program = f"from codegen.xe.llvm import optimise\nfor code in {[earlier, later]}: print(optimise(code, {{}}).text)"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "!reqd_work_group_size !0 !intel_reqd_sub_group_size" in printed
