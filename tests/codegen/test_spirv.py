"""SPIR-V from LLVM IR: the same text gives the same valid module, whatever was emitted before."""

import struct
from pathlib import Path

import pytest

from codegen import CompileFailed
from codegen.emulate import emulate
from codegen.spirv import emit_spirv

TEXTS = [path.read_text() for path in sorted((Path(__file__).parent / "fixtures").glob("*.ll"))]
HEADER_WORDS = 5
MAGIC = 0x07230203
LABEL = 248
RESULT_FIRST = {7, 11, *range(19, 39), LABEL}  # names, imports, types; others with a result have its type first
NO_RESULT = {*range(3, 7), 10, *range(14, 18), 56, 62, 64, 71, 72, 224, 225, 246, 247, *range(249, 258)}


def result_ids(spirv: bytes) -> list[int]:
    """The ids that labels and typed instructions define."""
    words = struct.unpack(f"<{len(spirv) // 4}I", spirv)
    assert words[0] == MAGIC
    ids: list[int] = []
    at = HEADER_WORDS
    while at < len(words):
        opcode, length = words[at] & 0xFFFF, words[at] >> 16
        if opcode in RESULT_FIRST:
            ids.append(words[at + 1])
        elif opcode not in NO_RESULT and length > 2:
            ids.append(words[at + 2])
        at += length
    return ids


def test_emission_does_not_depend_on_what_was_emitted_before() -> None:
    texts = [emulate(text) for text in TEXTS]
    first = [emit_spirv(text) for text in texts]
    assert [emit_spirv(text) for text in reversed(texts)] == first[::-1]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_no_id_is_defined_twice(text: str) -> None:
    ids = result_ids(emit_spirv(emulate(text)))
    assert len(ids) > 100
    assert len(set(ids)) == len(ids)


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
