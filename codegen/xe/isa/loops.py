"""The K loop of a kernel, and the instruction counts of one iteration."""

from collections import Counter
from dataclasses import dataclass, fields

from codegen.xe.isa.sends import (
    SendKind,
    kind_of,
    read_registers,
    takes_arguments,
)
from codegen.xe.machine.instruction import Instruction
from codegen.xe.machine.k_loop import find_k_loop
from codegen.xe.machine.pipeline.loop import is_dpas, is_void

_PER = 256  # DPAS to which counts are normalised
_NOT_ALU = ("dpas", "dpasw", "sync", "nop")
_FETCHES = (SendKind.LOAD, SendKind.PREFETCH, SendKind.SLM)


@dataclass(frozen=True, slots=True)
class Sends:
    """Number of messages by purpose."""

    loads: int
    prefetches: int
    stores: int
    atomics: int
    slm: int
    scratch: int
    barriers: int
    other: int

    @property
    def total(self) -> int:
        """Number of all messages."""
        return sum(getattr(self, field.name) for field in fields(self))


@dataclass(frozen=True, slots=True)
class KLoop:
    """Counts of one iteration of the K loop, as the compiler unrolled it, for one thread.

    `is_loop` is False if the loop was fully unrolled: then the counts cover the code from the first operand
    load to the last DPAS. `alu` counts all that is no DPAS, message, branch or wait; `moves` those that are moves,
    `scalar_moves` moves of one lane. `loaded_bytes` are the bytes that loads from memory and shared local memory write
    to registers.
    """

    is_loop: bool
    dpas: int
    sends: Sends
    alu: int
    moves: int
    scalar_moves: int
    loaded_bytes: int

    @property
    def sends_per_256_dpas(self) -> float:
        """Messages of all kinds per 256 DPAS."""
        return self.sends.total * _PER / self.dpas

    @property
    def moves_per_256_dpas(self) -> float:
        """Moves per 256 DPAS, scalar ones included."""
        return self.moves * _PER / self.dpas

    @property
    def scalar_moves_per_256_dpas(self) -> float:
        """Moves of one lane per 256 DPAS: most write addresses and sizes for messages."""
        return self.scalar_moves * _PER / self.dpas

    @property
    def loaded_bytes_per_dpas(self) -> float:
        """Bytes loaded into registers per DPAS."""
        return self.loaded_bytes / self.dpas

    @property
    def barriers(self) -> int:
        """Barriers that a thread signals."""
        return self.sends.barriers


def without_padding(instructions: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
    """Return instructions without the DPAS of one register for all operands that begins a sequence on DG2."""
    return tuple(i for i in instructions if not is_void(i))


def k_loop_of(instructions: tuple[Instruction, ...], grf_bytes: int) -> KLoop | None:
    """Return the innermost loop with the most DPAS, or the code around all DPAS if no loop has any.

    `grf_bytes` is the size of a register. None without DPAS.
    """
    dpas = [is_dpas(i) for i in instructions]
    region = find_k_loop([i.targets for i in instructions], dpas, map(_fetches, instructions))
    if region is None:
        return None
    part = instructions[region.part.start : region.part.stop]
    return _counted(part, grf_bytes, is_loop=region.is_loop)


def _fetches(instruction: Instruction) -> bool:
    return instruction.is_send and kind_of(instruction) in _FETCHES and not takes_arguments(instruction)


def _is_alu(instruction: Instruction) -> bool:
    return instruction.opcode not in _NOT_ALU and not instruction.is_send and not instruction.targets


def _counted(instructions: tuple[Instruction, ...], grf_bytes: int, *, is_loop: bool) -> KLoop:
    sends = [(kind_of(instruction), read_registers(instruction)) for instruction in instructions if instruction.is_send]
    kinds = Counter(kind for kind, _ in sends)
    moves = [instruction for instruction in instructions if instruction.opcode == "mov"]
    return KLoop(
        is_loop=is_loop,
        dpas=sum(map(is_dpas, instructions)),
        sends=Sends(**{kind.value: kinds[kind] for kind in SendKind}),
        alu=sum(map(_is_alu, instructions)),
        moves=len(moves),
        scalar_moves=sum(move.size == 1 for move in moves),
        loaded_bytes=grf_bytes * sum(count for kind, count in sends if kind in (SendKind.LOAD, SendKind.SLM)),
    )
