"""Compares our CPU kernels with weights of 4 and 8 bits with torch's own, interleaved: prints a table of ratios.

Usage: python -m benchmarks.cpu.weights [--kinds u4,s8,w8a8] [--shapes MxNxK,...] [--threads 16] [--library-path DIR]
[--trials 40] [--winners FILE] [--seconds 1] [--beforehand]

A is bf16, weights are stored [N, K], C is bf16. `u4`: groups of 128 with bf16 scales and zero 8, against
`_weight_int4pack_mm_for_cpu`. `s8`: a bf16 scale of each column, against `_weight_int8pack_mm`, and against
`quantized.linear_dynamic`, which rounds A (f32) to 8 bits too and so computes less. `w8a8`: A is s8 with a scale of
each row, B s8 with one of each column, against the same layer, and against oneDNN's product of s8 by weights that it
reordered before, without the rounding of A. Without torch only our kernels are
timed: the default, the winner of a search if `--trials` is above 0, and with `--beforehand` B unpacked before to bf16.
Each contender has weights of its own in every set; sets rotate beyond twice the last-level cache.
"""

import argparse
import math
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cpu import libraries
from benchmarks.cpu.our_kernels import Kernels, Search, Winners, packed_beforehand, searching, spec_of_threads
from benchmarks.cpu.timing import Contender, Measured, measure
from codegen import Axis, DType, EpilogueKind, EpilogueStep, GemmProblem
from codegen.problem.quantization import Quantization
from hal import Buffer, DeviceSpec
from hal.cpu.memory import Bytes, rows_of_buffers
from tuner.measure.measure import timing_for
from tuner.space.cpu.heuristic import default_cpu_config

_SHAPES = "1x4096x4096,1x14336x4096,1x4096x14336,4x4096x4096,16x6144x4096,128x4096x4096,1024x4096x4096"
_GROUP, _ZERO = 128, 8
_ALIGNMENT, _MOST_SETS, _SEED = 64, 64, 7
_TOLERANCE = 3e-2  # of the largest element; that of A rounded to 8 bits is larger
_TOLERANCE_DYNAMIC = 8e-2
_LEAST = 0.8
_SCALE_A = np.float32(2**-7)
_STORED: dict[DType, type[np.generic]] = {DType.BF16: np.int16, DType.F32: np.float32}
Product = Callable[[], Any]
"""A call of torch's that returns C."""
OURS, DEFAULT, BEFOREHAND = "ours", "default", "beforehand"
INT4, INT8, DYNAMIC, QLINEAR = "int4pack", "int8pack", "dynamic s8", "reordered s8"
W8A8 = "w8a8"


@dataclass(frozen=True, slots=True)
class WeightCase:
    """A product of [M, K] by weights stored [N, K]: bf16 by u4 in groups of 128, or by s8 with a scale of each column,
    or s8 by s8 with a scale of each row too.
    """

    m: int
    n: int
    k: int
    kind: str

    @property
    def dtype(self) -> DType:
        """Type of the weights."""
        return DType.S8 if self.kind == W8A8 else DType(self.kind)

    @property
    def problem(self) -> GemmProblem:
        """The problem that ours is tuned for."""
        by_groups = self.dtype is DType.U4
        quantization = Quantization(_GROUP if by_groups else None, DType.BF16, _ZERO if by_groups else 0)
        scaled = tuple(EpilogueStep(EpilogueKind.SCALE, axis=axis) for axis in (Axis.ROW, Axis.COLUMN))
        by_bytes = self.kind == W8A8
        return GemmProblem(
            self.m, self.n, self.k,
            dtype_a=DType.S8 if by_bytes else DType.BF16, dtype_b=self.dtype, dtype_c=DType.BF16, transpose_b=True,
            quantization=None if by_bytes else quantization, epilogue=scaled if by_bytes else (),
        )  # fmt: skip

    @property
    def name(self) -> str:
        """As in a table."""
        return f"{self.kind} {self.m}x{self.n}x{self.k}"


