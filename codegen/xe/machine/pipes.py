"""Pipes that execute instructions, and the rules of each architecture's software scoreboard.

Source: intel-graphics-compiler: visa/LocalScheduler/SWSB_G4IR.cpp and .h (dependences, distances after which a pipe is
done), visa/G4_IR.cpp (pipe of an instruction), visa/iga/IGALibrary/IR/RegDeps.cpp (encodings of distances).
"""

from dataclasses import dataclass, replace

from codegen.xe.machine.instruction import Instruction, Pipe
from codegen.xe.machine.operands import DataType, Indirect, Operand, Register

_BRANCHES = frozenset(
    {"jmpi", "goto", "join", "if", "else", "endif", "while", "break", "cont", "brc", "brd", "call", "ret"}
)
_WITHOUT_PIPE = frozenset({"sync", "nop", "illegal", "wait", "halt"})
_OUT_OF_ORDER = frozenset({"send", "sendc", "dpas", "dpasw"})

DONE_AFTER = {Pipe.INTEGER: 11, Pipe.FLOAT: 11, Pipe.LONG: 15, Pipe.MATH: 18, Pipe.SCALAR: 11}
"""Instructions of a pipe after which an earlier one of it is done without a wait."""

LONGEST_DISTANCE = 7
"""The longest distance that an annotation holds."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Scoreboard of an architecture.

    `math_in_order` is False where math takes tokens. `long_integers` is True where 64-bit integers execute in the long
    pipe, as then all instructions with a source of 64 bits do. With `merges_bytes`, a write of bytes reads and writes
    whole words. With `addresses_wait`, a write of a0 waits for all pipes. With `orders_flags`, hardware orders all
    accesses of flags and accumulators by instructions in order: Intel's compiler keeps track of them for targets of
    three or four pipes (`getFootprintForOperand`), and for Xe3 annotates none of its writes of flags for reads by
    another pipe, but does so for registers. Without `are_public`, Intel publishes no rules of the architecture, and
    these are taken from code that its compiler makes.
    """

    math_in_order: bool
    long_integers: bool
    merges_bytes: bool
    addresses_wait: bool
    orders_flags: bool
    are_public: bool = True


_XE_HPG = Rules(math_in_order=False, long_integers=True, merges_bytes=False, addresses_wait=True, orders_flags=False)
_XE_HPC = Rules(math_in_order=True, long_integers=False, merges_bytes=True, addresses_wait=False, orders_flags=False)
_XE3 = replace(_XE_HPC, orders_flags=True, are_public=False)
RULES = {
    **dict.fromkeys(("dg2", "mtl-u", "mtl-h", "arl-h"), _XE_HPG),
    **dict.fromkeys(("pvc", "bmg", "lnl-m"), _XE_HPC),
    "ptl-h": _XE3,
}
"""Rules by the chip's name for compilers."""


def is_out_of_order(i: Instruction, rules: Rules) -> bool:
    """True if an instruction signals its progress by a token."""
    return i.opcode in _OUT_OF_ORDER or (i.opcode == "math" and not rules.math_in_order)


def pipe_of(i: Instruction, rules: Rules) -> Pipe | None:
    """Return the in-order pipe of an instruction; None if it has none."""
    if is_out_of_order(i, rules) or i.opcode in _WITHOUT_PIPE:
        return None
    if i.opcode in _BRANCHES:
        return Pipe.INTEGER
    if i.opcode == "math":
        return Pipe.MATH
    if rules.long_integers and any(_type_of(source) in _WIDE for source in i.sources):
        return Pipe.LONG
    return _pipe_of_type(_type_of(i.destination), rules)


def pipes_of_sources(i: Instruction, rules: Rules) -> frozenset[Pipe]:
    """Return the pipes that write operands of the types of an instruction's sources: a distance without a pipe."""
    types = {_type_of(source) for source in i.sources if isinstance(source, Register | Indirect)}
    return frozenset(_pipe_of_type(type_, rules) for type_ in types)


_WIDE = (DataType.Q, DataType.UQ, DataType.DF)


def _type_of(operand: Operand | None) -> DataType | None:
    return None if operand is None else operand.type


def _pipe_of_type(type_: DataType | None, rules: Rules) -> Pipe:
    if type_ is DataType.DF or (rules.long_integers and type_ in _WIDE):
        return Pipe.LONG
    return Pipe.FLOAT if type_ is not None and type_.is_float else Pipe.INTEGER
