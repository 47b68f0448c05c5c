"""Purpose of a message."""

from enum import StrEnum

from codegen.xe.machine.instruction import Instruction
from codegen.xe.machine.messages import (
    AddressModel,
    GatewayMessage,
    GatewayOperation,
    MemoryMessage,
    ScratchMessage,
    SharedFunction,
)

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


def kind_of(send: Instruction) -> SendKind:
    """Return the purpose of a message; loads without a result are prefetches."""
    match send.message:
        case MemoryMessage(model=AddressModel.SURFACE) | ScratchMessage():
            return SendKind.SCRATCH
        case MemoryMessage(function=SharedFunction.SLM):
            return SendKind.SLM
        case MemoryMessage(access=access) if access.is_load:
            return SendKind.LOAD if read_registers(send) else SendKind.PREFETCH
        case MemoryMessage(access=access):
            return SendKind.STORE if access.is_store else SendKind.ATOMIC
        case GatewayMessage(GatewayOperation.BARRIER):
            return SendKind.BARRIER
        case _:
            return SendKind.OTHER


def read_registers(send: Instruction) -> int:
    """Return the number of registers that a message fills."""
    count = 0 if send.payload is None else send.payload.destination_count
    is_block = isinstance(send.message, MemoryMessage) and send.message.access.is_block_2d
    return count + 1 if count == _CAPPED and is_block else count


def takes_arguments(send: Instruction) -> bool:
    """True if the message loads the kernel's arguments, which use a binding table."""
    return isinstance(send.message, MemoryMessage) and send.message.model is AddressModel.BINDING_TABLE
