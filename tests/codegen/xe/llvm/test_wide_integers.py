"""Parts of vectors are taken by shuffles, not as integers that SPIR-V lacks."""

import llvmlite.binding as llvm
import pytest

from codegen.xe.llvm.wide_integers import take_parts_by_shuffles
from codegen.xe.spirv import emit_spirv

KERNEL = """target triple = "spirv64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %C) {{
  %1 = load <16 x i16>, ptr addrspace(1) %C, align 2
  %bc = bitcast <16 x i16> %1 to <2 x i128>
  %2 = extractelement <2 x i128> %bc, i64 1
  %3 = bitcast i128 %2 to {type}
  store {type} %3, ptr addrspace(1) %C, align 2
  ret void
}}
"""
UPPER = (
    "shufflevector <16 x i16> %1, <16 x i16> poison, "
    "<8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>"
)


@pytest.mark.parametrize(
    ("type_", "lines"),
    [
        ("<8 x i16>", f"  %3 = {UPPER}\n"),
        ("<4 x float>", f"  %part.3 = {UPPER}\n  %3 = bitcast <8 x i16> %part.3 to <4 x float>\n"),
    ],
)
def test_a_part_is_a_shuffle(type_: str, lines: str) -> None:
    text = take_parts_by_shuffles(KERNEL.format(type=type_))
    llvm.parse_assembly(text).verify()
    assert lines in text
    assert "i128" not in text
    assert emit_spirv(text)[:4] == b"\x03\x02\x23\x07"


def test_text_without_wide_integers_is_left_alone() -> None:
    other = KERNEL.format(type="<8 x i16>").replace("i128", "i64")
    assert take_parts_by_shuffles(other) is other


def test_a_wide_integer_with_another_use_stays() -> None:
    text = KERNEL.format(type="<8 x i16>").replace("  ret", "  %4 = add i128 %2, 1\n  ret")
    assert "%2 = extractelement <2 x i128> %bc, i64 1" in take_parts_by_shuffles(text)
