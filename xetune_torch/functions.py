"""Products of tensors by tuned kernels: functions for eager code, and what the operators call.

A call looks its types, shapes and strides up in a table. What is not there is computed by torch, and asked for in
the background.
"""

import torch
from torch import Tensor

from xetune_torch.dispatch import DISPATCHER, MOST_ENTRIES, Chosen, grouped_product
from xetune_torch.gemm import (
    ACTIVATIONS,
    CODES_PER_WORD,
    NAMES,
    TYPES,
    Weights,
    gemm_of,
    grouped_of,
    linear_of,
    quantized_of,
)
from xetune_torch.kernels.runners import (
    Grouped,
    Linear,
    Mm,
    QuantizedLinear,
    grouped_runner,
    linear_runner,
    mm_runner,
    quantized_runner,
    torch_linear,
    torch_mm,
    torch_quantized,
)

_MM: dict[object, Mm] = DISPATCHER.table()  # pyright: ignore[reportAssignmentType]
_LINEAR: dict[object, Linear] = DISPATCHER.table()  # pyright: ignore[reportAssignmentType]
_QUANTIZED: dict[object, QuantizedLinear] = DISPATCHER.table()  # pyright: ignore[reportAssignmentType]
_GROUPED: dict[object, Grouped] = DISPATCHER.table()  # pyright: ignore[reportAssignmentType]
_PLAIN = (Tensor, torch.nn.Parameter)

_is_compiling = torch.compiler.is_dynamo_compiling
_grad_enabled = torch.is_grad_enabled
_autocasts = torch._C._is_any_autocast_enabled
_modes = torch._C._len_torch_dispatch_stack
_transforms = torch._C._functorch.peek_interpreter_stack  # pyright: ignore[reportAttributeAccessIssue]


def mm(a: Tensor, b: Tensor) -> Tensor:
    """Return a @ b: a is [M, K], b [K, N]; int32 of int8 and uint8, else of their type.

    Without gradients, autocast or a compiler it calls the kernel directly, else the operator `xetune::mm`.
    """
    if (
        _is_compiling()
        or type(a) not in _PLAIN
        or type(b) not in _PLAIN
        or not a.is_cpu
        or not b.is_cpu
        or (_grad_enabled() and (a.requires_grad or b.requires_grad))
        or _autocasts()
        or _modes()
        or _transforms() is not None
    ):
        return torch.ops.xetune.mm(a, b)
    run = _MM.get((a.dtype, a.shape, a.stride(), b.dtype, b.shape, b.stride()))
    return run(a, b) if run is not None else _first_mm(a, b)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
    """Return activation(x @ weight.T + bias): x is [..., K], weight [N, K], bias [N].

    `activation` is one of `ACTIVATIONS`. As `mm`, it calls the kernel directly where it can, else `xetune::linear`.
    """
    if (
        _is_compiling()
        or type(x) not in _PLAIN
        or type(weight) not in _PLAIN
        or (bias is not None and type(bias) not in _PLAIN)
        or not x.is_cpu
        or not weight.is_cpu
        or (_grad_enabled() and (x.requires_grad or weight.requires_grad or (bias is not None and bias.requires_grad)))
        or _autocasts()
        or _modes()
        or _transforms() is not None
    ):
        return torch.ops.xetune.linear(x, weight, bias, activation)
    return linear_cpu(x, weight, bias, activation)


def quantized_linear(
    x: Tensor,
    codes: Tensor,
    scale: Tensor,
    zeros: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    dtype: str = "u4",
    group: int | None = None,
    zero: int = 0,
    activation: str = "none",
) -> Tensor:
    """Return activation(x @ W.T + bias), where W[n, k] = (codes - zero) * scale; see `Quantized` for the memory.

    `dtype` is u4 or s8, `group` the codes along K that share a scale, None for all. It has no gradient.
    """
    if (
        _is_compiling()
        or type(x) not in _PLAIN
        or (bias is not None and type(bias) not in _PLAIN)
        or not x.is_cpu
        or not codes.is_cpu
        or (_grad_enabled() and (x.requires_grad or (bias is not None and bias.requires_grad)))
        or _autocasts()
        or _modes()
        or _transforms() is not None
    ):
        return torch.ops.xetune.quantized_linear(x, codes, scale, zeros, bias, dtype, group or 0, zero, activation)
    return quantized_linear_cpu(x, codes, scale, zeros, bias, dtype, group or 0, zero, activation)


def grouped_mm(a: Tensor, b: Tensor, offsets: Tensor) -> Tensor:
    """Return the products of groups of rows: rows offsets[e - 1] to offsets[e] of a [M, K] by b[e], of b [E, K, N].

    `offsets` are int32 [E], the ends of the groups, as of `torch._grouped_mm`; rows from the last on are zeros.
    It has no gradient.
    """
    return torch.ops.xetune.grouped_mm(a, b, offsets)


def mm_cpu(a: Tensor, b: Tensor) -> Tensor:
    """Compute `xetune::mm` on the CPU."""
    run = _MM.get((a.dtype, a.shape, a.stride(), b.dtype, b.shape, b.stride()))
    return run(a, b) if run is not None else _first_mm(a, b)


