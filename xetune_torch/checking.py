"""Comparison of a plan with torch: its numbers, and its time in turns with torch's."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from xetune_torch.errors import WrongResult
from xetune_torch.gemm import TYPES, Gemm, Weights
from xetune_torch.kernels.cpu_kernel import Plan, check
from xetune_torch.quantize import dequantize, draw_codes

_ROWS, _ROUNDS, _SAMPLE_S = 32, 7, 0.002
_ROUNDING = {"f32": 2.0**-22, "f16": 2.0**-10, "bf16": 2.0**-7}


@dataclass(frozen=True, slots=True)
class Operands:
    """Random operands of a product: A and B as torch sees them ([m, k] and [k, n], or [experts, k, n] with the
    offsets of their rows), what a kernel is given, and C.
    """

    a: torch.Tensor
    b: torch.Tensor
    offsets: torch.Tensor | None
    bias: torch.Tensor | None
    given: tuple[torch.Tensor, ...]
    c: torch.Tensor

    @property
    def addresses(self) -> tuple[int, ...]:
        """Addresses in the order of a launch: A, B, C, then the others."""
        first, second, *others = self.given
        return first.data_ptr(), second.data_ptr(), self.c.data_ptr(), *(other.data_ptr() for other in others)


def draw(gemm: Gemm) -> Operands:
    """Return random operands with the types and strides of a product."""
    generator = torch.Generator().manual_seed(0)
    device = gemm.place.of_torch
    a = _matrix(gemm.m, gemm.k, gemm.a, gemm.transpose_a, gemm.lda, generator, device)
    c = torch.empty(gemm.m, gemm.n, dtype=TYPES[gemm.c], device=device)
    bias = None if gemm.bias is None else torch.randn(gemm.n, generator=generator).to(TYPES[gemm.bias])
    vectors = () if bias is None else (bias,)
    if isinstance(gemm.b, Weights):
        coded = draw_codes(gemm.n, gemm.k, gemm.b, generator)
        b = dequantize(coded, TYPES[gemm.a]).t()
        return Operands(a, b, None, bias, (a, *coded.operands, *vectors), c)
    if gemm.experts is not None:
        lines = (gemm.n, gemm.k) if gemm.transpose_b else (gemm.k, gemm.n)
        stored = torch.randn(gemm.experts, *lines, generator=generator).to(TYPES[gemm.b])
        offsets = torch.arange(gemm.experts + 1, dtype=torch.int32) * gemm.m // gemm.experts
        b = stored.mT if gemm.transpose_b else stored
        return Operands(a, b, offsets.int(), None, (a, stored, offsets.int()), c)
    b = _matrix(gemm.k, gemm.n, gemm.b, gemm.transpose_b, gemm.ldb, generator, device)
    return Operands(a, b, None, bias, (a, b, *vectors), c)


def check_numbers(gemm: Gemm, plan: Plan, operands: Operands) -> float:
    """Return the largest error relative to its bound, of some rows of C.

    Raises:
        WrongResult: an error is above its bound.
    """
    addresses = packed_addresses(plan, operands)
    operands.c.fill_(torch.nan if operands.c.is_floating_point() else 1)
    check(plan.launch(*addresses[0]))
    rows = torch.linspace(0, gemm.m - 1, min(gemm.m, _ROWS)).long()
    a, b = operands.a.cpu()[rows].double(), operands.b.cpu().double()
    if operands.offsets is None:
        want, size = a @ b, a.abs() @ b.abs()
    else:
        of_rows = b[torch.searchsorted(operands.offsets, rows, right=True) - 1]
        want, size = ((x[:, None] @ y)[:, 0] for x, y in ((a, of_rows), (a.abs(), of_rows.abs())))
    if operands.bias is not None:
        want, size = want + operands.bias, size + operands.bias.abs()
    want = activated(want, gemm.activation)
    got = operands.c.cpu()[rows].double()
    bound = size * gemm.k * 2.0**-24 * 4 + want.abs() * _ROUNDING.get(gemm.c, 0.0) + 1e-6
    if gemm.a in ("s8", "u8"):
        bound = torch.full_like(want, 0.5)
    worst = float(((got - want).abs() / bound).nan_to_num(torch.inf).max())
    if worst > 1:
        raise WrongResult(f"{gemm}: the kernel's error is {worst:.3g} times its bound; torch's own is used")
    return worst


def packed_addresses(plan: Plan, operands: Operands) -> tuple[tuple[int, ...], torch.Tensor | None]:
    """Return the addresses for a plan, and its packed B, which has to be kept."""
    addresses = operands.addresses
    if not plan.prepacked:
        return addresses, None
    inputs = operands.given[1:] if operands.bias is None else operands.given[1:-1]
    packed = plan.pack(*(each.data_ptr() for each in inputs))
    return (*addresses, packed.data_ptr()), packed


def time_in_turns(ours: Callable[[], object], other: Callable[[], object], device: str) -> tuple[float, float]:
    """Return the least times of two functions in seconds, measured in turns, on a device of torch."""
    calls = [max(1, min(200, round(_SAMPLE_S / max(_timed(each, 1, device), 1e-7)))) for each in (ours, other)]
    turns = [*zip((ours, other), calls, strict=True)]
    samples = [[_timed(each, count, device) for each, count in turns] for _ in range(_ROUNDS)]
    return min(first for first, _ in samples), min(second for _, second in samples)


def activated(x: torch.Tensor, activation: str) -> torch.Tensor:
    """Apply an activation by its name."""
    functional = torch.nn.functional
    match activation:
        case "none":
            return x
        case "gelu_tanh":
            return functional.gelu(x, approximate="tanh")
        case _:
            return getattr(functional, activation)(x)


def _timed(call: Callable[[], object], count: int, device: str) -> float:
    begun = time.perf_counter()
    for _ in range(count):
        call()
    if device.startswith("xpu"):
        torch.xpu.synchronize(device)
    return (time.perf_counter() - begun) / count


def _matrix(
    rows: int, columns: int, dtype: str, transposed: bool, pitch: int, generator: torch.Generator, device: str
) -> torch.Tensor:
    lines = columns if transposed else rows
    if dtype in ("s8", "u8"):
        low = 0 if dtype == "u8" else -128
        stored = torch.randint(low, low + 256, (lines, pitch), generator=generator).to(TYPES[dtype])
    else:
        stored = torch.randn(lines, pitch, generator=generator).to(TYPES[dtype])
    stored = stored.to(device)
    return stored[:, :rows].t() if transposed else stored[:, :columns]
