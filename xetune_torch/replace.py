"""Tuning and replacing the linear layers of a model."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from xetune_torch.dispatch import DISPATCHER, Choice
from xetune_torch.errors import StoreFailed
from xetune_torch.gemm import Gemm, Weights, linear_of, quantized_of
from xetune_torch.modules import QuantizedLinear, TunedLinear
from xetune_torch.quantize import parse, quantize


@dataclass(frozen=True, slots=True)
class Replaced:
    """A layer of a model, the product of each example, and the relative error of its quantised weights (0: none)."""

    name: str
    gemms: tuple[Gemm, ...]
    weight_error: float


@dataclass(frozen=True, slots=True)
class Report:
    """What `replace_linears` did: the layers replaced, and the kernels compared with torch for them."""

    layers: tuple[Replaced, ...]
    choices: tuple[Choice, ...]

    def __str__(self) -> str:
        gemms = dict.fromkeys(gemm for layer in self.layers for gemm in layer.gemms)
        lines = [f"{len(self.layers)} layers, {len(gemms)} products"]
        for gemm in gemms:
            layers = sum(gemm in layer.gemms for layer in self.layers)
            lines.append(f"  {gemm} in {layers} layers: {self._chosen(gemm)}")
        if error := max((layer.weight_error for layer in self.layers), default=0.0):
            lines.append(f"  quantised weights differ by up to {error:.1%} (Frobenius norm)")
        return "\n".join(lines)

    def _chosen(self, gemm: Gemm) -> str:
        choices = [choice for choice in self.choices if choice.gemm == gemm]
        best = min((c for c in choices if c.used and c.ours_us is not None), key=lambda c: c.ours_us or 0, default=None)
        if best is None:
            return "torch's own" + "".join(f"; {choice.reason}" for choice in choices if choice.reason)
        return f"{best.ours_us:.1f} us, torch {best.torch_us:.1f} us, ratio {best.ratio:.2f} ({best.source})"


def replace_linears(
    model: nn.Module,
    examples: Sequence[tuple[Any, ...]],
    *,
    quantize_to: str | None = None,
    trials: int = 20,
    seconds: float = 120.0,
    frozen: bool = True,
    only: Callable[[str, nn.Linear], bool] = lambda _name, _layer: True,
) -> Report:
    """Replace the linear layers of a model in place, after tuning the products that `examples` lead to.

    Each example is the positional arguments of a call of the model; other numbers of rows are asked for when they
    occur. The store is that of `xetune_torch.use`. With `trials` 0 nothing is tuned, and only what the store has is
    used. `quantize_to` rounds weights: w4a16:128, w4a16:64:zeros, w8a16, w8a16:128. `frozen` weights must not change
    any more. `only` selects layers by name; a layer whose types or sizes no kernel computes is left as it is.

    Raises:
        StoreFailed: no store is in use, or it cannot tune.
        ValueError: an unknown quantization.
    """
    store = DISPATCHER.store
    if store is None:
        raise StoreFailed("no store of kernels is in use: call xetune_torch.use(LocalStore()) first")
    found = {name: layer for name, layer in model.named_modules() if type(layer) is nn.Linear and only(name, layer)}
    inputs = _inputs_of(model, found, examples)
    layers: list[Replaced] = []
    for name, layer in found.items():
        weights = _weights(layer, quantize_to)
        gemms = tuple(dict.fromkeys(g for x in inputs[name] if (g := _gemm(x, layer, weights)) is not None))
        if gemms:
            layers.append(_replace(model, name, layer, gemms, weights, frozen))
    wanted = list(dict.fromkeys(gemm for layer in layers for gemm in layer.gemms))
    if trials:
        store.tune(wanted, trials, seconds)
    before = len(DISPATCHER.choices)
    constant = frozen and quantize_to is None
    for gemm in wanted:
        DISPATCHER.decide(gemm, constant_b=constant)
    with torch.inference_mode():
        for example in [*examples, *examples]:  # the first calls fill the table and pack weights
            model(*example)
            DISPATCHER.wait()
    return Report(tuple(layers), tuple(DISPATCHER.choices[before:]))


def _inputs_of(
    model: nn.Module, layers: dict[str, nn.Linear], examples: Sequence[tuple[Any, ...]]
) -> dict[str, list[Tensor]]:
    """Return one input of each shape that the layers are given by the examples."""
    inputs: dict[str, list[Tensor]] = {name: [] for name in layers}

    def note(name: str) -> Callable[[nn.Module, tuple[Any, ...]], None]:
        def hook(_layer: nn.Module, given: tuple[Any, ...]) -> None:
            x = given[0]
            if all(x.shape != other.shape or x.stride() != other.stride() for other in inputs[name]):
                inputs[name].append(x)

        return hook

    with ExitStack() as stack, torch.no_grad():
        for name, layer in layers.items():
            stack.callback(layer.register_forward_pre_hook(note(name)).remove)
        for example in examples:
            model(*example)
    return inputs


def _weights(layer: nn.Linear, quantize_to: str | None) -> Weights | None:
    if quantize_to is None or layer.weight.dtype not in (torch.float16, torch.bfloat16):
        return None
    weights = parse(quantize_to, layer.weight.dtype)
    return weights if layer.in_features % (weights.group or 8) == 0 else None


def _gemm(x: Tensor, layer: nn.Linear, weights: Weights | None) -> Gemm | None:
    if weights is None:
        return linear_of(x, layer.weight, layer.bias, "none")
    return quantized_of(x, layer.out_features, weights, layer.bias, "none")


def _replace(
    model: nn.Module, name: str, layer: nn.Linear, gemms: tuple[Gemm, ...], weights: Weights | None, frozen: bool
) -> Replaced:
    parent, _, own = name.rpartition(".")
    error = 0.0
    if weights is None:
        made: nn.Module = TunedLinear(layer, frozen=frozen)
    else:
        quantized = QuantizedLinear(quantize(layer.weight, weights), layer.bias, layer.in_features)
        difference = quantized.weight(torch.float32) - layer.weight.float()
        error = float(difference.norm() / layer.weight.float().norm())
        made = quantized
    setattr(model.get_submodule(parent), own, made.train(layer.training))
    return Replaced(name, gemms, error)
