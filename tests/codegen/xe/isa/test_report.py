"""Reports count what is in recorded code: facts, messages by kind, moves, and where the K loop is."""

from dataclasses import replace

import pytest

from codegen.errors import CompileFailed
from codegen.xe.isa.loops import (
    Sends,
    k_loop_of,
    without_padding,
)
from codegen.xe.isa.ocloc import Disassembly
from codegen.xe.isa.report import reports_of
from codegen.xe.isa.sends import (
    SendKind,
    kind_of,
    read_registers,
    takes_arguments,
)
from codegen.xe.machine import Instruction, parse_listing
from codegen.xe.machine.pipeline import rates_of
from tests.codegen.xe.isa.recordings import RECORDED, recorded
from tests.codegen.xe.machine.message_notes import note_of

GRF_BYTES = 64
RATES = rates_of("bmg", GRF_BYTES)
NONE = Sends(0, 0, 0, 0, 0, 0, 0, 0)


def instructions_of(text: str) -> tuple[Instruction, ...]:
    return parse_listing("k", text).instructions


MESSAGES = {
    note_of(send.message).partition("[")[0]: send
    for send in instructions_of((RECORDED / "messages.asm").read_text())
    if send.message is not None
}


def test_a_loop_is_counted_from_where_it_begins_to_where_it_goes_back() -> None:
    (report,) = reports_of(recorded("loop_bmg"), RATES)
    assert (report.kernel, report.grf_count, report.threads_per_eu) == ("gemm", 128, 8)
    assert (report.spill_bytes, report.slm_bytes, report.instructions) == (0, 0, 148)
    loop = report.k_loop
    assert loop is not None
    assert loop.is_loop
    assert loop.dpas == 8
    assert loop.sends == replace(NONE, loads=8, prefetches=4, barriers=5, other=8)
    assert (loop.alu, loop.moves, loop.scalar_moves, loop.barriers) == (52, 46, 32, 5)
    assert (loop.sends_per_256_dpas, loop.moves_per_256_dpas) == (256 * 25 / 8, 256 * 46 / 8)
    # Four blocks each of A, which fill 8 registers, and of B, which fill 16.
    assert loop.loaded_bytes == 4 * (8 + 16) * GRF_BYTES


def test_code_without_a_loop_is_counted_from_its_first_operands_to_its_last_dpas() -> None:
    (report,) = reports_of(recorded("straight_pvc"), RATES)
    loop = report.k_loop
    assert loop is not None
    assert not loop.is_loop
    # 64 of K in steps of 32: two blocks of A (32x32) and of B (32x16), and 8 products of 8x16x16 for each.
    assert (loop.dpas, loop.sends) == (16, replace(NONE, loads=4))
    assert loop.loaded_bytes == 2 * (32 * 32 + 32 * 16) * 2
    assert loop.loaded_bytes_per_dpas == 384


def test_spills_are_facts_of_the_compiler() -> None:
    info = (RECORDED / "spill_pvc.ze_info").read_text()
    (report,) = reports_of(Disassembly(info, {"gemm": ""}), RATES)
    assert (report.spill_bytes, report.k_loop) == (9728, None)


@pytest.mark.parametrize(
    ("note", "kind", "registers"),
    [
        ("load_block2d.ugm.d16v.a64", SendKind.LOAD, 32),
        ("load_block2d.ugm.d32t.a64", SendKind.LOAD, 8),
        ("load.ugm.d32.a64", SendKind.LOAD, 1),
        ("load_block2d.ugm.d16.a64.ca.ca", SendKind.PREFETCH, 0),
        ("load_block2d.ugm.d16.a64.uc.ca", SendKind.PREFETCH, 0),
        ("store_block2d.ugm.d32.a64", SendKind.STORE, 0),
        ("store.ugm.d32.a64", SendKind.STORE, 0),
        ("atomic_fadd.ugm.d32.a64", SendKind.ATOMIC, 0),
        ("load.slm.d32x4.a32.flat", SendKind.SLM, 4),
        ("store.slm.d32x16t.a32", SendKind.SLM, 0),
        ("load.ugm.d32x64t.a32.ss", SendKind.SCRATCH, 4),
        ("store.ugm.d32x16t.a32.ss", SendKind.SCRATCH, 0),
        ("hword scratch block read x8", SendKind.SCRATCH, 4),
        ("signal barrier", SendKind.BARRIER, 0),
        ("fence.slm.none.group", SendKind.OTHER, 1),
        ("end of thread", SendKind.OTHER, 0),
    ],
)
def test_a_message_is_what_the_disassembler_says_of_its_descriptor(note: str, kind: SendKind, registers: int) -> None:
    send = MESSAGES[note]
    assert (kind_of(send), read_registers(send)) == (kind, registers)


