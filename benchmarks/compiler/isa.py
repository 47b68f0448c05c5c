"""Native code of GPUs for a fixed list of GEMMs: registers, spills, and the K loop by 256 DPAS.

Run: python -m benchmarks.compiler.isa [--device b580 --device max1550] [--gemm weights] [--ocloc PATH]
"""

import argparse
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

from codegen import (
    CodegenError,
    DType,
    EpilogueKind,
    EpilogueStep,
    Extent,
    GemmProblem,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    SlmOperands,
    XeConfig,
    XeStrategy,
    compile_gemm,
)
from codegen.problem.quantization import parse_quantization
from codegen.target import target_of
from codegen.xe.isa import (
    IsaReport,
    Ocloc,
    compile_kernel,
)
from hal import DeviceSpec
from hal.facts.xe import find
from service.api.toolchain.offline import find_ocloc
from service.settings import read_settings
from tuner.space.xe.heuristic import default_config

_SIZE = 4096
_COLUMNS = ("GEMM", "chip", "registers", "spilled bytes", "dpas", "sends", "loads", "prefetches", "SLM", "barriers")
_RATES = ("sends per 256", "moves per 256", "scalar moves", "bytes per dpas", "ALU per dpas", "dpas used")
_SUBGROUPS, _LARGEST = (8, 4), Extent(32, 32, 32)


