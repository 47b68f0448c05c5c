"""Operands of instructions: registers with region, type and modifiers, and immediates.

Source: Intel Graphics Programmer's Reference Manuals (Xe HPG, Xe2), volume "GPU execution": register regions, types.
"""

from dataclasses import dataclass
from enum import StrEnum


class DataType(StrEnum):
    """Type of an operand.

    BF8 has 5 bits of exponent and 2 of fraction. V, UV and VF are immediates of 8, 8 and 4 elements in 32 bits.
    """

    UB = "ub"
    B = "b"
    UW = "uw"
    W = "w"
    UD = "ud"
    D = "d"
    UQ = "uq"
    Q = "q"
    HF = "hf"
    BF = "bf"
    BF8 = "bf8"
    F = "f"
    TF32 = "tf32"
    DF = "df"
    U4 = "u4"
    S4 = "s4"
    U2 = "u2"
    S2 = "s2"
    V = "v"
    UV = "uv"
    VF = "vf"

    @property
    def bits(self) -> int:
        """Size of an element; of packed immediates, of all elements."""
        return _BITS[self]

    @property
    def nbytes(self) -> int:
        """Size of an element of whole bytes."""
        return _BITS[self] // 8

    @property
    def is_float(self) -> bool:
        """True for types of floating point."""
        return self in _FLOATS

    @property
    def is_signed(self) -> bool:
        """True for signed integers and floating point."""
        return self not in (DataType.UB, DataType.UW, DataType.UD, DataType.UQ, DataType.U4, DataType.U2, DataType.UV)


_BITS = {
    **dict.fromkeys((DataType.U2, DataType.S2), 2),
    **dict.fromkeys((DataType.U4, DataType.S4), 4),
    **dict.fromkeys((DataType.UB, DataType.B, DataType.BF8), 8),
    **dict.fromkeys((DataType.UW, DataType.W, DataType.HF, DataType.BF), 16),
    **dict.fromkeys((DataType.UD, DataType.D, DataType.F, DataType.TF32), 32),
    **dict.fromkeys((DataType.V, DataType.UV, DataType.VF), 32),
    **dict.fromkeys((DataType.UQ, DataType.Q, DataType.DF), 64),
}
_FLOATS = (DataType.BF8, DataType.HF, DataType.BF, DataType.F, DataType.TF32, DataType.DF, DataType.VF)


class RegisterFile(StrEnum):
    """Register files, as the disassembler spells them in front of a number."""

    GRF = "r"
    ACCUMULATOR = "acc"
    ADDRESS = "a"
    FLAG = "f"
    NULL = "null"
    STATE = "sr"
    CONTROL = "cr"
    CHANNEL_ENABLE = "ce"
    NOTIFICATION = "n"
    TIMESTAMP = "tm"
    THREAD_DEPENDENCY = "tdr"
    THREAD_DEBUG = "dbg"
    STACK_POINTER = "sp"
    INSTRUCTION_POINTER = "ip"
    MESSAGE = "msg"
    SCALAR = "s"


@dataclass(frozen=True, slots=True)
class Region:
    """Places of the elements, counted in elements from the first: `<vertical;width,horizontal>`.

    Element i is at `i // width * vertical + i % width * horizontal`. Destinations, and sources of instructions with
    three, are given with fewer numbers in a listing and in this form here.
    """

    vertical: int
    width: int
    horizontal: int

    def places(self, count: int) -> tuple[int, ...]:
        """Return the places of the first elements."""
        return tuple(i // self.width * self.vertical + i % self.width * self.horizontal for i in range(count))


@dataclass(frozen=True, slots=True)
class Register:
    """A register, `number.sub` counted in elements of `type`.

    `region` and `type` are None where the operand is a whole register or null: those of messages and of dpas. With
    `complement` bits are inverted, with `absolute` the sign is dropped, with `negate` it is changed last. `macro` names
    the extra bits of a number in a division or root by steps (`madm`): "mme0" to "mme7", "nomme" without.
    """

    file: RegisterFile
    number: int = 0
    sub: int = 0
    region: Region | None = None
    type: DataType | None = None
    negate: bool = False
    absolute: bool = False
    complement: bool = False
    macro: str = ""

    @property
    def name(self) -> str:
        """`r12`."""
        return str(self.file) if self.file is RegisterFile.NULL else f"{self.file}{self.number}"


@dataclass(frozen=True, slots=True)
class Indirect:
    """Registers at the addresses in a0 from `sub` on, in bytes of the register file, plus `offset`.

    With `by_element` (`<width,horizontal>`) each row of `region.width` elements takes the next address.
    """

    sub: int
    offset: int
    region: Region
    type: DataType
    by_element: bool = False
    negate: bool = False
    absolute: bool = False
    complement: bool = False


@dataclass(frozen=True, slots=True)
class Immediate:
    """A number in the instruction, as its bits."""

    bits: int
    type: DataType


Operand = Register | Indirect | Immediate