@dataclass(frozen=True, slots=True)
class WeightOperands:
    """A, B, C and scales of one set, as stored: bf16 as 16-bit integers."""

    a: Buffer
    b: Buffer
    c: Buffer
    scales: tuple[Buffer, ...]

    @property
    def bytes(self) -> tuple[Bytes, ...]:
        """As plain bytes, in the order of the problem's operands."""
        return tuple(array.reshape(-1).view(np.uint8) for array in (self.a, self.b, self.c, *self.scales))


@dataclass(frozen=True, slots=True)
class Values:
    """Numbers of all sets: f32 A and scales that bf16 holds exactly, and codes [N, K]; of an A of s8 its codes."""

    a: NDArray[np.float32]
    codes: NDArray[np.int8]
    scale: NDArray[np.float32]  # [groups, N]
    codes_a: NDArray[np.int8] | None = None


def drawn(case: WeightCase) -> Values:
    """Random numbers of a case."""
    rng, q = np.random.default_rng(_SEED), case.problem.quantization
    groups = q.groups(case.k) if q is not None else 1
    low, high = (0, 16) if case.dtype is DType.U4 else (-128, 128)
    codes_a = rng.integers(-127, 128, (case.m, case.k), np.int8) if case.kind == W8A8 else None
    a = _bf16(rng.random((case.m, case.k), np.float32) - np.float32(0.5)) if codes_a is None else codes_a * _SCALE_A
    return Values(
        a,
        rng.integers(low, high, (case.n, case.k), np.int8),
        _bf16((rng.random((groups, case.n), np.float32) + np.float32(0.5)) / np.float32(high)),
        codes_a,
    )


