"""Clocks of instructions: latency until a result is there, and occupancy of the unit that executes them.

Source: latencies of instructions and messages, and occupancies, are those that Intel's compiler schedules by
(intel-graphics-compiler, visa/LocalScheduler/LatencyTable.h and .cpp, Xe: FPU 10, accumulator 6, math 17, address and
flag 16, branch 23, dpas 21 and one for each further pass, SLM 28, L1 45, L2 200, data port 146, barrier 30, fence 35,
payload read 36). They hold without load; the rates below add what messages wait for each other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from codegen.xe.machine.instruction import Instruction, Pipe
from codegen.xe.machine.messages import (
    AddressModel,
    FenceMessage,
    GatewayMessage,
    MemoryMessage,
    OwordMessage,
    ScratchMessage,
    SharedFunction,
)
from codegen.xe.machine.operands import DataType, Immediate, Indirect, Operand, Register, RegisterFile
from codegen.xe.machine.pipes import RULES, Rules, pipe_of


class Unit(StrEnum):
    """Unit of an engine that takes an instruction. Each takes one at a time, of any thread."""

    FLOAT = "float"
    INTEGER = "integer"
    LONG = "long"
    MATH = "math"
    DPAS = "dpas"
    SEND = "send"
    CONTROL = "control"


ALU = (Unit.FLOAT, Unit.INTEGER, Unit.LONG, Unit.MATH)
"""Units whose results are waited for by distance."""
OF_PIPE = {
    Pipe.FLOAT: (Unit.FLOAT,),
    Pipe.INTEGER: (Unit.INTEGER,),
    Pipe.LONG: (Unit.LONG,),
    Pipe.MATH: (Unit.MATH,),
    Pipe.SCALAR: (Unit.INTEGER,),
    Pipe.ALL: ALU,
}

_FPU, _ACCUMULATOR, _MATH, _ADDRESS, _BRANCH, _DPAS = 10, 6, 17, 16, 23, 21
_WIDER = {1: 0, 2: 1, 4: 3}  # further clocks for 16 and 32 channels; math four times as many
_SLM, _DATA_PORT, _FENCE = 28, 146, 35
BARRIER_CLKS = 30
"""Clocks from the last thread's signal of a barrier until threads go on."""
_BRANCHES = frozenset({"jmpi", "join", "endif", "while", "goto", "if", "else", "break", "cont", "halt"})
_DEFAULT_PASSES = 8


class Level(StrEnum):
    """Level of the memory that loads of operands hit."""

    L1 = "L1"
    L2 = "L2"
    MEMORY = "memory"


LATENCY = {Level.L1: 45, Level.L2: 200, Level.MEMORY: 850}
"""Clocks until the first bytes of a load arrive. That of memory is assumed: no public source has it."""


_PASS_CLKS = {"pvc": 1}
"""Clocks of a pass of dpas: 256 multiply-adds of f16 an EU in Xe-HPC. The others have half of that for their width:
128 in Xe2 (98.3 Tflop/s of 160 EUs at 2.4 GHz, an Arc Pro B60), 64 in Xe-HPG, whose registers are half as wide."""
_OTHER_PASS_CLKS = 2


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates of an engine. Bytes are per clock of its share of the core's L1; a message costs it `message_clks`.

    `rules` are those of the scoreboard. A pass of dpas takes `pass_clks`. `message_clks` and `scratch_bytes` are those
    of the model (`tuner/model/xe/constants.py`) for one engine.
    """

    grf_bytes: int
    rules: Rules
    pass_clks: int = 1
    l1_bytes: float = 64.0
    message_clks: float = 24.0
    scratch_bytes: float = 0.625
    payload_read_clks: int = 36


def rates_of(chip: str, grf_bytes: int) -> Rates:
    """Return the rates of a chip's engines, by its name for the offline compiler."""
    return Rates(grf_bytes, RULES[chip], _PASS_CLKS.get(chip, _OTHER_PASS_CLKS))


