"""Tuned kernels as candidates of torch.compile(mode="max-autotune").

Of `torch.mm` it times them beside its own by `torch._inductor.config.external_matmul`, which in torch 2.15 only the
lowering of `aten.mm` reads. Of `xetune::mm` and `xetune::linear` it times the operator, as it is, and the same in
operations of aten, which it fuses with others (`torch._inductor.kernel.custom_op`). `xetune::quantized_linear` and
`xetune::grouped_mm` are called as they are.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch._inductor import config
from torch._inductor.kernel.custom_op import CustomOpConfig, register_custom_op_autotuning
from torch._inductor.kernel.mm import lazy_register_extern_choice
from torch._inductor.virtualized import NullHandler, V

from xetune_torch.dispatch import DISPATCHER
from xetune_torch.functions import mm_into
from xetune_torch.kernels.runners import torch_linear, torch_mm

_registered: list[str] = []


def consider_kernels() -> None:
    """Have Inductor consider our kernels from now on for `torch.mm`, `xetune::mm` and `xetune::linear` that it tunes.

    Calls that it times while it compiles wait for the answer of the store; others never do.
    """
    if xetune_mm not in config.external_matmul:
        config.external_matmul = [*config.external_matmul, xetune_mm]
    lazy_register_extern_choice(xetune_mm)  # code that Inductor kept on disk calls it by its name
    DISPATCHER.waits = _is_lowering
    if not _registered:
        _register("mm", torch_mm)
        _register("linear", linear_in_aten)


def xetune_mm(a: Tensor, b: Tensor, out: Tensor) -> Tensor:
    """Write a @ b into `out`."""
    return mm_into(a, b, out)


def linear_in_aten(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
    """Return `xetune::linear` in operations of aten."""
    return torch_linear(activation)(x, weight, bias)


def _register(name: str, decomposition: Callable[..., Tensor]) -> None:
    candidates = [CustomOpConfig(decomposition)]

    def considered(_inputs: dict[str, Tensor]) -> list[CustomOpConfig]:
        return candidates if config.max_autotune or config.max_autotune_gemm else []

    register_custom_op_autotuning(
        getattr(torch.ops.xetune, name).default, config_generator=considered, name=f"xetune_{name}"
    )
    _registered.append(name)


def _is_lowering() -> bool:
    """Return whether Inductor is at work in this thread; it times candidates then."""
    return not isinstance(V.graph, NullHandler)
