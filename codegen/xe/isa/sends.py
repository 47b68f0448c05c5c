"""Purpose of a message, from the disassembler's comment on its descriptor."""

import re
from enum import StrEnum

from codegen.xe.isa.instructions import Instruction

_READ = re.compile(r"\brd:(\d+)")
_CAPPED = 31  # the field has five bits: a block of 32 registers is given as 31


class SendKind(StrEnum):
    """Purpose of a message. The values are the fields of Sends."""

    LOAD = "loads"
    PREFETCH = "prefetches"
    STORE = "stores"
    ATOMIC = "atomics"
    SLM = "slm"
    SCRATCH = "scratch"  # spills and fills of registers
    BARRIER = "barriers"
    OTHER = "other"  # fences, end of thread


def is_send(instruction: Instruction) -> bool:
    """True for messages: send, sendc, sends."""
    return instruction.opcode.startswith("send")


def kind_of(send: Instruction) -> SendKind:
    """Return the purpose of a message; loads without a result are prefetches."""
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
    """Return the number of registers that a message fills."""
    found = _READ.search(send.note)
    count = int(found[1]) if found else 0
    return count + 1 if count == _CAPPED and "block2d" in send.note else count


def takes_arguments(send: Instruction) -> bool:
    """True if the message loads the kernel's arguments, which use a binding table."""
    return re.search(r"\.bti\b", send.note) is not None
