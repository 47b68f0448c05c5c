"""Weight-only quantization of linear layers: codes, scales and zero points in the memory layout of kernels."""

import re
from dataclasses import dataclass

import torch

from xetune_torch.gemm import CODES_PER_WORD, NAMES, Weights

_TEXT = re.compile(r"w(?P<bits>[48])a16(?::(?P<group>[0-9]+))?(?P<zeros>:zeros)?")
_ZERO_4 = 8
_PLACES = torch.arange(0, 4 * CODES_PER_WORD, 4, dtype=torch.int32)


@dataclass(frozen=True, slots=True)
class Quantized:
    """Weights of a linear layer with `n` outputs and `k` inputs.

    `codes` are int8 [n, k], or of u4 int32 [n, k / 8], eight neighbours along K a word, the first in the lowest bits;
    `scale` is [groups, n], at most 2^100 in magnitude, which is not checked; `zeros`, if there are any, int32
    [groups / 8, n].
    """

    weights: Weights
    codes: torch.Tensor
    scale: torch.Tensor
    zeros: torch.Tensor | None = None

    @property
    def operands(self) -> tuple[torch.Tensor, ...]:
        """Codes, scales and zero points, as a launch takes them after A."""
        return (self.codes, self.scale) if self.zeros is None else (self.codes, self.scale, self.zeros)


def parse(text: str, dtype: torch.dtype) -> Weights:
    """Return the weights of a shorthand, with scales of `dtype`: w4a16:128, w4a16:64:zeros, w8a16, w8a16:128.

    Raises:
        ValueError: what is expected, and what came.
    """
    found = _TEXT.fullmatch(text)
    if found is None or (found["bits"] == "8" and found["zeros"]):
        raise ValueError(f"expected w4a16, w4a16:64, w4a16:64:zeros, w8a16 or w8a16:128, got {text!r}")
    scale = NAMES[dtype]
    if found["bits"] == "8":
        return Weights("s8", int(found["group"]) if found["group"] else None, scale)
    group = int(found["group"] or 128)
    return Weights("u4", group, scale, 0 if found["zeros"] else _ZERO_4, found["zeros"] is not None)


def quantize(weight: torch.Tensor, weights: Weights) -> Quantized:
    """Round a weight [n, k] to the nearest codes: symmetric ones, or with zero points by the range of each group.

    Raises:
        ValueError: K is not whole groups, or of u4 not whole words.
    """
    n, k = weight.shape
    group = weights.group or k
    if k % group or (weights.dtype == "u4" and k % CODES_PER_WORD):
        raise ValueError(f"expected K of whole groups of {group}, and of words of {CODES_PER_WORD} codes, got {k}")
    groups = weight.detach().float().reshape(n, k // group, group)
    dtype = weight.dtype
    if weights.zeros:
        low, high = groups.amin(-1, keepdim=True).clamp(max=0), groups.amax(-1, keepdim=True).clamp(min=0)
        scale = ((high - low) / 15).clamp(min=1e-8).to(dtype).float()
        zeros = (-low / scale).round().clamp(0, 15)
        codes = ((groups / scale).round() + zeros).clamp(0, 15)
        packed_zeros = _zero_words(zeros.squeeze(-1).t())
    else:
        most, zero = (7, weights.zero) if weights.dtype == "u4" else (127, 0)
        scale = (groups.abs().amax(-1, keepdim=True) / most).clamp(min=1e-8).to(dtype).float()
        low_code, high_code = (0, 15) if weights.dtype == "u4" else (-127, 127)
        codes = ((groups / scale).round() + zero).clamp(low_code, high_code)
        packed_zeros = None
    codes = codes.reshape(n, k)
    stored = words(codes) if weights.dtype == "u4" else codes.to(torch.int8)
    return Quantized(weights, stored, scale.squeeze(-1).t().contiguous().to(dtype), packed_zeros)


def dequantize(quantized: Quantized, dtype: torch.dtype) -> torch.Tensor:
    """Return the weight [n, k] that the codes stand for, rounded once to `dtype`, as kernels do."""
    weights, codes = quantized.weights, quantized.codes
    values = (unpacked(codes) if weights.dtype == "u4" else codes).float()
    k = values.shape[1]
    group = weights.group or k
    if quantized.zeros is not None:
        zeros = unpacked_zeros(quantized.zeros, k // group).float()
        values = values - zeros.t().repeat_interleave(group, 1)
    elif weights.zero:
        values = values - weights.zero
    return (values * quantized.scale.float().t().repeat_interleave(group, 1)).to(dtype)


def words(codes: torch.Tensor) -> torch.Tensor:
    """Return codes of 4 bits [n, k] as words [n, k / 8]."""
    n, k = codes.shape
    eight = codes.to(torch.int64).reshape(n, k // CODES_PER_WORD, CODES_PER_WORD)
    joined = (eight << _PLACES.to(codes.device).long()).sum(-1)
    return (joined - ((joined >> 31) << 32)).to(torch.int32)


def unpacked(stored: torch.Tensor) -> torch.Tensor:
    """Return the codes [n, k] of words [n, k / 8]."""
    return ((stored[..., None] >> _PLACES.to(stored.device)) & 15).reshape(stored.shape[0], -1)


def unpacked_zeros(stored: torch.Tensor, groups: int) -> torch.Tensor:
    """Return the zero points [groups, n] of words [ceil(groups / 8), n]."""
    return unpacked(stored.t().contiguous())[:, :groups].t()


def draw_codes(n: int, k: int, weights: Weights, generator: torch.Generator) -> Quantized:
    """Return random weights of a quantization."""
    drawn = torch.randn(n, k, generator=generator)
    scale = next(dtype for dtype, name in NAMES.items() if name == weights.scale)
    return quantize(drawn.to(scale), weights)


def _zero_words(zeros: torch.Tensor) -> torch.Tensor:
    """Return zero points [groups, n] as words of eight along the groups."""
    groups, n = zeros.shape
    whole = torch.zeros(-(-groups // CODES_PER_WORD) * CODES_PER_WORD, n)
    whole[:groups] = zeros
    return words(whole.t()).t().contiguous()
