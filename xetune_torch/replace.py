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

_QUANTISED = (torch.float16, torch.bfloat16)


@dataclass(frozen=True, slots=True)
class Replaced:
    """A layer of a model by its first name ("": the model itself), the product of each example, and the relative error
    of its quantised weights (0: none).
    """

    name: str
    gemms: tuple[Gemm, ...]
    weight_error: float


@dataclass(frozen=True, slots=True)
class Report:
    """Result of `replace_linears`: the layers replaced, the kernels compared with torch for them, now or before, and
    the model, which is another one if it is a linear layer itself.
    """

    layers: tuple[Replaced, ...]
    choices: tuple[Choice, ...]
    model: nn.Module

    def __str__(self) -> str:
        gemms = dict.fromkeys(gemm for layer in self.layers for gemm in layer.gemms)
        lines = [f"{_count(len(self.layers), 'layer')}, {_count(len(gemms), 'product')}"]
        for gemm in gemms:
            layers = sum(gemm in layer.gemms for layer in self.layers)
            lines.append(f"  {gemm} in {_count(layers, 'layer')}: {self._chosen(gemm)}")
        if error := max((layer.weight_error for layer in self.layers), default=0.0):
            lines.append(f"  quantised weights differ by up to {error:.1%} (Frobenius norm)")
        return "\n".join(lines)

    def _chosen(self, gemm: Gemm) -> str:
        choices = [choice for choice in self.choices if choice.gemm == gemm]
        last = next((choice for choice in reversed(choices) if choice.used), None)  # it replaced those before
        if last is None:
            return "torch's own" + "".join(f"; {choice.reason}" for choice in choices if choice.reason)
        return f"{last.ours_us:.1f} us, torch {last.torch_us:.1f} us, ratio {last.ratio:.2f} ({last.source})"


def replace_linears(
    model: nn.Module,
    examples: Sequence[tuple[Any, ...] | Tensor],
    *,
    quantize_to: str | None = None,
    trials: int = 20,
    seconds: float = 120.0,
    frozen: bool = True,
    only: Callable[[str, nn.Linear], bool] = lambda _name, _layer: True,
) -> Report:
    """Replace the linear layers of a model in place, after tuning the products that `examples` lead to.

    Each example is the positional arguments of a call of the model, or its only one; other numbers of rows are asked
    for when they occur. A layer that the model has under several names is one layer and stays one. A model that is a
    linear layer itself cannot be replaced in place: use `model` of the report. The store is that of `xetune_torch.use`.
    With `trials` 0 nothing is tuned, and only what the store has is used. `quantize_to` rounds weights of float16 and
    bfloat16: w4a16:128, w4a16:64:zeros, w8a16, w8a16:128. `frozen` weights must not change any more. `only` selects
    layers by name; a layer whose types or sizes no kernel computes is left as it is.

    Raises:
        StoreFailed: no store is in use, or it cannot tune.
        ValueError: an unknown quantization, one of layers of another type, or an example that is no tuple or tensor.
    """
    store = DISPATCHER.store
    if store is None:
        raise StoreFailed("no store of kernels is in use: call xetune_torch.use(LocalStore()) first")
    calls = [_arguments(example) for example in examples]
    found = {name: layer for name, layer in model.named_modules() if type(layer) is nn.Linear and only(name, layer)}
    names = _names(model, found)
    _check_types(found, quantize_to)
    inputs = _inputs_of(model, found, calls)
    layers: list[Replaced] = []
    for name, layer in found.items():
        weights = _weights(layer, quantize_to)
        gemms = tuple(dict.fromkeys(g for x in inputs[name] if (g := _gemm(x, layer, weights)) is not None))
        if gemms:
            made, error = _made(layer, weights, frozen)
            layers.append(Replaced(name, gemms, error))
            for each in names[name]:
                model = _put(model, each, made)
    wanted = list(dict.fromkeys(gemm for layer in layers for gemm in layer.gemms))
    if trials:
        store.tune(wanted, trials, seconds)
    constant = frozen and quantize_to is None
    for gemm in wanted:
        DISPATCHER.decide(gemm, constant_b=constant)
    with torch.inference_mode():
        for call in [*calls, *calls]:  # the first calls fill the table and pack weights
            model(*call)
            DISPATCHER.wait()
    choices = tuple(choice for choice in DISPATCHER.choices if choice.gemm in wanted)
    return Report(tuple(layers), choices, model)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _arguments(example: object) -> tuple[Any, ...]:
    """Return the positional arguments of an example.

    Raises:
        ValueError: it is neither a tuple, a list nor a tensor.
    """
    if isinstance(example, Tensor):
        return (example,)
    if isinstance(example, (tuple, list)):
        return tuple(example)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    raise ValueError(f"expected each example as a tuple of arguments or as a tensor, got {type(example).__name__}")


def _names(model: nn.Module, layers: dict[str, nn.Linear]) -> dict[str, list[str]]:
    """Return all names of each layer by the first."""
    first = {id(layer): name for name, layer in layers.items()}
    names: dict[str, list[str]] = {name: [] for name in layers}
    for name, module in model.named_modules(remove_duplicate=False):
        if (of := first.get(id(module))) is not None:
            names[of].append(name)
    return names


def _check_types(layers: dict[str, nn.Linear], quantize_to: str | None) -> None:
    """Check that a quantization is of layers that can be quantised.

    Raises:
        ValueError: a layer of another type.
    """
    if quantize_to is None:
        return
    parse(quantize_to, torch.float16)
    for name, layer in layers.items():
        if layer.weight.dtype not in _QUANTISED:
            raise ValueError(
                f"quantize_to={quantize_to!r}: expected weights of float16 or bfloat16, got {layer.weight.dtype} of "
                f"{name or 'the model'}: convert it, as by model.bfloat16(), or leave it out by `only`"
            )


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
    if quantize_to is None:
        return None
    weights = parse(quantize_to, layer.weight.dtype)
    return weights if layer.in_features % (weights.group or 8) == 0 else None


def _gemm(x: Tensor, layer: nn.Linear, weights: Weights | None) -> Gemm | None:
    if weights is None:
        return linear_of(x, layer.weight, layer.bias, "none")
    return quantized_of(x, layer.out_features, weights, layer.bias, "none")


def _made(layer: nn.Linear, weights: Weights | None, frozen: bool) -> tuple[nn.Module, float]:
    """Return what computes a layer, and the relative error of its quantised weights."""
    if weights is None:
        return TunedLinear(layer, frozen=frozen).train(layer.training), 0.0
    quantized = QuantizedLinear(quantize(layer.weight, weights), layer.bias, layer.in_features)
    difference = quantized.weight(torch.float32) - layer.weight.float()
    return quantized.train(layer.training), float(difference.norm() / layer.weight.float().norm())


def _put(model: nn.Module, name: str, made: nn.Module) -> nn.Module:
    """Return the model with a module of that name; "" is the model itself."""
    if not name:
        return made
    parent, _, own = name.rpartition(".")
    setattr(model.get_submodule(parent), own, made)
    return model