def test_arguments_are_no_operands() -> None:
    assert [note for note, send in MESSAGES.items() if takes_arguments(send)] == [
        "load.ugm.d32x16t.a32.ca.ca.bti",
        "load.ugm.d32x8t.a32.ca.ca.bti",
        "load.ugm.d32x8t.a32.ca.cc.bti",
    ]


NESTED = """\
L0:
        mov (16|M0)  r9.0<1>:f  0.0:f
L16:
        dpas.8x8 (16|M0)  r1:f  r1:f  r2:hf  r3.0:hf
L32:
        dpas.8x8 (16|M0)  r1:f  r1:f  r2:hf  r3.0:hf
        dpas.8x8 (16|M0)  r1:f  r1:f  r2:hf  r3.0:hf
(W)     mov (1|M0)  r9.0<1>:f  0.0:f
(W&f0.0) jmpi  L144
(W&f0.1) jmpi  L32
(~f0.0) goto (16|M0)  L144  L144
(W)     jmpi  L32
L144:
(W)     jmpi  L16
L160:
        dpas.8x8 (16|M0)  r1:f  r1:f  r2:hf  r3.0:hf
        illegal
"""


def test_the_k_loop_is_the_innermost_loop_through_its_last_way_back() -> None:
    loop = k_loop_of(instructions_of(NESTED), GRF_BYTES)
    assert loop is not None
    assert (loop.is_loop, loop.dpas, loop.moves, loop.scalar_moves) == (True, 2, 1, 1)


def test_code_without_dpas_has_no_k_loop() -> None:
    assert k_loop_of(instructions_of(NESTED.replace("dpas.8x8", "mad")), GRF_BYTES) is None


@pytest.mark.parametrize(
    ("info", "message"),
    [
        ("kernels: [", "expected .ze_info in YAML"),
        ("version: 1", "expected kernels in .ze_info, got none"),
        ("- 1", "expected kernels in .ze_info, got none"),
        (
            "kernels: [{name: other, execution_env: {grf_count: 128}}]",
            r"expected the code of kernel other, got that of",
        ),
    ],
)
def test_output_that_is_not_as_expected_is_told(info: str, message: str) -> None:
    with pytest.raises(CompileFailed, match=message):
        reports_of(Disassembly(info, {"gemm": ""}), RATES)


def test_the_dpas_that_begins_a_sequence_on_dg2_multiplies_nothing() -> None:
    text = """
        dpas.8x8 (8|M0)          r235:f        null:f            r235:hf          r235.0:hf        {Atomic}
        dpas.8x8 (8|M0)          r235:f        r235:f            r31:hf           r22.0:hf         {$14}
        dpas.8x8 (8|M0)          r40:f         null:f            r31:hf           r22.0:hf         {$14}
    """
    assert len(without_padding(instructions_of(text))) == 2


def test_an_instruction_that_is_not_known_is_told_and_nothing_is_counted() -> None:
    recording = recorded("loop_bmg")
    unknown = {name: f"foo (1|M0)\n{text}" for name, text in recording.assembly.items()}
    (report,) = reports_of(replace(recording, assembly=unknown), RATES)
    assert report.unread is not None
    assert "opcode foo" in report.unread
    assert (report.instructions, report.k_loop, report.pipeline, report.grf_count) == (None, None, None, 128)
