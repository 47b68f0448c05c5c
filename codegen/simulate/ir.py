"""The part of LLVM IR that kernels are made of, as values."""

from dataclasses import dataclass

import numpy as np

_DTYPES = {
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "half": np.dtype(np.float16),
    "bfloat": np.dtype(np.uint16),  # numpy has no bfloat16: its bits
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    "ptr": np.dtype(np.int64),
}

Number = int | float


@dataclass(frozen=True, slots=True)
class Type:
    """A scalar (count 0), a vector or an array of scalars. `space` is a pointer's address space."""

    element: str
    count: int = 0
    array: bool = False
    space: int = 0

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The numpy type of one element."""
        return _DTYPES[self.element]

    @property
    def nbytes(self) -> int:
        """Size in memory, in bytes."""
        return self.dtype.itemsize * (self.count or 1)

    @property
    def scalar(self) -> "Type":
        """The type of one element."""
        return Type(self.element, space=self.space)

    def __str__(self) -> str:
        element = f"ptr addrspace({self.space})" if self.space else self.element
        if not self.count:
            return element
        return f"[{self.count} x {element}]" if self.array else f"<{self.count} x {element}>"


VOID = Type("void")
ELEMENTS = frozenset(_DTYPES)


@dataclass(frozen=True, slots=True)
class Operand:
    """A typed use of a local value, or a constant: one number for each element, None where undefined.

    Integer and bfloat constants are their bits as a signed or unsigned int.
    """

    type: Type
    local: str = ""
    constant: tuple[Number | None, ...] = ()

    @property
    def is_constant(self) -> bool:
        """True for constants."""
        return not self.local


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. `type` is its result's, or VOID; `text` is the line it came from.

    `detail` is a comparison's predicate or a call's callee; `pointee` the type that alloca or getelementptr
    names; `labels` where a branch goes, in the order of its cases after the default, or a phi's predecessors.
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
class Function:
    """A kernel: its parameters and its blocks in program order; the sizes that it requires, if it says any."""

    name: str
    parameters: tuple[Operand, ...]
    blocks: tuple[Block, ...]
    work_group_size: tuple[int, ...] | None = None
    subgroup_size: int | None = None
