"""Products of torch tensors as problems of XeTune."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from xetune_client import models

NAMES = {
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int8: "s8",
    torch.uint8: "u8",
    torch.int32: "i32",
}
TYPES = {name: dtype for dtype, name in NAMES.items()}
ACTIVATIONS = ("none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh")
"""Activations of a linear layer: steps of the epilogue, after the bias."""
CODES_PER_WORD = 8
_ALIGNMENT = 64  # that of torch's allocator


@dataclass(frozen=True, slots=True)
class Place:
    """Device of a product: its id in the table of devices, its driver (None: a CPU), and its name in torch."""

    device: str = "cpu"
    driver: str | None = None
    of_torch: str = "cpu"


CPU = Place()


@dataclass(frozen=True, slots=True)
class Weights:
    """Type and quantization of a B of weights: (code - zero) * scale; `group` is None for scales of whole columns."""

    dtype: str
    group: int | None
    scale: str
    zero: int = 0
    zeros: bool = False


@dataclass(frozen=True, slots=True)
class Gemm:
    """C[m, n] = activation(A @ B + bias), in the names of `GemmProblem`; rows are `lda` and `ldb` elements apart.

    `b` is the type of B, or its weights; `bias` the type of the bias, or None. With `experts` there is a B for each,
    and a launch takes the offsets of their rows.
    """

    m: int
    n: int
    k: int
    a: str
    b: str | Weights
    c: str
    transpose_a: bool
    transpose_b: bool
    lda: int
    ldb: int
    bias: str | None = None
    activation: str = "none"
    experts: int | None = None
    place: Place = CPU

    @property
    def family(self) -> "Gemm":
        """The same with any number of rows: what kernels for other M are found by."""
        return replace(self, m=0)

    def with_rows(self, m: int) -> "Gemm":
        """Return the same with `m` rows."""
        return replace(self, m=m)

    @property
    def body(self) -> models.ProblemBody:
        """The problem of a lookup or a job."""
        b, acc = self.b, models.DType.I32 if self.a in ("s8", "u8") else models.DType.F32
        packed = isinstance(b, Weights)
        return models.ProblemBody(
            m=self.m,
            n=self.n,
            k=self.k,
            dtype_a=models.DType(self.a),
            dtype_b=models.DType(b.dtype if packed else b),
            dtype_c=models.DType(self.c),
            dtype_acc=acc,
            transpose_a=self.transpose_a,
            transpose_b=self.transpose_b,
            lda=self.lda,
            ldb=self.ldb,
            ldc=self.n,
            experts=self.experts,
            alignment=_ALIGNMENT,
            epilogue=[*self._steps()],
            quantization=models.QuantizationBody(group=b.group, scale=models.DType(b.scale), zero=b.zero, zeros=b.zeros)
            if packed
            else None,
        )

    def __str__(self) -> str:
        b = self.b if isinstance(self.b, str) else f"{self.b.dtype}:{self.b.group or 'column'}"
        layout = f"{'T' if self.transpose_a else 'N'}{'T' if self.transpose_b else 'N'}"
        steps = "".join(
            f", {step}" for step in (self.bias and f"bias:{self.bias}", self.activation) if step and step != "none"
        )
        steps += "" if self.experts is None else f" of {self.experts} experts"
        steps += "" if self.place == CPU else f" on {self.place.device}"
        return f"{self.m}x{self.n}x{self.k} {self.a},{b}->{self.c} {layout}{steps}"

    def _steps(self) -> Sequence[models.EpilogueStepBody]:
        steps: list[models.EpilogueStepBody] = []
        if self.bias is not None:
            steps.append(
                models.EpilogueStepBody(
                    kind=models.EpilogueKind.BIAS, axis=models.Axis.COLUMN, dtype=models.DType(self.bias)
                )
            )
        if self.activation != "none":
            steps.append(models.EpilogueStepBody(kind=models.EpilogueKind(self.activation)))
        return steps


def matrix_layout(shape: Sequence[int], stride: Sequence[int]) -> tuple[bool, int] | None:
    """Return whether a matrix is stored transposed, and the elements between its stored rows; None if neither its rows
    nor its columns are contiguous.
    """
    (rows, columns), (down, across) = shape, stride
    if across == 1 or columns == 1:
        pitch = columns if rows == 1 else down
        if pitch >= columns:
            return False, pitch
    if down == 1 or rows == 1:
        pitch = rows if columns == 1 else across
        if pitch >= rows:
            return True, pitch
    return None


def gemm_of(a: torch.Tensor, b: torch.Tensor, c: torch.dtype, place: Place = CPU) -> Gemm | None:
    """Return the product of two matrices on a device; None if no kernel computes it."""
    if a.dtype not in NAMES or b.dtype not in NAMES or c not in NAMES or not a.numel() or not b.numel():
        return None
    in_a, in_b = matrix_layout(a.shape, a.stride()), matrix_layout(b.shape, b.stride())
    if in_a is None or in_b is None:
        return None
    (m, k), n = a.shape, b.shape[1]
    names = NAMES[a.dtype], NAMES[b.dtype], NAMES[c]
    return Gemm(m, n, k, *names, in_a[0], in_b[0], in_a[1], in_b[1], place=place)


def linear_of(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, activation: str) -> Gemm | None:
    """Return the product of a linear layer, whose `x` has any number of dimensions; None if no kernel computes it."""
    if x.dim() < 1 or (x.dim() != 2 and not x.is_contiguous()) or not x.numel():
        return None
    if bias is not None and (bias.dtype not in _FLOATS or not bias.is_contiguous()):
        return None
    plain = gemm_of(x if x.dim() == 2 else x.view(-1, x.shape[-1]), weight.t(), x.dtype)
    if plain is None or x.dtype not in _FLOATS or weight.dtype is not x.dtype:
        return None
    return replace(plain, bias=None if bias is None else NAMES[bias.dtype], activation=activation)


def quantized_of(x: torch.Tensor, n: int, weights: Weights, bias: torch.Tensor | None, activation: str) -> Gemm | None:
    """Return the product of a quantised linear layer with `n` outputs; None if no kernel computes it."""
    if x.dim() < 1 or not x.is_contiguous() or not x.numel() or x.dtype not in (torch.float16, torch.bfloat16):
        return None
    if bias is not None and (bias.dtype not in _FLOATS or not bias.is_contiguous()):
        return None
    k, dtype = x.shape[-1], NAMES[x.dtype]
    ldb = k // CODES_PER_WORD if weights.dtype == "u4" else k
    named = None if bias is None else NAMES[bias.dtype]
    return Gemm(x.numel() // k, n, k, dtype, weights, dtype, False, True, k, ldb, named, activation)


def grouped_of(a: torch.Tensor, b: torch.Tensor) -> Gemm | None:
    """Return the product of groups of rows of a [M, K] by b [E, K, N]; None if no kernel computes it."""
    experts, k, n = b.shape
    plain = gemm_of(a, b[0], a.dtype) if experts else None
    if plain is None or plain.transpose_a or not a.is_floating_point() or b.stride(0) != k * n:
        return None
    return replace(plain, experts=experts) if plain.ldb == (k if plain.transpose_b else n) else None


_FLOATS = (torch.float32, torch.float16, torch.bfloat16)
