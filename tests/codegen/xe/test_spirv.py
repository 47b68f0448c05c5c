"""SPIR-V from LLVM IR: the same text gives the same valid module, whatever was emitted before it."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from codegen import CompileFailed
from codegen.emulate import emulate
from codegen.workers.fork import in_fork
from codegen.workers.own_heaps import OwnHeaps
from codegen.xe.spirv import emit_spirv, target_machine
from codegen.xe.spirv_check import check_spirv

LABEL, IADD = 248, 128
TEXTS = [path.read_text() for path in sorted((Path(__file__).parent / "fixtures").glob("*.ll"))]


def opcodes(words: array[int]) -> Iterator[tuple[int, int]]:
    """Yield the position and opcode of each instruction."""
    at = 5
    while at < len(words):
        yield at, words[at] & 0xFFFF
        at += words[at] >> 16


def test_emission_does_not_depend_on_what_was_emitted_before() -> None:
    texts = [emulate(text) for text in TEXTS]
    first = [emit_spirv(text) for text in texts]
    assert [emit_spirv(text) for text in reversed(texts)] == first[::-1]


@pytest.mark.slow
def test_a_process_emits_many_modules_from_heaps_of_their_own() -> None:
    """In memory that earlier modules had, LLVM gives blocks the ids of others from the second or third round on."""
    texts = [*TEXTS, *(emulate(text) for text in TEXTS)]
    alone = [in_fork("spirv", "LLVM", partial(emit, text), 60) for text in texts]

    def many() -> bytes:
        heaps = OwnHeaps()
        return b"".join(heaps.thread().submit(emit, text).result() for text in texts * 4)

    assert in_fork("spirv", "LLVM", many, 60) == b"".join(alone * 4)


def emit(text: str) -> bytes:
    """Emit a module in this process."""
    module = llvm.parse_assembly(text, llvm.create_context())
    return target_machine().emit_object(module)


def test_a_truncation_behind_wide_arithmetic_is_kept() -> None:
    """With optimisation on, LLVM's target emits 32-bit arithmetic on the 64-bit value."""
    text = """define spir_kernel void @k(ptr addrspace(1) %p) {
  %id = call spir_func i32 @_Z16get_sub_group_id()
  %wide = zext i32 %id to i64
  %shifted = shl nuw nsw i64 %wide, 3
  %part = and i64 %shifted, 248
  %group = call spir_func i64 @_Z12get_group_idj(i32 1)
  %base = shl i64 %group, 8
  %row = or disjoint i64 %part, %base
  %narrow = trunc i64 %row to i32
  %again = and i64 %shifted, 224
  %row2 = or disjoint i64 %again, %base
  %narrow2 = trunc i64 %row2 to i32
  store i32 %narrow, ptr addrspace(1) %p, align 4
  %q = getelementptr i8, ptr addrspace(1) %p, i64 8
  store i32 %narrow2, ptr addrspace(1) %q, align 4
  %masked = and i64 %wide, 24
  %n3 = trunc nuw nsw i64 %masked to i32
  %n4 = or disjoint i32 %n3, 32
  %r = getelementptr i8, ptr addrspace(1) %p, i64 16
  store i32 %n4, ptr addrspace(1) %r, align 4
  br label %loop
loop:
  %i = phi i64 [ 96, %0 ], [ %j, %loop ]
  %x = or disjoint i64 %i, %masked
  %y = trunc i64 %x to i32
  store i32 %y, ptr addrspace(1) %r, align 4
  %j = add i64 %i, 32
  %c = icmp ult i64 %j, 512
  br i1 %c, label %loop, label %end
end:
  ret void
}
declare spir_func i32 @_Z16get_sub_group_id()
declare spir_func i64 @_Z12get_group_idj(i32)"""
    check_spirv(emit_spirv(text))


def test_an_id_of_two_values_is_found() -> None:
    words = array("I", emit_spirv(TEXTS[0]))
    labels = [at for at, opcode in opcodes(words) if opcode == LABEL]
    words[labels[1] + 1] = words[labels[0] + 1]
    with pytest.raises(CompileFailed, match="to two values"):
        check_spirv(words.tobytes())


def test_arithmetic_of_two_types_is_found() -> None:
    words = array("I", emit_spirv(TEXTS[0]))
    additions = [at for at, opcode in opcodes(words) if opcode == IADD]
    kinds = {words[at + 1] for at in additions}
    assert len(kinds) > 1, "the stored kernel adds in one type only"
    other = next(at for at in additions if words[at + 1] != words[additions[0] + 1])
    words[additions[0] + 3] = words[other + 2]
    with pytest.raises(CompileFailed, match="mixed types"):
        check_spirv(words.tobytes())


@pytest.mark.parametrize("cut", [0, 3, 8, -4])
def test_bytes_that_are_no_module_are_refused(cut: int) -> None:
    with pytest.raises(CompileFailed):
        check_spirv(emit_spirv(TEXTS[0])[:cut] if cut >= 0 else b"\0" * 4 + emit_spirv(TEXTS[0])[4:])


def test_text_that_llvm_refuses_is_a_typed_failure() -> None:
    with pytest.raises(CompileFailed, match="expected type") as caught:
        emit_spirv("define garbage")
    assert caught.value.stage == "spirv"


def test_an_error_that_ends_llvm_is_a_typed_failure_with_what_it_printed() -> None:
    wide = """define spir_kernel void @k(ptr addrspace(1) %p) {
  %x = load <32 x float>, ptr addrspace(1) %p
  %y = fadd <32 x float> %x, %x
  store <32 x float> %y, ptr addrspace(1) %p
  ret void
}"""
    with pytest.raises(CompileFailed, match="LLVM ERROR: unable to legalize"):
        emit_spirv(wide)


def test_bf16_is_converted_without_a_type() -> None:
    text = """define spir_kernel void @k(ptr addrspace(1) %p) {
  %x = load <8 x float>, ptr addrspace(1) %p
  %y = call spir_func <8 x i16> @_Z27__spirv_ConvertFToBF16INTELDv8_f(<8 x float> %x)
  store <8 x i16> %y, ptr addrspace(1) %p
  ret void
}
declare spir_func <8 x i16> @_Z27__spirv_ConvertFToBF16INTELDv8_f(<8 x float>)"""
    spirv = emit_spirv(text)
    assert b"SPV_INTEL_bfloat16_conversion" in spirv
    assert b"SPV_KHR_bfloat16" not in spirv
    assert b"ConvertFToBF16" not in spirv, "it is an instruction, not a function"
