"""Compound operations of lanes become scalar instructions that LLVM accepts, and nothing is left of their calls."""

import re

import llvmlite.binding as llvm
import pytest

from codegen.errors import CompileFailed
from codegen.xe.llvm.compounds import expand_compounds

DECLARED = """
declare spir_func <4 x i32> @xetune.load.3.global_4xi64_4xi64_4xi32(ptr addrspace(1), <4 x i64>, <4 x i64>) #0
declare spir_func void @xetune.store.5.4xi32_global_4xi64_4xi1_i1(<4 x i32>, ptr addrspace(1), <4 x i64>, <4 x i1>, i1)
declare spir_func <2 x float> @xetune.exchange.1.2_4.f32(<2 x i32>, <4 x float>, i1, i32)

attributes #0 = { nounwind }
"""


def expanded(body: str, arguments: str) -> str:
    """The body of a function whose compounds are written out, which LLVM verified."""
    text = expand_compounds(f"define spir_kernel void @f({arguments}) {{\n{body}}}\n{DECLARED}")
    llvm.parse_assembly(text).verify()
    assert "xetune" not in text
    return text[text.index("{\n") + 2 : text.index("\n}\n")]


def test_elements_are_loaded_at_the_sum_of_their_offsets() -> None:
    body = """  %rows = insertelement <2 x i64> <i64 poison, i64 7>, i64 %row, i64 0
  %each = shufflevector <2 x i64> %rows, <2 x i64> poison, <4 x i32> <i32 0, i32 0, i32 1, i32 1>
  %loaded = call spir_func <4 x i32> @xetune.load.3.global_4xi64_4xi64_4xi32(ptr addrspace(1) nonnull %A, \
<4 x i64> %each, <4 x i64> <i64 0, i64 5, i64 0, i64 5>) #1
  %third = extractelement <4 x i32> %loaded, i64 2
  store i32 %third, ptr addrspace(1) %A, align 4
  ret void
"""
    lines = expanded(body, "ptr addrspace(1) %A, i64 %row").split("\n")
    assert [line.split(" = ")[-1].strip() for line in lines if "getelementptr" in line] == [
        "getelementptr i32, ptr addrspace(1) %A, i64 %row",
        f"getelementptr i32, ptr addrspace(1) {lines[0].split(' = ')[0].strip()}, i64 5",
        "getelementptr i32, ptr addrspace(1) %A, i64 7",
        "getelementptr i32, ptr addrspace(1) %lane.5, i64 5",
    ]
    loads = [line.split(" = ")[0].strip() for line in lines if " = load i32" in line]
    assert len(loads) == 4
    assert f"  store i32 {loads[2]}, ptr addrspace(1) %A, align 4" in lines
    assert not any(word in line for line in lines for word in ("insertelement", "shufflevector", "extractelement"))


def test_successive_stores_under_the_same_condition_share_a_branch() -> None:
    body = """  br i1 %c, label %stores, label %end

stores:
  %rows = insertelement <4 x i1> <i1 true, i1 true, i1 poison, i1 true>, i1 %c, i64 2
  call spir_func void @xetune.store.5.4xi32_global_4xi64_4xi1_i1(<4 x i32> %v, \
ptr addrspace(1) %A, <4 x i64> <i64 0, i64 1, i64 2, i64 9>, <4 x i1> %rows, i1 %d)
  br label %end

end:
  %from = phi i32 [ 1, %0 ], [ 2, %stores ]
  store i32 %from, ptr addrspace(1) %A, align 4
  ret void
"""
    text = expanded(body, "ptr addrspace(1) %A, <4 x i32> %v, i1 %c, i1 %d")
    assert len(re.findall(r"br i1 %lane", text)) == 3  # the first two elements, the third, the fourth
    assert re.findall(r"and i1 (\S+), (\S+)", text) == [("true", "%d"), ("%c", "%d"), ("true", "%d")]
    assert len(re.findall(r"store i32 %lane", text)) == 4
    (last,) = re.findall(r"\[ 2, %(\S+) \]", text)
    assert text.split(f"\n{last}:\n")[1].startswith("  br label %end")


