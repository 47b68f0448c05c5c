"""Tuned kernels as candidates of torch.compile(mode="max-autotune").

Inductor times them beside its own, by `torch._inductor.config.external_matmul`. In torch 2.15 only `aten.mm` reads that
list: `addmm`, `bmm` and `_int_mm` have no such door.
"""

from torch import Tensor
from torch._inductor import config

from xetune_torch.functions import mm_into


def consider_kernels() -> None:
    """Have Inductor consider our kernels from now on for every matrix product that it tunes."""
    if xetune_mm not in config.external_matmul:
        config.external_matmul = [*config.external_matmul, xetune_mm]


def xetune_mm(a: Tensor, b: Tensor, out: Tensor) -> Tensor:
    """Write a @ b into `out`."""
    return mm_into(a, b, out)
