"""Linear layers that compute with tuned kernels."""

import torch
from torch import Tensor, nn

from xetune_torch.dispatch import DISPATCHER
from xetune_torch.functions import linear, quantized_linear
from xetune_torch.quantize import Quantized, dequantize


class TunedLinear(nn.Module):
    """A linear layer by `xetune_torch.linear`; the parameters are those of the layer that it replaces.

    With `frozen` the weight may be packed once: it must not change any more.
    """

    def __init__(self, replaced: nn.Linear, activation: str = "none", *, frozen: bool = False) -> None:
        super().__init__()
        self.in_features, self.out_features = replaced.in_features, replaced.out_features
        self.weight, self.bias, self.activation = replaced.weight, replaced.bias, activation
        if frozen:
            DISPATCHER.freeze(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Return activation(x @ weight.T + bias): x is [..., in_features]."""
        return linear(x, self.weight, self.bias, self.activation)

    def extra_repr(self) -> str:
        """Return sizes and activation."""
        return f"in_features={self.in_features}, out_features={self.out_features}, activation={self.activation!r}"


class QuantizedLinear(nn.Module):
    """A linear layer of quantised weights, by `xetune_torch.quantized_linear`; it has no gradient."""

    codes: Tensor
    scale: Tensor
    zeros: Tensor | None
    bias: Tensor | None

    def __init__(self, quantized: Quantized, bias: Tensor | None, in_features: int, activation: str = "none") -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, quantized.codes.shape[0]
        self.weights, self.activation = quantized.weights, activation
        self.register_buffer("codes", quantized.codes)
        self.register_buffer("scale", quantized.scale)
        self.register_buffer("zeros", quantized.zeros)
        self.register_buffer("bias", None if bias is None else bias.detach())

    def forward(self, x: Tensor) -> Tensor:
        """Return activation(x @ W.T + bias), where W is what the codes stand for: x is [..., in_features]."""
        of = self.weights
        return quantized_linear(
            *(x, self.codes, self.scale, self.zeros, self.bias),
            dtype=of.dtype,
            group=of.group,
            zero=of.zero,
            activation=self.activation,
        )

    def weight(self, dtype: torch.dtype) -> Tensor:
        """Return the weight [out_features, in_features] that the codes stand for."""
        return dequantize(Quantized(self.weights, self.codes, self.scale, self.zeros), dtype)

    def extra_repr(self) -> str:
        """Return sizes and quantization."""
        return f"in_features={self.in_features}, out_features={self.out_features}, weights={self.weights}"
