"""Stored kernels: the final LLVM IR of small GEMMs, their operands, and what their results may be off by.

The texts are llvm.ll stages of the compiler, kept so that proofs of numbers do not hang on the compiler of the day.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Buffer = NDArray[np.generic]
Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GemmFixture:
    """C[M, N] = A[M, K] @ B[K, N]: a stored kernel `gemm(A, B, C)` and its launch."""

    name: str
    m: int
    n: int
    k: int
    dtype_in: str
    dtype_out: str
    groups: tuple[int, int, int]
    local_size: int

    @property
    def ll(self) -> str:
        """The LLVM IR text."""
        return (Path(__file__).parent / "fixtures" / f"{self.name}.ll").read_text()

    def operands(self, seed: int = 7) -> tuple[Buffer, Buffer, Buffer]:
        """A and B, which cannot be written, and a C full of NaN. B is scaled so that results are of the size of one."""
        rng = np.random.default_rng(seed)
        a = _stored(rng.standard_normal((self.m, self.k)), self.dtype_in)
        b = _stored(rng.standard_normal((self.k, self.n)) / np.sqrt(self.k), self.dtype_in)
        a.flags.writeable = b.flags.writeable = False
        return a, b, _stored(np.full((self.m, self.n), np.nan), self.dtype_out)

    def worst(self, buffers: Sequence[Buffer]) -> float:
        """The largest error of C, as a multiple of what is allowed; infinite where C is not a number.

        Allowed are K + 2 roundings of float32 of the sum of absolute products, and one rounding to the output.
        """
        a, b, c = (_exact(x, t) for x, t in zip(buffers, (self.dtype_in, self.dtype_in, self.dtype_out), strict=True))
        expected = a @ b
        allowed = (self.k + 2) * 2.0**-24 * (np.abs(a) @ np.abs(b))
        allowed += {"f32": 0.0, "f16": 2.0**-11, "bf16": 2.0**-8}[self.dtype_out] * (np.abs(expected) + allowed)
        ratio = np.abs(c - expected) / allowed
        return float("inf") if np.isnan(ratio).any() else float(ratio.max())


FIXTURES = (
    GemmFixture("f16_f32_ragged", 40, 72, 104, "f16", "f32", (3, 2, 1), 32),
    GemmFixture("bf16_bf16_prefetch", 72, 104, 88, "bf16", "bf16", (3, 2, 1), 64),  # M walks along x
    GemmFixture("f16_f16_small_blocks", 48, 64, 80, "f16", "f16", (2, 3, 1), 32),
)
RAGGED, PREFETCH, SMALL_BLOCKS = FIXTURES


def _stored(values: Doubles, dtype: str) -> Buffer:
    if dtype == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype({"f16": np.float16, "f32": np.float32}[dtype])


def _exact(buffer: Buffer, dtype: str) -> Doubles:
    if dtype == "bf16":
        return (buffer.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return buffer.astype(np.float64)