def unit_of(i: Instruction, rules: Rules) -> Unit:
    """Return the unit that takes an instruction."""
    if i.is_send:
        return Unit.SEND
    if i.opcode in ("dpas", "dpasw"):
        return Unit.DPAS
    if i.opcode == "math":
        return Unit.MATH
    pipe = None if is_branch(i) else pipe_of(i, rules)
    return Unit.CONTROL if pipe is None else OF_PIPE[pipe][0]


def occupancy(i: Instruction, unit: Unit, rates: Rates) -> int:
    """Return the clocks for which an instruction occupies its unit: a register's bytes a clock, passes of dpas."""
    match unit:
        case Unit.DPAS:
            return passes(i) * rates.pass_clks
        case Unit.CONTROL | Unit.SEND:
            return 1
        case _:
            widest = max((t.nbytes for t in _types(i)), default=4)
            clocks = max(1, i.size * widest // rates.grf_bytes)
            return 4 * clocks if unit is Unit.MATH else clocks


def passes(i: Instruction) -> int:
    """Return the passes of a dpas: rows of its result, the last number of `8x8`."""
    _, _, repeat = i.function.partition("x")
    return int(repeat) if repeat.isdigit() else _DEFAULT_PASSES


def latency(i: Instruction, unit: Unit, rates: Rates) -> int:
    """Return the clocks from issue until the result of an instruction that is no message can be read."""
    wider = _WIDER[max(1, min(4, i.size // 8))] if i.size not in (24,) else 1
    match unit:
        case Unit.DPAS:
            return _DPAS + passes(i) * rates.pass_clks - 1
        case Unit.MATH:
            return _MATH + 4 * wider
        case Unit.CONTROL:
            return _BRANCH if is_branch(i) else 1
        case _:
            file = i.destination.file if isinstance(i.destination, Register) else None
            if i.modifier is not None or file in (RegisterFile.ADDRESS, RegisterFile.FLAG):
                return _ADDRESS
            return (_ACCUMULATOR if file is RegisterFile.ACCUMULATOR else _FPU) + wider


def is_branch(i: Instruction) -> bool:
    """Return whether an instruction may branch."""
    return i.opcode in _BRANCHES


def message_latency(i: Instruction, level: Level) -> int:
    """Return the clocks until a message's first bytes arrive, without load."""
    match i.message:
        case MemoryMessage() as m:
            if m.function is SharedFunction.SLM:
                return _SLM
            return LATENCY[Level.L1 if is_scratch(i) else level]
        case FenceMessage():
            return _FENCE
        case GatewayMessage():
            return BARRIER_CLKS
        case _:
            return _DATA_PORT


def message_clks(i: Instruction, rates: Rates) -> float:
    """Return the clocks for which a message keeps the engine's share of the load and store unit busy."""
    nbytes = moved_registers(i) * rates.grf_bytes
    if is_scratch(i):
        return nbytes / rates.scratch_bytes
    if isinstance(i.message, GatewayMessage | FenceMessage):
        return 1.0
    return rates.message_clks + nbytes / rates.l1_bytes


def is_scratch(i: Instruction) -> bool:
    """Return whether a message accesses the thread's own memory: registers that are spilled."""
    if isinstance(i.message, MemoryMessage):
        return i.message.model is AddressModel.SURFACE
    return isinstance(i.message, ScratchMessage)


def moved_registers(i: Instruction) -> int:
    """Return the registers that a message fills or stores. 31 of a block means 32: the field ends there."""
    if i.payload is None or isinstance(i.message, FenceMessage | GatewayMessage):
        return 0
    loaded = i.payload.destination_count
    if loaded == 31 and isinstance(i.message, MemoryMessage | OwordMessage):
        loaded = 32
    return loaded + i.payload.data_count


def payload_registers(i: Instruction) -> int:
    """Return the registers that a message reads when it is sent."""
    return 0 if i.payload is None else i.payload.address_count + i.payload.data_count


def _type(operand: Operand | None) -> DataType | None:
    return operand.type if isinstance(operand, Register | Indirect | Immediate) else None


def _types(i: Instruction) -> Iterator[DataType]:
    yield from (t for t in (_type(i.destination), *map(_type, i.sources)) if t is not None)
