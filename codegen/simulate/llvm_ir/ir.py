"""LLVM IR of kernels as Python values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_DTYPES = {
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "half": np.dtype(np.float16),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    "ptr": np.dtype(np.int64),
}

Number = int | float


@dataclass(frozen=True, slots=True)
class Type:
    """A scalar (count 0), a vector or an array of scalars. `space` is a pointer's address space.

    With `parts` a structure of these, or if `array` is set `count` of the one part.
    """

    element: str
    count: int = 0
    array: bool = False
    space: int = 0
    parts: tuple["Type", ...] = ()
    packed: bool = False

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The numpy type of one element."""
        return _DTYPES[self.element]

    @property
    def nbytes(self) -> int:
        """Size in memory in bytes, without the padding in an array."""
        if self.parts and self.array:
            return self.count * self.parts[0].stride
        if self.parts:
            end = self.field_offset(len(self.parts))
            return end if self.packed else _rounded_up(end, self.alignment)
        return self.dtype.itemsize * (self.count or 1)

    @property
    def alignment(self) -> int:
        """Alignment in bytes."""
        if self.parts:
            return 1 if self.packed else max(part.alignment for part in self.parts)
        return self.dtype.itemsize if self.array or not self.count else 1 << (self.nbytes - 1).bit_length()

    @property
    def stride(self) -> int:
        """Bytes between consecutive elements of an array."""
        return _rounded_up(self.nbytes, self.alignment)

    @property
    def scalar(self) -> "Type":
        """Return the type of one element."""
        return self.parts[0] if self.parts else Type(self.element, space=self.space)

    def field_offset(self, index: int) -> int:
        """Return the offset of a field of a structure, in bytes; its end for the index after the last."""
        at = 0
        for number, part in enumerate(self.parts):
            if not self.packed:
                at = _rounded_up(at, part.alignment)
            if number == index:
                return at
            at += part.nbytes
        return at

    def __str__(self) -> str:
        if self.parts and not self.array:
            inner = f"{{ {', '.join(str(part) for part in self.parts)} }}"
            return f"<{inner}>" if self.packed else inner
        element = f"ptr addrspace({self.space})" if self.space else self.element
        if not self.count:
            return element
        return f"[{self.count} x {self.scalar}]" if self.array else f"<{self.count} x {element}>"


def _rounded_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def address_offset(pointee: Type, indices: Sequence[Any]) -> Any:
    """Return the bytes that getelementptr adds to a pointer; indices are integers or arrays of them."""
    total, type_ = indices[0] * pointee.stride, pointee
    for index in indices[1:]:
        if type_.parts and not type_.array:
            number = int(np.ravel(index)[0])
            total, type_ = total + type_.field_offset(number), type_.parts[number]
        else:
            type_ = type_.scalar
            total = total + index * type_.stride
    return total


VOID = Type("void")
ELEMENTS = frozenset(_DTYPES)


@dataclass(frozen=True, slots=True)
class Operand:
    """A typed use of a local value, or a constant: one number for each element, None where undefined.

    Integer constants are their bits as a signed or unsigned int. With `symbol` it is the address of a
    global of the module, and `constant` the bytes from there.
    """

    type: Type
    local: str = ""
    constant: tuple[Number | None, ...] = ()
    symbol: str = ""

    @property
    def is_constant(self) -> bool:
        """Return True for numbers; False for local values and addresses."""
        return not self.local and not self.symbol


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. `type` is its result's, or VOID; `text` is the line it came from.

    `detail` is a comparison's predicate, a call's callee, the operation of atomicrmw or the part that extractvalue
    takes; `pointee` the type that alloca or getelementptr names; `labels` where a branch goes, in the order of its
    cases after the default, or a phi's predecessors.
    """

    opcode: str
    text: str
    result: str = ""
    type: Type = VOID
    operands: tuple[Operand, ...] = ()
    detail: str = ""
    pointee: Type = VOID
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A basic block: phis, then the rest, the terminator last."""

    label: str
    phis: tuple[Instruction, ...]
    body: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class Global:
    """A variable of the module. `content` is its initial value, None if undefined."""

    name: str
    space: int
    nbytes: int
    alignment: int
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel: its parameters, its blocks in program order and the globals that it names; sizes that it requires.

    `named_barriers` is the number that it allocates, if the module says it.
    """

    name: str
    parameters: tuple[Operand, ...]
    blocks: tuple[Block, ...]
    work_group_size: tuple[int, ...] | None = None
    subgroup_size: int | None = None
    globals: tuple[Global, ...] = ()
    named_barriers: int | None = None
