"""Compares our grouped CPU kernels with torch's products expert by expert, interleaved: prints a table of ratios.

Usage: python -m benchmarks.cpu.experts [--kinds bf16,u4] [--rows 8,128,1024] [--experts 128] [--size 768x2048]
[--threads 16] [--library-path DIR] [--seconds 1]

A is bf16, weights are stored [N, K], C is bf16; rows are spread as in the problem that a kernel is tuned for. torch
multiplies the rows of each expert that has some, `bf16` by `mm`, `u4` (groups of 128) by
`_weight_int4pack_mm_for_cpu`; it also has `_grouped_mm` for bf16, where this torch runs it on CPUs.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cpu import libraries
from benchmarks.cpu.our_kernels import Kernels, spec_of_threads
from benchmarks.cpu.timing import Contender, measure
from benchmarks.cpu.weights import WeightOperands
from codegen import DType, GemmProblem
from codegen.problem.experts import offsets
from codegen.problem.quantization import Quantization
from hal.cpu.memory import rows_of_buffers
from tuner.space.cpu.heuristic import default_cpu_config

_GROUP, _ZERO, _ALIGNMENT, _SEED, _TOLERANCE = 128, 8, 64, 7, 3e-2
OURS = "ours"


def problem_of(kind: str, rows: int, experts: int, n: int, k: int) -> GemmProblem:
    """Return the problem of `rows` rows on experts of [N, K]."""
    u4 = kind == DType.U4.value
    return GemmProblem(
        rows, n, k,
        dtype_a=DType.BF16, dtype_b=DType(kind), dtype_c=DType.BF16, transpose_b=True, experts=experts,
        quantization=Quantization(_GROUP, DType.BF16, _ZERO) if u4 else None,
    )  # fmt: skip


def operands(problem: GemmProblem) -> WeightOperands:
    """Return random operands; codes of 4 bits are any bytes, scales between 1/16 and 3/16."""
    rng = np.random.default_rng(_SEED)
    sizes = [(operand.nbytes(1), _ALIGNMENT) for operand in problem.operands]
    a, b, c, *others = rows_of_buffers(sizes, 1)[0]
    a.view(np.uint16)[:] = _bits(rng.random(a.size // 2, np.float32) - np.float32(0.5))
    if problem.quantization is None:
        b.view(np.uint16)[:] = _bits(rng.random(b.size // 2, np.float32) - np.float32(0.5))
    else:
        b[:] = np.frombuffer(rng.bytes(b.size), np.uint8)
        others[0].view(np.uint16)[:] = _bits(
            (rng.random(others[0].size // 2, np.float32) + np.float32(0.5)) / np.float32(8)
        )
    others[-1].view(np.int32)[:] = offsets(problem.rows_of_experts)
    c[:] = 0
    return WeightOperands(a, b, c, tuple(others))


def torch_contenders(torch: Any, problem: GemmProblem, held: WeightOperands) -> tuple[dict[str, Contender], Any]:
    """Return torch's products of the rows of each expert that has some, and what the first of them computes."""
    bf16, p = torch.bfloat16, problem
    count = p.experts or 1
    a = torch.from_numpy(held.a.view(np.int16).reshape(p.m, p.k)).view(bf16)
    c = torch.empty(p.m, p.n, dtype=bf16)
    ends = offsets(p.rows_of_experts)
    parts = [(expert, slice(*part)) for expert, part in enumerate(pairwise(ends)) if part[0] < part[1]]
    if p.quantization is None:
        b = torch.from_numpy(held.b.view(np.int16).reshape(count, p.n, p.k)).view(bf16)
        calls = {"mm": [_mm(torch, a[rows], b[expert].t(), c[rows]) for expert, rows in parts]}
        grouped, last = getattr(torch, "_grouped_mm", None), torch.tensor(ends[1:], dtype=torch.int32)
        if grouped is not None:
            calls["_grouped_mm"] = [lambda: grouped(a, b.transpose(1, 2), offs=last)]
    else:
        codes = held.b.view(np.uint8).reshape(count, p.n, -1)
        scale = torch.from_numpy(held.scales[0].view(np.int16).reshape(count, -1, p.n)).view(bf16)
        calls = {"int4pack": [_int4(torch, a[rows], codes[e], scale[e], c[rows]) for e, rows in parts]}
    for call in next(iter(calls.values())):
        call()
    return {name: Contender(lambda _, every=every: _all(every)) for name, every in calls.items()}, c.float()


