"""Operators of torch.library: `xetune::mm`, `linear`, `quantized_linear` and `grouped_mm`.

They have fake kernels, so that torch.compile and torch.export work; `mm` and `linear` have gradients, computed by
torch. Under autocast they compute in its type. What torch does between a call and its kernel is spared where it changes
nothing: calls of plain CPU tensors without gradients go to the kernel from the first function that torch calls.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._library.autograd import Info, make_autograd_impl

from xetune_torch import functions
from xetune_torch.dispatch import grouped_product
from xetune_torch.functions import check_linear, codes_k
from xetune_torch.gemm import NAMES, Weights
from xetune_torch.kernels.runners import torch_linear, torch_mm, torch_quantized
from xetune_torch.xpu import mm_xpu

_LIBRARY = torch.library.Library("xetune", "DEF")
_SCHEMAS = (
    "mm(Tensor a, Tensor b) -> Tensor",
    'linear(Tensor x, Tensor weight, Tensor? bias=None, str activation="none") -> Tensor',
    "quantized_linear(Tensor x, Tensor codes, Tensor scale, Tensor? zeros, Tensor? bias, str dtype, int group, "
    "int zero, str activation) -> Tensor",
    "grouped_mm(Tensor a, Tensor b, Tensor offsets) -> Tensor",
)


def _linear_by_torch(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
    return torch_linear(activation)(x, weight, bias)


def _quantized_by_torch(
    x: Tensor,
    codes: Tensor,
    scale: Tensor,
    zeros: Tensor | None,
    bias: Tensor | None,
    dtype: str,
    group: int,
    zero: int,
    activation: str,
) -> Tensor:
    weights = Weights(dtype, group or None, NAMES[scale.dtype], zero, zeros is not None)
    return torch_quantized(weights, activation)(x, codes, scale, zeros, bias)


_BY_TORCH = {
    "mm": torch_mm,
    "linear": _linear_by_torch,
    "quantized_linear": _quantized_by_torch,
    "grouped_mm": grouped_product,
}
"""Computation on devices without a kernel."""
_DEFAULTS = (None, "none")  # bias and activation
_FLOATS = (torch.float32, torch.float16, torch.bfloat16)
_PLAIN = (
    torch._C.DispatchKeySet(torch._C.DispatchKey.CPU) | torch._C.DispatchKeySet(torch._C.DispatchKey.AutogradCPU)
).raw_repr()
"""Keys of calls of CPU tensors without modes, subclasses and views that compute, such as of negated tensors."""
_grad_enabled, _any_requires_grad = torch.is_grad_enabled, torch._C._any_requires_grad


def _fake_mm(a: Tensor, b: Tensor) -> Tensor:
    torch._check(a.dim() == 2 and b.dim() == 2, lambda: f"expected two matrices, got {a.dim()}-D and {b.dim()}-D")
    torch._check(a.shape[1] == b.shape[0], lambda: f"expected K of both equal, got {a.shape[1]} and {b.shape[0]}")
    return a.new_empty((a.shape[0], b.shape[1]), dtype=a.dtype if a.is_floating_point() else torch.int32)


def _fake_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
    check_linear(x, weight.shape[1], activation)
    return x.new_empty((*x.shape[:-1], weight.shape[0]))


def _fake_quantized(
    x: Tensor,
    codes: Tensor,
    scale: Tensor,
    zeros: Tensor | None,
    bias: Tensor | None,
    dtype: str,
    group: int,
    zero: int,
    activation: str,
) -> Tensor:
    check_linear(x, codes_k(codes, dtype), activation)
    return x.new_empty((*x.shape[:-1], codes.shape[0]))


def _fake_grouped(a: Tensor, b: Tensor, offsets: Tensor) -> Tensor:
    torch._check(
        a.dim() == 2 and b.dim() == 3, lambda: f"expected a [M, K] and b [E, K, N], got {a.dim()}-D, {b.dim()}-D"
    )
    torch._check(a.shape[1] == b.shape[1], lambda: f"expected K of both equal, got {a.shape[1]} and {b.shape[1]}")
    return a.new_empty((a.shape[0], b.shape[2]), dtype=a.dtype if a.is_floating_point() else torch.int32)


def _mm_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
    a, b = ctx.saved_tensors
    grad_a = grad @ b.t() if ctx.needs_input_grad[0] else None
    return grad_a, a.t() @ grad if ctx.needs_input_grad[1] else None


def _mm_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _linear_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, weight, *others = inputs  # torch leaves out arguments that are their defaults
    bias, ctx.activation = (*others, *_DEFAULTS[len(others) :])
    ctx.inputs = len(inputs)
    ctx.save_for_backward(x, weight, bias, output)


def _linear_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    x, weight, bias, y = ctx.saved_tensors
    grad = _before_activation(ctx.activation, grad, x, weight, bias, y)
    rows, flat = x.reshape(-1, x.shape[-1]), grad.reshape(-1, grad.shape[-1])
    needs_x, needs_weight, *needs = ctx.needs_input_grad
    grads = (
        grad @ weight if needs_x else None,
        flat.t() @ rows if needs_weight else None,
        flat.sum(0).to(bias.dtype) if needs and needs[0] else None,
        None,
    )
    return grads[: ctx.inputs]


def _before_activation(
    activation: str, grad: Tensor, x: Tensor, weight: Tensor, bias: Tensor | None, y: Tensor
) -> Tensor:
    """Return the gradient of what the activation was applied to; that is computed again where it is needed."""
    aten = torch.ops.aten
    match activation:
        case "none":
            return grad
        case "relu":
            return aten.threshold_backward(grad, y, 0)
        case "sigmoid":
            return aten.sigmoid_backward(grad, y)
        case "tanh":
            return aten.tanh_backward(grad, y)
        case _:
            before = torch.nn.functional.linear(x, weight, None if bias is None else bias.to(x.dtype))
            if activation == "silu":
                return aten.silu_backward(grad, before)
            return aten.gelu_backward(grad, before, approximate="tanh" if activation == "gelu_tanh" else "none")


def _no_gradient(name: str, instead: str) -> Callable[..., Any]:
    def backward(_ctx: Any, _grad: Tensor) -> None:
        raise NotImplementedError(f"xetune::{name} has no gradient: call it under torch.no_grad(), or {instead}")

    return backward


def _cast(value: Any, dtype: torch.dtype) -> Any:
    return value.to(dtype) if isinstance(value, Tensor) and value.dtype in _FLOATS else value


def _register_autocast(name: str, inputs: int) -> None:
    """Have an operator compute in the type of autocast; its first `inputs` arguments are cast."""
    operator = getattr(torch.ops.xetune, name).default

    def under_autocast(device: str, key: Any) -> Callable[..., Tensor]:
        def run(*arguments: Any) -> Tensor:
            dtype = torch.get_autocast_dtype(device)
            cast = [_cast(each, dtype) if i < inputs else each for i, each in enumerate(arguments)]
            with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(key)):
                return operator(*cast)

        return run

    for device, key in (("cpu", "AutocastCPU"), ("xpu", "AutocastXPU")):
        _LIBRARY.impl(name, under_autocast(device, getattr(torch._C.DispatchKey, key)), key)


def _register_autograd(name: str, backward: Callable[..., Any], context: Callable[..., None] | None = None) -> None:
    """Register a gradient as `torch.library.register_autograd` does, but compute at once what needs none.

    Otherwise torch goes through its dispatcher a second time, which takes as long as the rest of the call.
    """
    compute = getattr(functions, f"{name}_cpu")
    with_gradient = make_autograd_impl(getattr(torch.ops.xetune, name).default, Info(backward, context))

    def run(keys: Any, *arguments: Any) -> Tensor:
        if keys.raw_repr() == _PLAIN and not (_grad_enabled() and _any_requires_grad(*arguments)):
            return compute(*arguments)
        return with_gradient(keys, *arguments)

    _LIBRARY.impl(name, run, "Autograd", with_keyset=True)


def _register() -> None:
    for schema in _SCHEMAS:
        _LIBRARY.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
    for name, fake, cast in (
        ("mm", _fake_mm, 2),
        ("linear", _fake_linear, 3),
        ("quantized_linear", _fake_quantized, 1),
        ("grouped_mm", _fake_grouped, 2),
    ):
        torch.library.register_fake(f"xetune::{name}", fake, lib=_LIBRARY)
        _LIBRARY.impl(name, getattr(functions, f"{name}_cpu"), "CPU")
        for device in ("CUDA", "XPU"):
            _LIBRARY.impl(name, mm_xpu if (name, device) == ("mm", "XPU") else _BY_TORCH[name], device)
        _register_autocast(name, cast)
    _register_autograd("mm", _mm_backward, _mm_context)
    _register_autograd("linear", _linear_backward, _linear_context)
    _register_autograd("quantized_linear", _no_gradient("quantized_linear", "train with the linear layer"))
    _register_autograd("grouped_mm", _no_gradient("grouped_mm", "multiply each group by xetune_torch.mm"))


_register()
