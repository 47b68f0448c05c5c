"""Parts of vectors that LLVM takes as integers too wide for SPIR-V are vectors."""

import llvmlite.binding as llvm
import pytest

from codegen.xe.llvm.wide_integers import take_parts_as_vectors
from codegen.xe.spirv import emit_spirv

KERNEL = """target triple = "spirv64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %C) {
  %1 = load <16 x i16>, ptr addrspace(1) %C, align 2
  %bc = bitcast <16 x i16> %1 to <2 x i128>
  %2 = extractelement <2 x i128> %bc, i64 1
  USE
  ret void
}
"""
BACK = "%3 = bitcast i128 %2 to TYPE\n  store TYPE %3, ptr addrspace(1) %C, align 2"
UPPER = (
    "  %2 = shufflevector <16 x i16> %1, <16 x i16> poison, "
    "<8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>\n"
)


@pytest.mark.parametrize(
    ("use", "line"),
    [
        (BACK.replace("TYPE", "<8 x i16>"), "  store <8 x i16> %2, ptr addrspace(1) %C, align 2\n"),
        (BACK.replace("TYPE", "<4 x float>"), "  %3 = bitcast <8 x i16> %2 to <4 x float>\n"),
        ("store i128 %2, ptr addrspace(1) %C, align 2", "  store <8 x i16> %2, ptr addrspace(1) %C, align 2\n"),
    ],
)
def test_a_part_is_a_vector(use: str, line: str) -> None:
    text = take_parts_as_vectors(KERNEL.replace("USE", use))
    llvm.parse_assembly(text).verify()
    assert UPPER in text
    assert line in text
    assert "i128" not in text
    assert emit_spirv(text)[:4] == b"\x03\x02\x23\x07"


def test_text_without_wide_integers_is_left_alone() -> None:
    other = KERNEL.replace("USE", BACK.replace("TYPE", "<4 x i16>")).replace("i128", "i64")
    assert take_parts_as_vectors(other) is other
