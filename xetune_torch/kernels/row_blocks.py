"""A kernel for some number of rows that computes another number of rows."""

import ctypes

import torch

from xetune_torch.gemm import TYPES, Gemm
from xetune_torch.kernels.cpu_kernel import CpuKernel

_MOST_LAUNCHES, _MOST_WASTE = 16, 2.0


class RowBlocks:
    """Plan for `gemm.m` rows with a kernel for `rows`: whole blocks in place, the rest in padded copies."""

    def __init__(self, kernel: CpuKernel, rows: int, gemm: Gemm) -> None:
        self.threads, self.alignment, self.prepacked = kernel.threads, kernel.alignment, kernel.prepacked
        self.pack = kernel.pack
        self.kernel, self._rows = kernel, rows
        self._whole, self._left = divmod(gemm.m, rows)
        size_a, size_c = TYPES[gemm.a].itemsize, TYPES[gemm.c].itemsize
        self._a_bytes, self._c_bytes = rows * gemm.lda * size_a, rows * gemm.n * size_c
        self._left_a = ((self._left - 1) * gemm.lda + gemm.k) * size_a
        self._left_c = self._left * gemm.n * size_c

    def launch(self, a: int, b: int, c: int, *others: int) -> int:
        """Compute all rows; see `Launch`."""
        for _ in range(self._whole):
            if status := self.kernel.launch(a, b, c, *others):
                return status
            a, c = a + self._a_bytes, c + self._c_bytes
        if not self._left:
            return 0
        padded_a = torch.empty(self._a_bytes, dtype=torch.uint8)
        padded_c = torch.empty(self._c_bytes, dtype=torch.uint8)
        ctypes.memmove(padded_a.data_ptr(), a, self._left_a)
        if status := self.kernel.launch(padded_a.data_ptr(), b, padded_c.data_ptr(), *others):
            return status
        ctypes.memmove(c, padded_c.data_ptr(), self._left_c)
        return 0


def nearest_rows(known: dict[int, CpuKernel], gemm: Gemm) -> RowBlocks | None:
    """Return the plan with the fewest rows too many, then the fewest launches; None if no known kernel is near."""
    if gemm.transpose_a or gemm.experts is not None:
        return None
    found = [
        (launches * rows, launches, rows)
        for rows, kernel in known.items()
        if (launches := -(-gemm.m // rows)) <= _MOST_LAUNCHES
        and launches * rows <= _MOST_WASTE * gemm.m
        and _stays_aligned(kernel, rows, gemm)
    ]
    if not found:
        return None
    rows = min(found)[2]
    return RowBlocks(known[rows], rows, gemm)


def _stays_aligned(kernel: CpuKernel, rows: int, gemm: Gemm) -> bool:
    steps = rows * gemm.lda * TYPES[gemm.a].itemsize, rows * gemm.n * TYPES[gemm.c].itemsize
    return all(step % kernel.alignment == 0 for step in steps)
