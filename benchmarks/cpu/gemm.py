"""Compares our CPU kernels with torch and numpy, interleaved on the same buffers: prints a table of ratios.

Usage: python -m benchmarks.cpu.gemm [--shapes all] [--dtypes f32,bf16,s8] [--threads 1,2] [--library-path DIR]
[--trials 60] [--seconds 1] [--prepacked] [--scaling 1,2,4,8,16] [--winners FILE] [--json FILE] [--rotated-only]
[--against torch] [--again 3]

Ratios are a library's median over ours, above 1 where ours is faster; packing is a part of every call but with
--prepacked. Buffers rotate beyond twice the last-level cache; `hot` is one set again and again. A machine that others
use is quietest under `chrt -f 50 taskset -c 0`, with one thread.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cpu import libraries
from benchmarks.cpu.buffers import (
    Operands,
    as_floats,
    operands,
)
from benchmarks.cpu.cases import (
    Case,
    cases,
)
from benchmarks.cpu.our_kernels import (
    Kernels,
    Search,
    Winners,
    packed_beforehand,
    searching,
    spec_of_threads,
)
from benchmarks.cpu.peak import peak_gops
from benchmarks.cpu.rows import (
    DEFAULT,
    NUMPY,
    OURS,
    TORCH,
    Row,
    scaling_table,
    summary,
    table,
)
from benchmarks.cpu.timing import (
    Contender,
    Measured,
    measure,
)
from codegen import CpuConfig, DType
from hal import DeviceSpec
from tuner.measure.measure import timing_for
from tuner.search.blas import set_threads
from tuner.space.cpu.heuristic import default_cpu_config

_SCALED = "1024x1024x1024,2048x2048x2048,16x4096x4096,128x14336x4096t"
_TOLERANCE = {
    DType.F32: 1e-4, DType.TF32: 1e-3, DType.F16: 4e-3, DType.BF16: 2e-2, DType.S8: 0.0,
}  # fmt: skip
"""Of the largest element."""


class Bench:
    """State that all cells share."""

    def __init__(self, options: argparse.Namespace, torch: Any, winners: Winners) -> None:
        self._options, self._torch, self._winners = options, torch, winners
        self._peaks: dict[tuple[DType, int], float] = {}

    def row(self, case: Case, threads: int) -> Row:
        """Measure one cell."""
        spec = spec_of_threads(threads)
        best = self._winners.config(case, spec)
        configs = {OURS: best}
        if (default := default_cpu_config(case.problem, spec)) != best:
            configs[DEFAULT] = default
        if self._options.prepacked:
            configs = {name: packed_beforehand(case.problem, config, spec) for name, config in configs.items()}
        # A layer's C is memory that was just freed, which caches hold.
        sets = operands(case, timing_for(spec, None).rotate_bytes, one_c=self._options.prepacked)
        kernels = Kernels(spec)
        try:
            contenders = self._contenders(case, spec, configs, sets, kernels, threads)
            _check_agree(contenders, sets, case)
            twice = len(sets) > 1 and not self._options.rotated_only
            hot = self._measured(contenders, 1, threads) if twice else None
            rotated = self._measured(contenders, len(sets), threads)
        finally:
            kernels.close()
        return Row(
            case, threads, rotated, hot, self._peak(case, spec), str(configs[OURS]), str(configs.get(DEFAULT, best))
        )

    def _contenders(
        self,
        case: Case,
        spec: DeviceSpec,
        configs: dict[str, CpuConfig],
        sets: Sequence[Operands],
        kernels: Kernels,
        threads: int,
    ) -> dict[str, Contender]:
        found: dict[str, Contender | None] = {}
        others = self._options.against.split(",")
        if self._torch is not None and TORCH in others:
            self._torch.set_num_threads(threads)
            make = libraries.prepacked_torch_contender if self._options.prepacked else libraries.torch_contender
            found[TORCH] = make(self._torch, sets, case)
        if NUMPY in others and not self._options.prepacked and set_threads(threads) is not None:
            found[NUMPY] = libraries.numpy_contender(sets, case)
        for name, config in configs.items():
            found[name] = kernels.contender(case.problem, config, sets)
        return {name: contender for name, contender in found.items() if contender is not None}

    def _measured(self, contenders: dict[str, Contender], sets: int, threads: int) -> Measured:
        options = self._options
        return measure(contenders, sets, options.seconds, options.repeat, threads, options.again)

    def _peak(self, case: Case, spec: DeviceSpec) -> float:
        threads = spec.cores or 1
        if (case.dtype, threads) not in self._peaks:
            self._peaks[case.dtype, threads] = peak_gops(case.dtype, spec, threads)
        return self._peaks[case.dtype, threads]


def _check_agree(contenders: dict[str, Contender], sets: Sequence[Operands], case: Case) -> None:
    """Check that all contenders that write to C agree, within the rounding of the type."""
    results: dict[str, np.ndarray[Any, np.dtype[np.float64]]] = {}
    for name, contender in contenders.items():
        sets[0].c[:] = 0
        contender.call(0)
        if sets[0].c.any():  # torch's prepacked product has a C of its own
            results[name] = as_floats(sets[0].c, case.dtype)
    ours = results[OURS]
    for name, result in results.items():
        apart = float(np.abs(result - ours).max())
        if not apart <= _TOLERANCE[case.dtype] * float(np.abs(ours).max()):
            raise SystemExit(f"{case.name}: {name} and ours are {apart} apart")


def main() -> None:
    """Print the tables."""
    options = _options()
    torch = libraries.import_torch(options.library_path)
    if torch is None:
        print(libraries.HOW_TO_GET_TORCH, file=sys.stderr)
    counts = [int(count) for count in (options.scaling or options.threads).split(",")]
    wanted = cases(options.shapes or (_SCALED if options.scaling else "all"), options.dtypes)
    rows: list[Row] = []
    with searching(Search(options.trials, options.search_seconds), options.winners) as winners:
        bench = Bench(options, torch, winners)
        for threads in counts:
            for case in wanted:
                rows.append(bench.row(case, threads))
                print(table(rows[-1:])[-1], "|", rows[-1].config, file=sys.stderr, flush=True)
    print("\n".join(summary(rows)), end="\n\n")
    print("\n".join(table(rows)))
    if options.scaling:
        print("\ntorch / ours by number of threads:\n", *scaling_table(rows), sep="\n")
    if options.prepacked:
        print("\nWeights are packed in advance; torch is oneDNN's linear layer on reordered weights (none for s8).")
    if options.json is not None:
        options.json.write_text(json.dumps([_as_json(row) for row in rows], indent=1))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", help="small, llm, ragged, all, MxNxK, or MxNxKt for weights stored [N, K]")
    parser.add_argument("--dtypes", default="f32,bf16,s8")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--scaling", help="numbers of threads: one more table over these")
    parser.add_argument("--trials", type=int, default=60, help="of each search; 0: the default alone")
    parser.add_argument("--search-seconds", type=float, default=60.0, help="of each search, at most")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each cell's rounds, at least")
    parser.add_argument("--repeat", type=int, default=9, help="rounds of each cell, at least")
    parser.add_argument("--again", type=int, default=3, help="times that a cell is measured again, at most")
    parser.add_argument("--against", default=f"{TORCH},{NUMPY}", help="the libraries, of torch and numpy")
    parser.add_argument("--rotated-only", action="store_true", help="without times of one set again and again")
    parser.add_argument("--prepacked", action="store_true", help="weights are packed before, by both")
    parser.add_argument("--library-path", type=Path, help="a folder of packages that has torch; searched last")
    parser.add_argument("--winners", type=Path, help="a file that winners of searches are kept in")
    parser.add_argument("--json", type=Path, help="a file for all times")
    return parser.parse_args()


def _as_json(row: Row) -> dict[str, object]:
    measured = {"rotated": row.rotated, **({"hot": row.hot} if row.hot is not None else {})}
    return {
        "problem": row.case.name,
        "threads": row.threads,
        "peak_gops": row.peak_gops,
        "config": row.config,
        "default": row.default,
        "times": {
            kind: {name: {"wall_us": t.wall_us, "cpu_us": t.cpu_us} for name, t in m.times.items()}
            for kind, m in measured.items()
        },
    }


if __name__ == "__main__":
    main()
