"""Bytes of registers that an instruction reads and writes, as bits of an integer.

General registers begin at bit 0, a bit for each byte; accumulators follow, then the flags with a bit for each channel.
Source: Intel Graphics Programmer's Reference Manuals (Xe HPG, Xe2), volume "GPU execution": regions, "dpas", "mach".
"""

from dataclasses import dataclass
from functools import lru_cache

from codegen.xe.machine.instruction import Instruction
from codegen.xe.machine.messages import MemoryMessage
from codegen.xe.machine.operands import DataType, Operand, Register, RegisterFile

_GENERAL_BITS, _ACCUMULATOR_BITS, _FLAG_BITS = 256 * 64, 16 * 64, 4 * 32
_ACCUMULATORS, _FLAGS = _GENERAL_BITS, _GENERAL_BITS + _ACCUMULATOR_BITS
GENERAL = (1 << _GENERAL_BITS) - 1
_STATE_FILES = (
    *(RegisterFile.STATE, RegisterFile.CONTROL, RegisterFile.CHANNEL_ENABLE, RegisterFile.TIMESTAMP),
    *(RegisterFile.STACK_POINTER, RegisterFile.INSTRUCTION_POINTER, RegisterFile.THREAD_DEBUG),
    RegisterFile.MESSAGE,
)
_CAPPED = 31  # the field for the registers of a destination has five bits: a block of 32 is given as 31
_READS_ACCUMULATOR, _WRITES_ACCUMULATOR = ("mac", "mach", "macl"), ("mach", "macl", "addc", "subb")


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes that an instruction reads and writes.

    Registers at addresses in a0 are not among them. `state` is True if it accesses a state or control register,
    `address` if it writes a0.
    """

    reads: int
    writes: int
    state: bool
    address: bool


def footprint_of(i: Instruction, grf_bytes: int) -> Footprint:
    """Return the bytes that an instruction accesses; `grf_bytes` is the size of a register."""
    reads, writes = _implicit(i, grf_bytes)
    operands = tuple(filter(None, (i.destination, *i.sources)))
    if i.payload is not None:
        p = i.payload
        if p.gathered:
            for number in p.gathered:
                reads |= _ones(number * grf_bytes, grf_bytes)
        else:
            reads |= _registers(p.address, p.address_count, grf_bytes) | _registers(p.data, p.data_count, grf_bytes)
        writes |= _registers(p.destination, _written(i), grf_bytes)
    elif i.opcode in ("dpas", "dpasw"):
        sizes = _dpas_bytes(i)
        destination, *sources = (_span(o, size, grf_bytes) for o, size in zip(operands, sizes, strict=True))
        writes |= destination
        for source in sources:
            reads |= source
    else:
        if i.destination is not None:
            writes |= _region(i.destination, i.size, grf_bytes)
        for source in () if _is_void(i) else i.sources:
            reads |= _region(source, i.size, grf_bytes)
    return Footprint(
        reads,
        writes,
        state=any(isinstance(o, Register) and o.file in _STATE_FILES for o in operands),
        address=isinstance(i.destination, Register) and i.destination.file is RegisterFile.ADDRESS,
    )


def name_of(bits: int, grf_bytes: int) -> str:
    """Return the registers of some bytes: `r12`, `r12-r15`, `acc0`, `f0`."""
    low, high = (bits & -bits).bit_length() - 1, bits.bit_length() - 1
    first, last = _named(low, grf_bytes), _named(high, grf_bytes)
    return first if first == last else f"{first}-{last}"


def _named(bit: int, grf_bytes: int) -> str:
    if bit < _ACCUMULATORS:
        return f"r{bit // grf_bytes}"
    return f"acc{(bit - _ACCUMULATORS) // grf_bytes}" if bit < _FLAGS else f"f{(bit - _FLAGS) // 32}"


def _is_void(i: Instruction) -> bool:
    """True for a move to nowhere, which the compiler adds for its time or its wait: what it reads does not matter."""
    is_null = isinstance(i.destination, Register) and i.destination.file is RegisterFile.NULL
    return i.opcode == "mov" and is_null and i.modifier is None


def _ones(first: int, count: int) -> int:
    return ((1 << count) - 1) << first


def _registers(register: Register, count: int, grf_bytes: int) -> int:
    if register.file is not RegisterFile.GRF:
        return 0
    return _ones(register.number * grf_bytes, count * grf_bytes) & GENERAL


def _written(i: Instruction) -> int:
    assert i.payload is not None
    count = i.payload.destination_count
    is_block = isinstance(i.message, MemoryMessage) and i.message.access.is_block_2d
    return count + 1 if is_block and count == _CAPPED else count


def _implicit(i: Instruction, grf_bytes: int) -> tuple[int, int]:
    """Return what predicate, condition modifier and accumulating opcodes read and write."""
    reads = writes = 0
    if i.predicate is not None:
        reads |= _ones(_FLAGS + i.predicate.number * 32 + i.predicate.sub * 16 + i.channel, i.size)
    if i.modifier is not None and i.opcode != "sel":
        writes |= _ones(_FLAGS + i.modifier.number * 32 + i.modifier.sub * 16 + i.channel, i.size)
    if i.opcode in _READS_ACCUMULATOR:
        reads |= _ones(_ACCUMULATORS, grf_bytes)
    if i.opcode in _WRITES_ACCUMULATOR or "AccWrEn" in i.options:
        writes |= _ones(_ACCUMULATORS, grf_bytes)
    return reads, writes


def _first_bit(register: Register, grf_bytes: int) -> int | None:
    offset = register.sub * (register.type.bits if register.type else 8) // 8
    match register.file:
        case RegisterFile.GRF:
            return register.number * grf_bytes + offset
        case RegisterFile.ACCUMULATOR:
            return _ACCUMULATORS + register.number * grf_bytes + offset
        case RegisterFile.FLAG:
            return _FLAGS + register.number * 32 + offset * 8
        case _:
            return None


@lru_cache(maxsize=16384)
def _region(operand: Operand, size: int, grf_bytes: int) -> int:
    if not isinstance(operand, Register) or operand.type is None:
        return 0
    first = _first_bit(operand, grf_bytes)
    if first is None:
        return 0
    if operand.file is RegisterFile.FLAG:
        return _ones(first, operand.type.bits)
    nbytes, bits = operand.type.nbytes, 0
    places = range(size) if operand.region is None else operand.region.places(size)
    for place in places:
        bits |= _ones(first + place * nbytes, nbytes)
    return bits


def _span(operand: Operand, nbytes: int, grf_bytes: int) -> int:
    if not isinstance(operand, Register):
        return 0
    first = _first_bit(operand, grf_bytes)
    return 0 if first is None else _ones(first, nbytes)


def _dpas_bytes(i: Instruction) -> tuple[int, int, int, int]:
    """Return the bytes of a dpas's destination and sources: "8x4" has depth 8 and repeats 4 rows."""
    depth, repeat = (int(number) for number in i.function.split("x"))
    types = [o.type if isinstance(o, Register) and o.type else DataType.F for o in (i.destination, *i.sources)]
    destination, accumulator, weights, activations = types
    narrowest = min(weights.bits, activations.bits)
    per_channel = 8 if max(weights.bits, activations.bits) <= 4 else 4 if narrowest <= 8 else 32 // narrowest
    row = per_channel * depth * activations.bits // 8
    return (
        repeat * i.size * destination.nbytes,
        repeat * i.size * accumulator.nbytes,
        i.size * per_channel * depth * weights.bits // 8,
        (repeat - 1) * per_channel * 8 * activations.bits // 8 + row,
    )