def operands(case: WeightCase, values: Values, rotate_bytes: int) -> list[WeightOperands]:
    """Sets of `rotate_bytes` together, at least one."""
    described = case.problem.operands
    sizes = [operand.nbytes(1) for operand in described]
    count = min(_MOST_SETS, max(1, -(-rotate_bytes // sum(sizes))))
    codes = values.codes
    if case.dtype is DType.U4:
        pairs = codes.view(np.uint8).reshape(case.n, -1, 2)
        codes = pairs[..., 0] | pairs[..., 1] << np.uint8(4)
    contents = (_bits(values.a), codes, None, _bits(values.scale))
    if values.codes_a is not None:
        contents = (values.codes_a, codes, None, np.full((case.m, 1), _SCALE_A), values.scale)
    sets: list[WeightOperands] = []
    for row in rows_of_buffers([(size, _ALIGNMENT) for size in sizes], count):
        arrays: list[Buffer] = []
        for held, operand, content in zip(row, described, contents, strict=True):
            array = held.view(_STORED.get(operand.dtype, np.int8))
            array = array.reshape(operand.rows, -1)
            array[:] = 0 if content is None else content.view(array.dtype)
            arrays.append(array)
        a, b, c, *scales = arrays
        sets.append(WeightOperands(a, b, c, tuple(scales)))
    return sets


def torch_contenders(
    torch: Any, case: WeightCase, values: Values, sets: int, results: dict[str, Any]
) -> dict[str, Contender]:
    """Torch's paths for the same, those that this torch has; each leaves its last result in `results`."""
    a = torch.from_numpy(values.a).to(torch.bfloat16 if values.codes_a is None else torch.float32)
    makers = {
        DType.U4.value: {INT4: _int4pack},
        DType.S8.value: {INT8: _int8pack, DYNAMIC: _dynamic},
        W8A8: {DYNAMIC: _dynamic, QLINEAR: _qlinear},
    }[case.kind]
    found: dict[str, Contender] = {}
    for name, maker in makers.items():
        try:
            another = maker(torch, values, a)
            products = [another() for _ in range(sets)]
            results[name] = products[0]()
        except (AttributeError, RuntimeError, NotImplementedError, StopIteration, TypeError) as error:
            why = (str(error) or type(error).__name__).splitlines()[0]
            print(f"{case.name}: torch's {name} does not run here: {why}", file=sys.stderr)
            continue
        found[name] = Contender(lambda number, products=products: products[number]())
    return found


def _int4pack(torch: Any, values: Values, a: Any) -> Callable[[], Product]:
    """(code - 8) * scale + zero of groups along K; scales and zeros [groups, N, 2], zeros all 0."""
    codes = torch.from_numpy(values.codes.astype(np.int32))
    packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(codes, 1)
    scale = torch.from_numpy(values.scale).to(torch.bfloat16)
    scales_and_zeros = torch.stack([scale, torch.zeros_like(scale)], dim=-1).contiguous()

    def another() -> Product:
        own = packed.clone()
        return lambda: torch.ops.aten._weight_int4pack_mm_for_cpu(a, own, _GROUP, scales_and_zeros)

    return another


def _int8pack(torch: Any, values: Values, a: Any) -> Callable[[], Product]:
    """Codes [N, K] times scales [N], rounded to bf16."""
    codes = torch.from_numpy(values.codes)
    scale = torch.from_numpy(values.scale[0]).to(torch.bfloat16)

    def another() -> Product:
        own = codes.clone()
        return lambda: torch.ops.aten._weight_int8pack_mm(a, own, scale)

    return another


def _dynamic(torch: Any, values: Values, a: Any) -> Callable[[], Product]:
    """A f32 that is rounded to 8 bits at each call, C f32; `onednn` where this torch has it, as it uses AMX."""
    engines = torch.backends.quantized.supported_engines
    torch.backends.quantized.engine = next(name for name in ("onednn", "x86", "fbgemm") if name in engines)
    scales = torch.from_numpy(values.scale[0]).double()
    zeros, floats = torch.zeros(len(values.codes), dtype=torch.long), a.float()

    def another() -> Product:
        codes = torch.from_numpy(values.codes).clone()
        packed = torch.ops.quantized.linear_prepack(
            torch._make_per_channel_quantized_tensor(codes, scales, zeros, 0), None
        )
        return lambda: torch.ops.quantized.linear_dynamic(floats, packed, False)

    return another


def _qlinear(torch: Any, values: Values, a: Any) -> Callable[[], Product]:
    """s8 [M, K] with one scale, by weights reordered by oneDNN, C bf16."""
    codes, scales = torch.from_numpy(values.codes_a), torch.from_numpy(values.scale[0])
    zeros, to = torch.zeros(len(values.codes), dtype=torch.long), torch.bfloat16

    def another() -> Product:
        packed = torch.ops.onednn.qlinear_prepack(torch.from_numpy(values.codes).clone(), list(a.shape))
        given = (codes, float(_SCALE_A), 0, packed, scales, zeros, None, 1.0, 0, to, "none", [], "")
        return lambda: torch.ops.onednn.qlinear_pointwise(*given)

    return another


@dataclass(frozen=True, slots=True)
class WeightRow:
    """A case and its times by contender."""

    case: WeightCase
    measured: Measured
    config: str

    def ratio(self, other: str, ours: str) -> float | None:
        """Return another's median time over ours; None if one was not measured."""
        times = self.measured.times
        return times[other].median_us / times[ours].median_us if other in times and ours in times else None


class WeightBench:
    """State that all cells share."""

    def __init__(self, options: argparse.Namespace, torch: Any, winners: Winners | None) -> None:
        self._options, self._torch, self._winners = options, torch, winners

    def row(self, case: WeightCase, threads: int) -> WeightRow:
        """Measure one case."""
        spec, values = spec_of_threads(threads), drawn(case)
        sets = operands(case, values, timing_for(spec, None).rotate_bytes)
        configs = self._configs(case, spec)
        kernels, results = Kernels(spec), dict[str, Any]()
        try:
            contenders = dict[str, Contender]()
            if self._torch is not None:
                self._torch.set_num_threads(threads)
                contenders = torch_contenders(self._torch, case, values, len(sets), results)
            for name, config in configs.items():
                contenders[name] = kernels.contender(case.problem, config, sets)
                _check(case, name, contenders[name], sets[0], results)
            options = self._options
            measured = measure(contenders, len(sets), options.seconds, options.repeat, threads, options.again)
        finally:
            kernels.close()
        return WeightRow(case, measured, "; ".join(f"{name}: {config}" for name, config in configs.items()))

    def _configs(self, case: WeightCase, spec: DeviceSpec) -> dict[str, Any]:
        default = default_cpu_config(case.problem, spec)
        configs = {DEFAULT: default}
        if self._winners is not None:
            configs[OURS] = self._winners.config(case, spec)
        if self._options.beforehand:
            configs[BEFOREHAND] = packed_beforehand(case.problem, default, spec)
        return configs


def _check(case: WeightCase, name: str, ours: Contender, held: WeightOperands, results: dict[str, Any]) -> None:
    """Check that ours agrees with what torch computed."""
    held.c[:] = 0
    ours.call(0)
    got = (held.c.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    for other, result in results.items():
        expected = result.float().numpy()
        apart, most = float(np.abs(expected - got).max()), float(np.abs(expected).max())
        if not apart <= (_TOLERANCE_DYNAMIC if other == DYNAMIC else _TOLERANCE) * most:
            raise SystemExit(f"{case.name}: {other} and {name} are {apart} apart, of at most {most}")


def table(rows: Sequence[WeightRow]) -> list[str]:
    """Return a row for each case, in Markdown: median microseconds, and torch's over ours."""
    names = list(dict.fromkeys(name for row in rows for name in row.measured.times))
    ours = [name for name in names if name in (DEFAULT, OURS, BEFOREHAND)]
    pairs = [(other, mine) for other in names if other not in ours for mine in ours]
    head = ["problem", *(f"{name} us" for name in names), *(f"{other} / {mine}" for other, mine in pairs), "again"]
    lines = [_line(head), f"|---|{'---:|' * (len(head) - 1)}"]
    for row in rows:
        times = row.measured.times
        cells = [f"{times[name].median_us:.4g}" if name in times else "" for name in names]
        cells += ["" if (ratio := row.ratio(*pair)) is None else f"{ratio:.2f}" for pair in pairs]
        lines.append(_line([row.case.name, *cells, str(row.measured.again)]))
    for other, mine in pairs:
        known = [ratio for row in rows if (ratio := row.ratio(other, mine)) is not None]
        if known:
            mean = math.exp(statistics.fmean(map(math.log, known)))
            below = sum(ratio < _LEAST for ratio in known)
            lines.append(
                f"\n{other} / {mine}: {mean:.2f} in the geometric mean, least {min(known):.2f}, {below} below 0.8"
            )
    return lines


def main() -> None:
    """Print the table."""
    options = _options()
    torch = libraries.import_torch(options.library_path)
    if torch is None:
        print(libraries.HOW_TO_GET_TORCH, file=sys.stderr)
    wanted = [
        WeightCase(m, n, k, kind)
        for kind in options.kinds.split(",")
        for m, n, k in (map(int, shape.split("x")) for shape in options.shapes.split(","))
    ]
    with searching(Search(options.trials, options.search_seconds), options.winners) as winners:
        bench, rows = WeightBench(options, torch, winners if options.trials else None), list[WeightRow]()
        for case in wanted:
            rows.append(bench.row(case, options.threads))
            print(table(rows[-1:])[2], "|", rows[-1].config, file=sys.stderr, flush=True)
    print("\n".join(table(rows)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default="u4,s8")
    parser.add_argument("--shapes", default=_SHAPES, help="MxNxK, comma-separated; K a multiple of 128")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--trials", type=int, default=0, help="of each search; 0: the default alone")
    parser.add_argument("--search-seconds", type=float, default=60.0, help="of each search, at most")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each cell's rounds, at least")
    parser.add_argument("--repeat", type=int, default=9, help="rounds of each cell, at least")
    parser.add_argument("--again", type=int, default=3, help="times that a cell is measured again, at most")
    parser.add_argument("--beforehand", action="store_true", help="also with B unpacked to bf16 before the first call")
    parser.add_argument("--library-path", type=Path, help="a folder of packages that has torch; searched last")
    parser.add_argument("--winners", type=Path, help="a file that winners of searches are kept in")
    return parser.parse_args()


def _bits(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    return (values.view(np.uint32) >> 16).astype(np.uint16)


def _bf16(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Values cut to what bf16 holds."""
    return (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