def _all(calls: Sequence[Callable[[], Any]]) -> None:
    for call in calls:
        call()


def _mm(torch: Any, a: Any, b: Any, c: Any) -> Callable[[], Any]:
    return lambda: torch.mm(a, b, out=c)


def _int4(torch: Any, a: Any, codes: NDArray[np.uint8], scale: Any, c: Any) -> Callable[[], Any]:
    whole = np.stack([codes & 15, codes >> 4], -1).reshape(len(codes), -1).astype(np.int32)
    packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(torch.from_numpy(whole), 1)
    scales_and_zeros = torch.stack([scale, torch.zeros_like(scale)], dim=-1).contiguous()
    return lambda: c.copy_(torch.ops.aten._weight_int4pack_mm_for_cpu(a, packed, _GROUP, scales_and_zeros))


def row(torch: Any, problem: GemmProblem, options: argparse.Namespace) -> list[str]:
    """Measure a problem; return a line of the table for each of torch's ways.

    Raises:
        SystemExit: ours and torch's C differ by more than the rounding of bf16.
    """
    spec, held = spec_of_threads(options.threads), operands(problem)
    torch.set_num_threads(options.threads)
    contenders, expected = torch_contenders(torch, problem, held)
    kernels, config = Kernels(spec), default_cpu_config(problem, spec)
    try:
        contenders[OURS] = kernels.contender(problem, config, [held])
        contenders[OURS].call(0)
        got = torch.from_numpy(held.c.view(np.int16).reshape(problem.m, problem.n)).view(torch.bfloat16).float()
        apart = float((expected - got).abs().max() / expected.abs().max())
        if not apart <= _TOLERANCE:
            raise SystemExit(f"{problem}: torch's C and ours are {apart} of the largest element apart")
        times = measure(contenders, 1, options.seconds, options.repeat, options.threads, options.again).times
    finally:
        kernels.close()
    us = {name: each.median_us for name, each in times.items()}
    return [
        f"| {problem.dtype_b.value} {problem.m} rows, {problem.read_experts} experts | {us[OURS]:.4g} | {name} "
        f"| {us[name]:.4g} | {us[name] / us[OURS]:.2f} |"
        for name in us
        if name != OURS
    ]


def main() -> None:
    """Print the table."""
    options = _options()
    torch = libraries.import_torch(options.library_path)
    if torch is None:
        raise SystemExit(libraries.HOW_TO_GET_TORCH)
    n, k = map(int, options.size.split("x"))
    lines = ["| problem | ours us | torch | torch us | torch / ours |", "|---|---:|---|---:|---:|"]
    for kind in options.kinds.split(","):
        for rows in map(int, options.rows.split(",")):
            lines += row(torch, problem_of(kind, rows, options.experts, n, k), options)
            print(lines[-1], file=sys.stderr, flush=True)
    print("\n".join(lines))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default="bf16,u4")
    parser.add_argument("--rows", default="8,128,1024", help="of all experts together")
    parser.add_argument("--experts", type=int, default=128)
    parser.add_argument("--size", default="768x2048", help="NxK of an expert; K a multiple of 128")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each cell's rounds, at least")
    parser.add_argument("--repeat", type=int, default=9, help="rounds of each cell, at least")
    parser.add_argument("--again", type=int, default=0, help="times that a cell is measured again, at most")
    parser.add_argument("--library-path", type=Path, help="a folder of packages that has torch; searched last")
    return parser.parse_args()


def _bits(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    return (values.view(np.uint32) >> 16).astype(np.uint16)


if __name__ == "__main__":
    main()
