"""The libraries that the CPU benchmark compares with: torch (oneDNN and MKL) and numpy (OpenBLAS).

torch is not among the requirements: `python -m pip install torch --target DIR`, or a venv of its own, and
`--library-path` with its folder of packages.
"""

import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cpu.buffers import Operands
from benchmarks.cpu.cases import Case
from benchmarks.cpu.timing import Contender
from codegen import DType

HOW_TO_GET_TORCH = "torch is not here: `pip install torch` elsewhere and name its site-packages by --library-path"


def import_torch(path: Path | None) -> Any:
    """torch, from a folder that is searched last; None if it is nowhere."""
    if path is not None:
        sys.path.append(str(path))
    try:
        return importlib.import_module("torch")
    except ImportError:
        return None


def numpy_contender(sets: Sequence[Operands], case: Case) -> Contender | None:
    """numpy's product; of f32 alone, whose products it hands to OpenBLAS."""
    if case.dtype is not DType.F32:
        return None
    rows = [(s.a, s.b.T if case.by_columns else s.b, s.c) for s in sets]

    def call(number: int) -> None:
        a, b, c = rows[number]
        np.matmul(a, b, out=c)

    return Contender(call)


def torch_contender(torch: Any, sets: Sequence[Operands], case: Case) -> Contender | None:
    """torch's product into C; None where it has none for the type."""
    if case.dtype is DType.S8 and not hasattr(torch, "_int_mm"):
        return None
    product: Callable[..., object] = torch._int_mm if case.dtype is DType.S8 else torch.mm
    rows = [_tensors(torch, s, case) for s in sets]

    def call(number: int) -> None:
        a, b, c = rows[number]
        product(a, b, out=c)

    return Contender(call)


def prepacked_torch_contender(torch: Any, sets: Sequence[Operands], case: Case) -> Contender | None:
    """oneDNN's linear layer on weights that it reordered before; None where torch has none for the type.

    It makes a new C at each call.
    """
    packs = getattr(torch.ops.mkldnn, "_reorder_linear_weight", None)
    linear = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
    if case.dtype is DType.S8 or packs is None or linear is None:
        return None
    rows: list[tuple[Any, Any]] = []
    for s in sets:
        a, b, _ = _tensors(torch, s, case)
        rows.append((a, packs(b.t().contiguous(), case.m)))

    def call(number: int) -> None:
        a, weights = rows[number]
        linear(a, weights, None, "none", [], "")

    return Contender(call)


def _tensors(torch: Any, held: Operands, case: Case) -> tuple[Any, Any, Any]:
    a, b, c = (torch.from_numpy(array) for array in (held.a, held.b, held.c))
    if case.dtype is DType.BF16:
        a, b, c = (tensor.view(torch.bfloat16) for tensor in (a, b, c))
    return a, b.t() if case.by_columns else b, c
