"""Registers of messages that the scalar register s0 lists, as compilers write them for Xe3.

    (W) mov (1|M0)       s0.0<1>:uq    0xD0C0B0624:uq
        send.slm (16|M0) null  r[s0.0]  0x0  0x0A003504

Each byte of s0, from that which the message names, is the number of a register: r36 of addresses, then r6, r11, r12 and
r13 of data. Lists are known where moves of numbers in the same block write them.

Source: intel-graphics-compiler, visa/Passes/SRSubstitution.cpp, and the disassembler.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from codegen.xe.machine.instruction import Instruction
from codegen.xe.machine.messages import MemoryMessage
from codegen.xe.machine.operands import DataType, Immediate, Register, RegisterFile
from codegen.xe.machine.refusal import MachineCodeRefused

_REGISTER_BYTES = 64  # of all architectures with s0


def gathered(instructions: Sequence[Instruction], entries: frozenset[int]) -> Iterator[Instruction]:
    """Yield instructions, those whose message names s0 with its registers. `entries` are the numbers of labels.

    Raises:
        MachineCodeRefused: a message whose list is not known.
    """
    listed: dict[int, int] = {}
    for number, i in enumerate(instructions):
        if number in entries:
            listed = {}
        to = i.destination
        if isinstance(to, Register) and to.file is RegisterFile.SCALAR:
            listed = _written(i, to, listed)
        yield _with_registers(i, listed) if _is_gathered(i) else i


def writes_a_list(i: Instruction) -> bool:
    """Return whether an instruction writes s0, which only messages read: their registers are known without it."""
    return isinstance(i.destination, Register) and i.destination.file is RegisterFile.SCALAR


def _is_gathered(i: Instruction) -> bool:
    return i.payload is not None and i.payload.address.file is RegisterFile.SCALAR


def _written(i: Instruction, to: Register, listed: dict[int, int]) -> dict[int, int]:
    """Return the bytes of s0 after a move of a number to it; none after anything else."""
    is_plain = i.opcode == "mov" and i.no_mask and i.predicate is None and i.size == 1 and not i.saturate
    (source, *_) = i.sources
    if not is_plain or to.type is None or not isinstance(source, Immediate) or source.type is not to.type:
        return {}
    if to.type not in (DataType.UQ, DataType.UD, DataType.UW, DataType.UB):
        return {}
    content, first = source.bits.to_bytes(to.type.nbytes, "little"), to.sub * to.type.nbytes
    return listed | {first + place: byte for place, byte in enumerate(content)}


def _with_registers(i: Instruction, listed: dict[int, int]) -> Instruction:
    assert i.payload is not None
    p, m = i.payload, i.message
    places = range(p.address.sub, p.address.sub + p.address_count)
    where = f"{i.line}: {i.text}"
    if not isinstance(m, MemoryMessage) or m.access.is_block_2d or m.transposed or p.data_count:
        raise MachineCodeRefused(where, "not known: a message of this kind with its registers in s0")
    if not listed.keys() >= set(places):
        raise MachineCodeRefused(where, "not known: registers of a message in s0 that no number in its block lists")
    numbers = tuple(listed[place] for place in places)
    addresses = -(-i.size * m.address_bits // 8 // _REGISTER_BYTES)
    address, data = Register(RegisterFile.GRF, numbers[0]), Register(RegisterFile.NULL)
    if len(numbers) > addresses:
        data = Register(RegisterFile.GRF, numbers[addresses])
    return replace(
        i,
        payload=replace(
            p,
            address=address,
            address_count=addresses,
            data=data,
            data_count=len(numbers) - addresses,
            gathered=numbers,
        ),
    )
