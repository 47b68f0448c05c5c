"""What a message is for, read from what the disassembler says of its descriptor."""

import re
from enum import StrEnum

from codegen.xe.isa.instructions import Instruction

_READ = re.compile(r"\brd:(\d+)")
_CAPPED = 31  # the field has five bits: a block of 32 registers says 31


class SendKind(StrEnum):
    """What a message does. The values are the fields of Sends."""

    LOAD = "loads"
    PREFETCH = "prefetches"
    STORE = "stores"
    ATOMIC = "atomics"
    SLM = "slm"
    SCRATCH = "scratch"  # registers that are spilled, and read back
    BARRIER = "barriers"
    OTHER = "other"  # fences, the end of the thread


def is_send(instruction: Instruction) -> bool:
    """Whether it is a message: send, sendc, sends."""
    return instruction.opcode.startswith("send")


def kind_of(send: Instruction) -> SendKind:
    """What a message does; those that load and give nothing back are prefetches."""
    what = send.note.rpartition(";")[2].strip()  # "wr:1+0, rd:31; load_block2d.ugm.d16.a64"
    if "scratch" in what or re.search(r"\.ss\b", what):
        return SendKind.SCRATCH
    if what.startswith("signal barrier"):
        return SendKind.BARRIER
    if what.startswith("fence"):
        return SendKind.OTHER
    if send.variant.startswith("slm") or ".slm." in what:
        return SendKind.SLM
    if what.startswith("load"):
        return SendKind.LOAD if read_registers(send) else SendKind.PREFETCH
    if what.startswith("store"):
        return SendKind.STORE
    return SendKind.ATOMIC if what.startswith("atomic") else SendKind.OTHER


def read_registers(send: Instruction) -> int:
    """Registers that a message fills."""
    found = _READ.search(send.note)
    count = int(found[1]) if found else 0
    return count + 1 if count == _CAPPED and "block2d" in send.note else count


def takes_arguments(send: Instruction) -> bool:
    """Whether it loads the kernel's arguments, which a binding table reaches."""
    return re.search(r"\.bti\b", send.note) is not None