def test_registers_that_are_used_whole_are_joined_also_by_a_phi_before_them() -> None:
    body = """  br label %loop

loop:
  %held = phi <2 x float> [ zeroinitializer, %0 ], [ %turned, %loop ]
  %wide = shufflevector <2 x float> %held, <2 x float> poison, <4 x i32> <i32 0, i32 1, i32 poison, i32 poison>
  %moved = call spir_func <2 x float> @xetune.exchange.1.2_4.f32(<2 x i32> <i32 1, i32 0>, <4 x float> %wide, \
i1 %upper, i32 128)
  %turned = shufflevector <2 x float> %moved, <2 x float> %moved, <2 x i32> <i32 1, i32 2>
  br i1 %upper, label %loop, label %end

end:
  store <2 x float> %held, ptr addrspace(1) %A, align 8
  ret void
"""
    lines = expanded(body, "ptr addrspace(1) %A, i1 %upper").split("\n")
    low, high = (line.split(" = ")[0].strip() for line in lines if " = extractelement <2 x float> %held" in line)
    (sent,) = (line for line in lines if f"select i1 %upper, float {low}, float {high}" in line)
    (call,) = (line for line in lines if "call" in line)
    got, sent = call.split(" = ")[0].strip(), sent.split(" = ")[0].strip()
    assert call.endswith(f"call spir_func float @_Z21sub_group_shuffle_xorfj(float {sent}, i32 4)")
    lower, higher = (line.split(" = ")[0].strip() for line in lines if "select" in line and got in line)
    assert [line.split(", float ")[-1] for line in lines if "insertelement" in line] == [
        f"{higher}, i64 0",
        f"{lower}, i64 1",
    ]


def test_words_that_are_taken_as_bytes_are_cast_one_by_one() -> None:
    body = """  %words = call spir_func <4 x i32> @xetune.load.3.global_4xi64_4xi64_4xi32(ptr addrspace(1) %A, \
<4 x i64> zeroinitializer, <4 x i64> <i64 0, i64 1, i64 2, i64 3>)
  %turned = shufflevector <4 x i32> %words, <4 x i32> poison, <2 x i32> <i32 3, i32 0>
  %bytes = bitcast <2 x i32> %turned to <8 x i8>
  store <8 x i8> %bytes, ptr addrspace(1) %A, align 8
  ret void
"""
    text = expanded(body, "ptr addrspace(1) %A")
    words = re.findall(r"(\S+) = load i32", text)
    assert re.findall(r"bitcast i32 (\S+) to <4 x i8>", text) == [words[3], words[0]]
    ((low, high, whole),) = re.findall(r"(\S+) = bitcast.*\n  (\S+) = bitcast.*\n  (\S+) = shufflevector", text)
    mask = ", ".join(f"i32 {at}" for at in range(8))
    assert f"{whole} = shufflevector <4 x i8> {low}, <4 x i8> {high}, <8 x i32> <{mask}>" in text
    assert f"store <8 x i8> {whole}, ptr" in text
    assert "insertelement" not in text


def test_arguments_may_be_constants_and_have_attributes() -> None:
    text = expand_compounds("""@slm = internal addrspace(3) global [64 x i32] undef

define void @f(ptr addrspace(3) %A, i64 %x) {
  call spir_func void @xetune.store.3.2xi32_local_2xi64(<2 x i32> <i32 8, i32 9>, \
ptr addrspace(3) getelementptr inbounds nuw (i8, ptr addrspace(3) @slm, i64 4), <2 x i64> splat (i64 5))
  call spir_func void @xetune.store.3.i32_local_i64(i32 7, ptr addrspace(3) nonnull align 4 captures(none) %A, \
i64 range(i64 0, 5) %x)
  ret void
}
""")
    llvm.parse_assembly(text).verify()
    assert re.findall(r"getelementptr i32, ptr addrspace\(3\) (.*)", text) == [
        "getelementptr inbounds nuw (i8, ptr addrspace(3) @slm, i64 4), i64 5",
        "%A, i64 %x",
    ]
    assert re.findall(r"store i32 (\d)", text) == ["8", "9", "7"]


def test_arguments_of_another_form_are_refused() -> None:
    with pytest.raises(CompileFailed, match="expected arguments of a compound, got ptr %A, i64 !x"):
        expand_compounds("define void @f(ptr %A) {\n  call void @xetune.store.2.x(ptr %A, i64 !x)\n}\n")


def test_a_call_of_another_form_is_refused() -> None:
    with pytest.raises(CompileFailed, match="expected a call of a compound, got invoke"):
        expand_compounds("define void @f() {\n  invoke void @xetune.store.5.x()\n}\n")