def linear_cpu(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
    """Compute `xetune::linear` on the CPU."""
    key = (
        *(x.dtype, x.shape, x.stride(), weight.dtype, weight.shape, weight.stride(), activation),
        None if bias is None else bias.dtype,
    )
    run = _LINEAR.get(key)
    return run(x, weight, bias) if run is not None else _first_linear(key, x, weight, bias, activation)


def quantized_linear_cpu(
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
    """Compute `xetune::quantized_linear` on the CPU."""
    no_bias, no_zeros = None if bias is None else bias.dtype, zeros is None
    key = (x.dtype, x.shape, x.stride(), codes.shape, scale.dtype, no_zeros, no_bias, dtype, group, zero, activation)
    run = _QUANTIZED.get(key)
    if run is None:
        weights = Weights(dtype, group or None, NAMES[scale.dtype], zero, zeros is not None)
        run = _first_quantized(key, x, codes, weights, bias, activation)
    return run(x, codes, scale, zeros, bias)


def grouped_mm_cpu(a: Tensor, b: Tensor, offsets: Tensor) -> Tensor:
    """Compute `xetune::grouped_mm` on the CPU.

    Raises:
        ValueError: offsets that are not int32, fall, or lie beyond the rows.
    """
    ends = offsets.tolist()
    if offsets.dtype is not torch.int32:
        raise ValueError(f"expected offsets of torch.int32, got {offsets.dtype}: pass offsets.int()")
    if len(ends) != b.shape[0] or any(end < start for start, end in zip([0, *ends], [*ends, a.shape[0]], strict=True)):
        raise ValueError(f"expected {b.shape[0]} offsets that rise to at most {a.shape[0]}, got {ends}")
    key = (a.dtype, a.shape, a.stride(), b.dtype, b.shape, b.stride())
    run = _GROUPED.get(key)
    return run(a, b, offsets) if run is not None else _first_grouped(key, a, b, offsets)


def mm_into(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Write a @ b into c, whose type is that of `mm`."""
    if c.stride() != (b.shape[1], 1):
        return c.copy_(mm_cpu(a, b))
    run = _MM.get((a.dtype, a.shape, a.stride(), b.dtype, b.shape, b.stride()))
    return run(a, b, c) if run is not None else c.copy_(_first_mm(a, b))


def check_linear(x: Tensor, weight_k: int, activation: str) -> None:
    """Check what the operators take.

    Raises:
        ValueError: another activation, or sizes that do not fit.
    """
    if activation not in ACTIVATIONS:
        raise ValueError(f"expected an activation of {', '.join(ACTIVATIONS)}, got {activation!r}")
    if x.dim() < 1 or x.shape[-1] != weight_k:
        raise ValueError(f"expected x [..., {weight_k}], got {list(x.shape)}")


def codes_k(codes: Tensor, dtype: str) -> int:
    """Return K of the codes of a weight.

    Raises:
        ValueError: another type of codes.
    """
    if dtype not in ("u4", "s8"):
        raise ValueError(f"expected codes of dtype u4 or s8, got {dtype!r}")
    return codes.shape[1] * (CODES_PER_WORD if dtype == "u4" else 1)


def _first_mm(a: Tensor, b: Tensor) -> Tensor:
    key = (a.dtype, a.shape, a.stride(), b.dtype, b.shape, b.stride())
    dtype = a.dtype if a.is_floating_point() else torch.int32
    if len(_MM) < MOST_ENTRIES and a.dim() == b.dim() == 2 and a.shape[1] == b.shape[0]:
        _MM[key] = torch_mm
        if (gemm := gemm_of(a, b, dtype)) is not None:
            size = gemm.m, gemm.n

            def install(chosen: Chosen) -> None:
                if chosen.plain is not None:
                    _MM[key] = mm_runner(chosen.plain, size, dtype)

            DISPATCHER.ask(gemm, install)
    return torch_mm(a, b)


def _first_linear(key: object, x: Tensor, weight: Tensor, bias: Tensor | None, activation: str) -> Tensor:
    check_linear(x, weight.shape[1], activation)
    other = torch_linear(activation)
    if len(_LINEAR) < MOST_ENTRIES:
        _LINEAR[key] = other
        if (gemm := linear_of(x, weight, bias, activation)) is not None:
            size, dtype, constant = (*x.shape[:-1], gemm.n), x.dtype, DISPATCHER.freezes_like(weight)

            def install(chosen: Chosen) -> None:
                _LINEAR[key] = linear_runner(chosen, size, dtype, activation)

            DISPATCHER.ask(gemm, install, constant_b=constant)
    return other(x, weight, bias)


def _first_grouped(key: object, a: Tensor, b: Tensor, offsets: Tensor) -> Tensor:
    if len(_GROUPED) < MOST_ENTRIES:
        _GROUPED[key] = grouped_product
        if (gemm := grouped_of(a, b)) is not None:
            size = gemm.m, gemm.n

            def install(chosen: Chosen) -> None:
                if chosen.plain is not None:
                    _GROUPED[key] = grouped_runner(chosen.plain, size)

            DISPATCHER.ask(gemm, install)
    return grouped_product(a, b, offsets)


def _first_quantized(
    key: object, x: Tensor, codes: Tensor, weights: Weights, bias: Tensor | None, activation: str
) -> QuantizedLinear:
    check_linear(x, codes_k(codes, weights.dtype), activation)
    other = torch_quantized(weights, activation)
    if len(_QUANTIZED) < MOST_ENTRIES:
        _QUANTIZED[key] = other
        gemm = quantized_of(x, codes.shape[0], weights, bias, activation)
        if gemm is not None and codes.is_contiguous():
            size, dtype = (*x.shape[:-1], gemm.n), TYPES[gemm.c]

            def install(chosen: Chosen) -> None:
                if chosen.plain is not None:
                    _QUANTIZED[key] = quantized_runner(chosen.plain, size, dtype, other)

            DISPATCHER.ask(gemm, install)
    return other