def main() -> None:
    """Print one table, in Markdown; a GEMM that is refused has its reason in the row."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--device", action="append", help="GPU to compile for, more than one is fine")
    arguments.add_argument("--gemm", default="", help="only GEMMs whose name has this text")
    arguments.add_argument("--ocloc", type=Path, help="Intel's offline compiler (default: the one installed)")
    options = arguments.parse_args()
    ocloc = chosen_ocloc(options.ocloc)
    if ocloc is None:
        sys.exit("Intel's offline compiler is not here: run `xetune toolchain install`, or give --ocloc")
    columns = (*_COLUMNS, *_RATES)
    _print(columns)
    _print(["---", "---", *(["---:"] * (len(columns) - 2))])
    for name, (problem, config) in gemms().items():
        if options.gemm not in name:
            continue
        for device in options.device or ("b580", "max1550"):
            _print([name, *_row(problem, config, find(device), ocloc)])


def chosen_ocloc(path: Path | None) -> Ocloc | None:
    """The compiler at that path, or the one that is installed."""
    return find_ocloc(read_settings()) if path is None else Ocloc(path)


def gemms() -> dict[str, tuple[GemmProblem, XeConfig | None]]:
    """Problems by what is particular of them, with a configuration or, for None, the default one."""
    square = partial(GemmProblem, _SIZE, _SIZE, _SIZE)
    f16, bf16, s8 = (square(dtype_a=dtype, dtype_b=dtype) for dtype in (DType.F16, DType.BF16, DType.S8))
    plain, prefetch = XeStrategy(_SUBGROUPS), XeStrategy(_SUBGROUPS, Prefetch(PrefetchLevels.L1, 3))
    staged = replace(plain, slm=SlmOperands.BOTH, slm_stages=2)
    payloads = replace(prefetch, prefetch=replace(prefetch.prefetch, payloads=True))
    unrolled = replace(prefetch, k_unroll=2)
    a_columns, b_columns, both = Extent(8, 32, 32), Extent(32, 16, 32), Extent(8, 16, 16)
    beta = (EpilogueStep(EpilogueKind.BETA, value=2.0),)
    turned = square(transpose_a=True, transpose_b=True)
    return {
        "f16": (f16, _config(plain)),
        "f16, prefetch": (f16, _config(prefetch)),
        "f16, prefetch by payloads": (f16, _config(payloads)),
        "f16, prefetch, unrolled by 2": (f16, _config(unrolled)),
        "bf16, prefetch": (bf16, _config(prefetch)),
        "bf16 to bf16, prefetch": (replace(bf16, dtype_c=DType.BF16), _config(prefetch)),
        "bf16 to bf16 with beta, prefetch": (replace(bf16, dtype_c=DType.BF16, epilogue=beta), _config(prefetch)),
        "f16 NT, prefetch": (square(transpose_b=True), _config(prefetch, b_columns)),
        "f16 NT, prefetch, unrolled by 2": (square(transpose_b=True), _config(unrolled, b_columns)),
        "f16 TN, prefetch": (square(transpose_a=True), _config(prefetch, a_columns)),
        "f16 TN, prefetch, unrolled by 2": (square(transpose_a=True), _config(unrolled, a_columns)),
        "f16 TT, prefetch": (turned, _config(prefetch, both)),
        "s8, prefetch": (s8, _config(prefetch)),
        "s8, prefetch, K step 64": (s8, _config(prefetch, step=64)),
        "s8, prefetch, K step 64, unrolled by 2": (s8, _config(unrolled, step=64)),
        "tf32, prefetch, K step 16": (
            square(dtype_a=DType.TF32, dtype_b=DType.TF32),
            _config(prefetch, Extent(32, 16, 16), 16),
        ),
        "f16, registers pipelined, K step 16": (
            f16,
            _config(replace(prefetch, pipelined_registers=True), Extent(32, 32, 16), 16),
        ),
        "f16, SLM for both": (f16, _config(staged, both)),
        "f16, 4096x2048x1024, default": (GemmProblem(4096, 2048, 1024), None),
        "f16, 1000x1016x520, default": (GemmProblem(1000, 1016, 520), None),
        **{f"weights, {text}": (_weights(text), None) for text in _WEIGHTS},
    }


_WEIGHTS = (
    "f16 by u4:128:f16:zero=8",
    "bf16 by u4:128:bf16:zero=8",
    "f16 by u4:128:f16:zeros",
    "f16 by u4:32:f16:zeros",
    "f16 by s8",
    "f16 by s8:128:f16",
    "bf16 by s8",
    "bf16 by s8:128:bf16",
    "f16 by e4m3",
    "bf16 by e4m3",
    "bf16 by e4m3:128:bf16",
    "f16 by e5m2",
    "bf16 by e2m1:32:e8m0",
)


def _weights(text: str) -> GemmProblem:
    a, _, of_b = text.partition(" by ")
    b, _, quantization = of_b.partition(":")
    return GemmProblem(
        512,
        _SIZE,
        _SIZE,
        dtype_a=DType(a),
        dtype_b=DType(b),
        dtype_c=DType(a),
        transpose_b=True,
        quantization=parse_quantization(quantization) if quantization else None,
    )


def _config(strategy: XeStrategy, load: Extent = _LARGEST, step: int = 32) -> XeConfig:
    """Work-groups of 256x256 with sub-groups of 32x64."""
    tiles = _SIZE // 256
    return XeConfig(MatmulConfig(Extent(tiles, tiles, 1), Extent(256, 256, step), load), strategy)


def _row(problem: GemmProblem, config: XeConfig | None, spec: DeviceSpec, ocloc: Ocloc) -> list[str]:
    target = target_of(spec)
    try:
        artifact = compile_gemm(problem, config or default_config(problem, spec), spec)
        code = compile_kernel(ocloc, artifact, target)
    except CodegenError as error:
        return [target.chip, str(error)]
    return [target.chip, *_cells(next(report for report in code.reports if report.k_loop is not None))]


def _cells(report: IsaReport) -> list[str]:
    loop = report.k_loop
    assert loop is not None  # what has no DPAS is an error before
    counts = (loop.dpas, loop.sends.total, loop.sends.loads, loop.sends.prefetches, loop.sends.slm, loop.barriers)
    rates = (
        loop.sends_per_256_dpas,
        loop.moves_per_256_dpas,
        loop.scalar_moves_per_256_dpas,
        loop.loaded_bytes_per_dpas,
    )
    facts = (report.grf_count, report.spill_bytes)
    used = "" if report.pipeline is None else f"{report.pipeline.utilisation:.0%}"
    alu = f"{loop.alu / loop.dpas:.2f}"
    return [*map(str, (*facts, *counts)), *(f"{rate:.0f}" for rate in rates), alu, used]


def _print(cells: tuple[str, ...] | list[str]) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
