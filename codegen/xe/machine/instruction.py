"""Instructions of a kernel's listing."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from codegen.xe.machine.messages import Message
from codegen.xe.machine.opcodes import BRANCH_CONTROL
from codegen.xe.machine.operands import Operand, Register


class Pipe(StrEnum):
    """Pipe that a register distance counts instructions of; OWN that of the instruction which waits."""

    OWN = ""
    FLOAT = "F"
    INTEGER = "I"
    LONG = "L"
    MATH = "M"
    SCALAR = "S"
    ALL = "A"


@dataclass(frozen=True, slots=True)
class Distance:
    """`I@3`: the third last instruction of a pipe, and all before it, must have written its result."""

    pipe: Pipe
    count: int


class TokenUse(StrEnum):
    """Use of a scoreboard token: `$3` belongs to the instruction, the others wait for its owner."""

    SET = ""
    DESTINATION = "dst"
    SOURCE = "src"


@dataclass(frozen=True, slots=True)
class Token:
    """A scoreboard token: `$3`, `$3.dst` (its owner has written), `$3.src` (its owner has read)."""

    number: int
    use: TokenUse


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate: flag register `number.sub`, inverted with `inverse`.

    `group` is "" for a bit of each channel, or names the reduction: "any16h", "all8h", "anyv".
    """

    number: int
    sub: int
    inverse: bool
    group: str = ""


@dataclass(frozen=True, slots=True)
class FlagModifier:
    """A condition on the result (`lt`), and the flag register that takes it."""

    condition: str
    number: int
    sub: int


@dataclass(frozen=True, slots=True)
class Payload:
    """Registers of a message with their counts: destination, address (source 0), data (source 1).

    Counts of source 0 and of the destination are those of the descriptor, which holds at most 31. `gathered` are the
    numbers of the registers of address and data, in order, where the scalar register s0 lists them; else they follow
    `address` and `data`.
    """

    destination: Register
    destination_count: int
    address: Register
    address_count: int
    data: Register
    data_count: int
    gathered: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction.

    `function` is what follows the opcode: the shared function of a message ("ugm"), the truth table of bfn ("0xF8"),
    the function of math ("exp"), the shape of dpas ("8x8"), the kind of sync ("nop"), "b" of a goto whose channels go
    on at its target while the others wait. `size` is the number of channels from `channel` on, `no_mask` if inactive
    channels execute too. `sources` are in order, `targets` the instructions to which it may branch, by number: JIP
    first. `distance` and `tokens` are the scoreboard's annotations, `options` all others. `offset` is that of its
    encoding in the section, in bytes. `line` counts from 1.
    """

    line: int
    text: str
    offset: int
    opcode: str
    function: str
    size: int
    channel: int
    no_mask: bool
    predicate: Predicate | None
    modifier: FlagModifier | None
    saturate: bool
    destination: Operand | None
    sources: tuple[Operand, ...]
    targets: tuple[int, ...]
    message: Message | None
    payload: Payload | None
    distance: Distance | None
    tokens: tuple[Token, ...]
    options: tuple[str, ...]
    note: str = ""

    @property
    def is_send(self) -> bool:
        """True for messages."""
        return self.message is not None

    @property
    def parks_at(self) -> int | None:
        """Join at which channels that a goto parts from the others wait; None for other instructions."""
        if self.opcode != "goto":
            return None
        return self.targets[0 if self.function == BRANCH_CONTROL else 1]

    @property
    def ends_thread(self) -> bool:
        """True for the last message of a thread."""
        return "EOT" in self.options


@dataclass(frozen=True, slots=True)
class Listing:
    """The instructions of a kernel, without the padding at its end, and its labels by name."""

    kernel: str
    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int]
