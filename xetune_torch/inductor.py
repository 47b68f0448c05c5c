"""Tuned kernels as candidates of torch.compile(mode="max-autotune").

Inductor times them beside its own: of `torch.mm` by `torch._inductor.config.external_matmul`, of `xetune::linear`
by the autotuning of custom operators, whose other candidate is torch's linear layer.
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
