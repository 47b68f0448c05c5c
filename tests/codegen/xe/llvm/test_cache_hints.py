"""Cache hints stay with the access that has them, as the SPIR-V says it."""

import re
from collections import defaultdict

import numpy as np
import pytest

from codegen.simulate import run_kernel
from codegen.target import target_of
from codegen.xe.isa import compile_native
from codegen.xe.llvm.cache_hints import separate_cache_hints
from codegen.xe.spirv import emit_spirv
from hal import find
from hal.spirv.words import instructions, text_of
from tests.codegen.xe.isa.fake_ocloc import real_ocloc

PREFETCH = "_Z45intel_sub_group_2d_block_prefetch_16b_8r16x1cPU3AS1viiiDv2_i"
READ = "_Z41intel_sub_group_2d_block_read_16b_8r16x1cPU3AS1viiiDv2_iPt"
ANNOTATION = "@llvm.ptr.annotation.p1.p1"
REST = "ptr addrspace(1) @.str.file.0, i32 0, ptr addrspace(1) null)"

# A prefetch with one hint, a load without any, and one with another.
HINTED = f"""
target triple = "spirv64-unknown-unknown"
@l1.uncached = private unnamed_addr addrspace(1) constant [13 x i8] c"{{6442:\\220,0\\22}}\\00", section "llvm.metadata"
@l3.cached = private unnamed_addr addrspace(1) constant [13 x i8] c"{{6442:\\221,1\\22}}\\00", section "llvm.metadata"
@l1.streams = private unnamed_addr addrspace(1) constant [13 x i8] c"{{6442:\\220,2\\22}}\\00", section "llvm.metadata"
@.str.file.0 = private unnamed_addr addrspace(1) constant [1 x i8] zeroinitializer, section "llvm.metadata"

declare spir_func void @{PREFETCH}(ptr addrspace(1), i32, i32, i32, <2 x i32>)
declare spir_func void @{READ}(ptr addrspace(1), i32, i32, i32, <2 x i32>, ptr)
declare spir_func i32 @_Z22get_sub_group_local_id()
declare ptr addrspace(1) {ANNOTATION}(ptr addrspace(1), ptr addrspace(1), ptr addrspace(1), i32, ptr addrspace(1))

define spir_kernel void @k(ptr addrspace(1) %A, ptr addrspace(1) %C) {{
  %1 = tail call ptr addrspace(1) {ANNOTATION}(ptr addrspace(1) nonnull %A, ptr addrspace(1) @l1.uncached, {REST}
  %2 = tail call ptr addrspace(1) {ANNOTATION}(ptr addrspace(1) %1, ptr addrspace(1) @l3.cached, {REST}
  tail call spir_func void @{PREFETCH}(ptr addrspace(1) %2, i32 128, i32 64, i32 128, <2 x i32> <i32 0, i32 8>)
  %3 = alloca [8 x i16], align 64
  call spir_func void @{READ}(ptr addrspace(1) %A, i32 128, i32 64, i32 128, <2 x i32> zeroinitializer, ptr %3)
  %4 = load i16, ptr %3, align 64
  %5 = call ptr addrspace(1) {ANNOTATION}(ptr addrspace(1) %A, ptr addrspace(1) @l1.streams, {REST}
  %6 = alloca [8 x i16], align 64
  call spir_func void @{READ}(ptr addrspace(1) %5, i32 128, i32 64, i32 128, <2 x i32> <i32 0, i32 8>, ptr %6)
  %7 = load i16, ptr %6, align 64
  %8 = add i16 %4, %7
  %9 = call spir_func i32 @_Z22get_sub_group_local_id()
  %10 = getelementptr i16, ptr addrspace(1) %C, i32 %9
  store i16 %8, ptr addrspace(1) %10, align 2
  ret void
}}
"""

LOAD_CONTROL, DECORATE, GROUP_DECORATE, LINKAGE = 6442, 71, 74, 41
CALL, BITCAST = 57, 124
Hints = set[tuple[int, int]]


def _hints(text: str) -> list[tuple[str, Hints]]:
    """For each call of a block function in the SPIR-V: which, and the (level, control) of the pointer it is given."""
    names: dict[int, str] = {}
    decorations: defaultdict[int, Hints] = defaultdict(set)
    origin: dict[int, int] = {}
    calls: list[tuple[int, int]] = []
    for opcode, operands in instructions(emit_spirv(text)):
        if opcode == DECORATE and operands[1] == LINKAGE:
            names[operands[0]] = text_of(operands[2:])
        elif opcode == DECORATE and operands[1] == LOAD_CONTROL:
            decorations[operands[0]].add((operands[2], operands[3]))
        elif opcode == GROUP_DECORATE:
            for pointer in operands[1:]:
                decorations[pointer] |= decorations[operands[0]]
        elif opcode == BITCAST:
            origin[operands[1]] = operands[2]
        elif opcode == CALL:
            calls.append((operands[2], operands[3] if len(operands) > 3 else 0))
    out: list[tuple[str, Hints]] = []
    for function, pointer in calls:
        hints = set(decorations[pointer])
        while pointer in origin:
            pointer = origin[pointer]
            hints |= decorations[pointer]
        if "2d_block" in names[function]:
            out.append((re.sub(r".*2d_block_(\w+?)_.*", r"\1", names[function]), hints))
    return out


def test_spirv_mixes_the_hints_of_all_accesses_of_a_matrix() -> None:
    """The fault: all are on the one pointer, two of them for the same cache."""
    everything = {(0, 0), (1, 1), (0, 2)}
    assert _hints(HINTED) == [("prefetch", everything), ("read", everything), ("read", everything)]


def test_each_access_has_its_own_hints() -> None:
    separated = separate_cache_hints(HINTED)
    assert _hints(separated) == [("prefetch", {(0, 0), (1, 1)}), ("read", set()), ("read", {(0, 2)})]


@pytest.mark.parametrize("text", [HINTED, separate_cache_hints(HINTED)], ids=["as it is", "separated"])
def test_hints_change_no_numbers(text: str) -> None:
    a, c = np.arange(64 * 64, dtype=np.int16).reshape(64, 64), np.zeros(16, np.int16)
    run_kernel(text, "k", (1, 1, 1), (16, 1, 1), [a, c])
    np.testing.assert_array_equal(c, a[0, :16] + a[8, :16])


def test_text_without_hints_is_left_alone() -> None:
    plain = re.sub(r"^ .*annotation.*\n", "", HINTED, flags=re.MULTILINE)
    assert separate_cache_hints(plain) == plain


@pytest.mark.slow  # 0.5 s of CPU: Intel's compiler
@pytest.mark.parametrize("gpu", ["b580", "max1550"])
def test_intels_compiler_takes_both_levels_of_a_hint(gpu: str) -> None:
    """L1 and L3 in what it disassembles to: uncached, cached, streaming."""
    kernel = separate_cache_hints(HINTED).replace("%C) {", "%C) !intel_reqd_sub_group_size !0 {")
    code = compile_native(real_ocloc(), emit_spirv(f"{kernel}!0 = !{{i32 16}}\n"), target_of(find(gpu)))
    loads = re.findall(r"load_block2d\.ugm\.d16\.a64((?:\.(?:uc|ca|st))*)", code.assembly)
    assert sorted(loads) == sorted((".uc.ca", "", ".st.ca"))
