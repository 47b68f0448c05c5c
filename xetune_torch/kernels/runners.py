"""Entries of the table of products: functions of tensors, that call a plan or torch."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

import torch
from torch import Tensor

from xetune_torch.checking import activated
from xetune_torch.dispatch import DISPATCHER, Chosen, grouped_product, integer_product
from xetune_torch.gemm import Weights
from xetune_torch.kernels.cpu_kernel import Plan, check
from xetune_torch.quantize import Quantized, dequantize


class Mm(Protocol):
    """A product of matrices, in a new tensor or in `c`, whose rows are contiguous."""

    def __call__(self, a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor: ...


Grouped = Callable[[Tensor, Tensor, Tensor], Tensor]
Linear = Callable[[Tensor, Tensor, Tensor | None], Tensor]
QuantizedLinear = Callable[[Tensor, Tensor, Tensor, Tensor | None, Tensor | None], Tensor]


def torch_mm(a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
    """Return the product as torch computes it; int32 of bytes."""
    if c is not None:
        return torch.mm(a, b, out=c) if a.is_floating_point() else c.copy_(integer_product(a, b))
    return torch.mm(a, b) if a.is_floating_point() else integer_product(a, b)


def torch_linear(activation: str) -> Linear:
    """Return torch's own linear layer with an activation."""
    linear = torch.nn.functional.linear
    if activation == "none":
        return linear
    return lambda x, weight, bias: activated(linear(x, weight, bias), activation)


def torch_quantized(weights: Weights, activation: str) -> QuantizedLinear:
    """Return a linear layer of weights that are decoded at each call."""

    def run(x: Tensor, codes: Tensor, scale: Tensor, zeros: Tensor | None, bias: Tensor | None) -> Tensor:
        weight = dequantize(Quantized(weights, codes, scale, zeros), x.dtype)
        cast = None if bias is None else bias.to(x.dtype)
        return activated(torch.nn.functional.linear(x, weight, cast), activation)

    return run


def mm_runner(plan: Plan, size: tuple[int, int], dtype: torch.dtype, device: str | None = None) -> Mm:
    """Return a product by a plan; C is a new tensor of `size` on a device, None: the CPU."""
    launch, unaligned = plan.launch, plan.alignment - 1
    empty = torch.empty if device is None else partial(torch.empty, device=device)

    def run(a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
        out = empty(size, dtype=dtype) if c is None else c
        in_a, in_b, in_c = a.data_ptr(), b.data_ptr(), out.data_ptr()
        if (in_a | in_b | in_c) & unaligned:
            return torch_mm(a, b, out)
        if status := launch(in_a, in_b, in_c):
            check(status)
        return out

    return run


def linear_runner(chosen: Chosen, size: tuple[int, ...], dtype: torch.dtype, activation: str) -> Linear:
    """Return a linear layer by the plans that were chosen: for frozen weights by the packed one."""
    other = torch_linear(activation)
    if chosen.plain is not None:
        other = _linear_by(chosen.plain, size, dtype, other)
    return other if chosen.packed is None else _packed_linear_by(chosen.packed, size, dtype, other)


def quantized_runner(plan: Plan, size: tuple[int, ...], dtype: torch.dtype, other: QuantizedLinear) -> QuantizedLinear:
    """Return a quantised linear layer by a plan."""
    launch, unaligned, empty = plan.launch, plan.alignment - 1, torch.empty

    def run(x: Tensor, codes: Tensor, scale: Tensor, zeros: Tensor | None, bias: Tensor | None) -> Tensor:
        y = empty(size, dtype=dtype)
        addresses = [x.data_ptr(), codes.data_ptr(), y.data_ptr(), scale.data_ptr()]
        if zeros is not None:
            addresses.append(zeros.data_ptr())
        if bias is not None:
            addresses.append(bias.data_ptr())
        if any(address & unaligned for address in addresses):
            return other(x, codes, scale, zeros, bias)
        if status := launch(*addresses):
            check(status)
        return y

    return run


def grouped_runner(plan: Plan, size: tuple[int, int]) -> Grouped:
    """Return the products of groups of rows by a plan."""
    launch, unaligned = plan.launch, plan.alignment - 1
    first = torch.zeros(1, dtype=torch.int32)

    def run(a: Tensor, b: Tensor, offsets: Tensor) -> Tensor:
        starts = torch.cat((first, offsets))
        c = a.new_zeros(size)  # rows past the last group are not written
        in_a, in_b, in_c, in_starts = a.data_ptr(), b.data_ptr(), c.data_ptr(), starts.data_ptr()
        if (in_a | in_b | in_c | in_starts) & unaligned:
            return grouped_product(a, b, offsets)
        if status := launch(in_a, in_b, in_c, in_starts):
            check(status)
        return c

    return run


def _linear_by(plan: Plan, size: tuple[int, ...], dtype: torch.dtype, other: Linear) -> Linear:
    launch, unaligned, empty = plan.launch, plan.alignment - 1, torch.empty

    def run(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        y = empty(size, dtype=dtype)
        in_x, in_w, in_y = x.data_ptr(), weight.data_ptr(), y.data_ptr()
        in_bias = 0 if bias is None else bias.data_ptr()
        if (in_x | in_w | in_y | in_bias) & unaligned:
            return other(x, weight, bias)
        status = launch(in_x, in_w, in_y) if bias is None else launch(in_x, in_w, in_y, in_bias)
        if status:
            check(status)
        return y

    return run


def _packed_linear_by(plan: Plan, size: tuple[int, ...], dtype: torch.dtype, other: Linear) -> Linear:
    launch, unaligned, empty, packed_for = plan.launch, plan.alignment - 1, torch.empty, DISPATCHER.packed

    def run(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        in_w = weight.data_ptr()
        packed, _memory = packed_for(weight, in_w, plan)  # held until the launch returns
        y = empty(size, dtype=dtype)
        in_x, in_y, in_bias = x.data_ptr(), y.data_ptr(), 0 if bias is None else bias.data_ptr()
        if not packed or (in_x | in_w | in_y | in_bias) & unaligned:
            return other(x, weight, bias)
        others = (packed,) if bias is None else (in_bias, packed)
        if status := launch(in_x, in_w, in_y, *others):
            check(status)
        return y

    return run
