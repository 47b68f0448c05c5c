"""Operands that all contenders share: as many sets as lie beyond the caches, filled with random numbers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.cpu.cases import Case
from codegen import DType
from hal import Buffer
from hal.cpu.memory import (
    Bytes,
    rows_of_buffers,
)

ALIGNMENT = 64
_MOST_SETS = 512
_NUMPY = {
    DType.F32: np.float32, DType.TF32: np.float32, DType.F16: np.float16,
    DType.BF16: np.int16, DType.S8: np.int8, DType.I32: np.int32,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operands:
    """A, B and C of one set as arrays of their shape; bf16 as the 16-bit integers of its bits."""

    a: Buffer
    b: Buffer
    c: Buffer

    @property
    def bytes(self) -> tuple[Bytes, Bytes, Bytes]:
        """As plain bytes."""
        a, b, c = (array.reshape(-1).view(np.uint8) for array in (self.a, self.b, self.c))
        return a, b, c


def operands(case: Case, rotate_bytes: int, *, one_c: bool = False) -> list[Operands]:
    """Sets of `rotate_bytes` together, at least one; `one_c`: all have the C of the first."""
    described = case.problem.operands
    sizes = [operand.nbytes(1) for operand in described]
    count = min(_MOST_SETS, max(1, -(-rotate_bytes // sum(sizes))))
    kinds = [_NUMPY[operand.dtype] for operand in described]
    shapes = [(operand.rows, operand.columns) for operand in described]
    rng = np.random.default_rng(7)
    first = [_random(rng, kind, shape) for kind, shape in zip(kinds[:2], shapes[:2], strict=True)]
    sets: list[Operands] = []
    for row in rows_of_buffers([(size, ALIGNMENT) for size in sizes], count):
        arrays = [held.view(kind).reshape(shape) for held, kind, shape in zip(row, kinds, shapes, strict=True)]
        for array, values in zip(arrays, first, strict=False):
            array[:] = values
        arrays[2][:] = 0
        a, b, c = arrays
        sets.append(Operands(a, b, sets[0].c if one_c and sets else c))
    return sets


def as_floats(c: Buffer, dtype: DType) -> NDArray[np.float64]:
    """Values of stored numbers."""
    if dtype is DType.BF16:
        return (c.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return c.astype(np.float64)


def _random(rng: np.random.Generator, kind: type[np.generic], shape: tuple[int, int]) -> Buffer:
    if kind is np.int8:
        return rng.integers(-128, 128, shape, np.int8)
    values = rng.random(shape, np.float32) - np.float32(0.5)
    return (values.view(np.uint32) >> 16).astype(np.uint16).view(np.int16) if kind is np.int16 else values.astype(kind)
