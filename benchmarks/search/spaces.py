"""The spaces that searches are compared in: recorded ones, parts of them, and made-up ones that are unlike them.

Those in the folder h200 are complete and were recorded on 2026-11-24 on one NVIDIA H200 with CUDA kernels that were
written for it, one per parameter set and compiled by NVRTC 13.0; each time is the median of 7 launches, and the output
of every 50th configuration was compared with that of CuPy: none differed. `h200_gemm` (M = N = K = 2048) and
`h200_wide_gemm` (M 256, N 4096, K 1024) are f32 GEMMs with the parameters of CLBlast's kernel that the two other
recordings have. `h200_conv17` and `h200_conv7` convolve 4096 x 4096 f32 values with a square filter of that side:
threads and outputs per thread in both directions (BX, BY, TX, TY), padding of the tile in shared memory (PAD), filter
through the read-only cache or as constants (RO), and unrolling of the inner loop (UNR). Names that end in `_one` lack
every configuration within 5 % (conv7: 10 %) of the best but the best itself.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.search.recorded_csv import read_csv
from tuner.replay.recorded import RecordedSpace, recorded_space
from tuner.replay.warm import DONORS, donor_rows

NAMES: dict[str, tuple[str, ...]] = {
    "rtx3090": ("titan_rtx", "h200_gemm"),
    "titan_rtx": ("rtx3090", "h200_wide_gemm", "rtx3090:poor"),
    "part": ("h200_gemm",),
    "gaps": ("titan_rtx", "h200_wide_gemm"),
    "words": ("random",),
    "rugged": ("random",),
    "h200_gemm": ("rtx3090", "titan_rtx", "h200_wide_gemm:poor"),
    "h200_wide_gemm": ("titan_rtx", "h200_gemm"),
    "h200_conv17": ("h200_conv7",),
    "h200_conv7": ("h200_conv17",),
    "h200_conv17_one": ("h200_conv7",),
    "h200_conv7_one": ("h200_conv17",),
}
"""Names, and sources of the donors of warm searches: the ten best of a space, with `:poor` those of ranks 1001 to 1010,
or ten random rows.
"""
_BETTER = 1000  # configurations that are faster than poor donors
_H200 = Path(__file__).parent / "h200"


def named(data: Path, name: str) -> RecordedSpace:
    """A space by its name; those that are not made up here are tables in the folder `data`."""
    match name:
        case "part":
            return _part(named(data, "rtx3090"))
        case "gaps":
            return _gaps(named(data, "titan_rtx"))
        case "words":
            return _words()
        case "rugged":
            return _rugged()
        case "h200_conv17_one":
            return _with_one_best(named(data, "h200_conv17"), 0.95)
        case "h200_conv7_one":
            return _with_one_best(named(data, "h200_conv7"), 0.9)
        case _ if name.startswith("h200_"):
            return replace(read_csv(_H200 / f"{name.removeprefix('h200_')}.csv.gz"), name=name)
        case _:
            return read_csv(data / f"gemm_space_{name}.csv.gz")


def donors(data: Path, recorded: RecordedSpace, source: str) -> list[int]:
    """Rows that a warm search begins with, by their source as in `NAMES`."""
    if source == "random":
        return np.random.default_rng(0).choice(len(recorded), DONORS, replace=False).tolist()
    name, _, poor = source.partition(":")
    other = named(data, name)
    if poor:
        kept = np.ones(len(other), dtype=np.bool_)
        kept[np.argsort(other.times_us, kind="stable")[:_BETTER]] = False
        other = replace(other, points=other.points[kept], times_us=other.times_us[kept])
    return donor_rows(recorded, other)


def _part(whole: RecordedSpace) -> RecordedSpace:
    """One choice of five axes: few configurations."""
    kept = np.ones(len(whole), dtype=np.bool_)
    for name, value in {"SA": 1, "SB": 1, "VWM": 2, "NDIMB": 16}.items():
        axis = next(i for i, axis in enumerate(whole.axes) if axis.name == name)
        kept &= whole.points[:, axis] == whole.axes[axis].values.index(value)
    names = [axis.name for axis in whole.axes]
    points = [
        tuple(axis.values[rank] for axis, rank in zip(whole.axes, row, strict=True)) for row in whole.points[kept]
    ]
    return recorded_space("part", names, points, [float(t) for t in whole.times_us[kept]])


def _with_one_best(whole: RecordedSpace, fraction: float) -> RecordedSpace:
    """All configurations slower than this fraction of the best speed, and the best."""
    kept = (whole.best_us / whole.times_us < fraction) | (whole.times_us == whole.best_us)
    return replace(whole, name=f"{whole.name}_one", points=whole.points[kept], times_us=whole.times_us[kept])


def _gaps(whole: RecordedSpace) -> RecordedSpace:
    """Two configurations of three give no time: one region, the fastest of all, and some at random."""
    rng = np.random.default_rng(1)
    times_us = whole.times_us.copy()
    values = {axis.name: np.array(axis.values)[whole.points[:, i]] for i, axis in enumerate(whole.axes)}
    times_us[values["MWG"] * values["NWG"] >= 128 * 64] = np.nan
    times_us[rng.random(len(whole)) < 0.4] = np.nan
    return replace(whole, name="gaps", times_us=times_us)


def _words() -> RecordedSpace:
    """Words without an order, which decide most, and numbers that matter only with some of them; 8 axes."""
    rng = np.random.default_rng(2)
    names = ("unit", "layout", "order", "cache", "tile", "depth", "share", "unroll")
    sizes = (5, 6, 4, 3, 6, 5, 4, 4)
    points = np.unique(rng.integers(0, sizes, size=(12_000, len(sizes))), axis=0)
    main = [rng.normal(0, 0.25, size) for size in sizes]
    pairs = {(a, b): rng.normal(0, 0.2, (sizes[a], sizes[b])) for a, b in ((0, 1), (0, 4), (1, 5), (2, 3), (4, 5))}
    log = sum(main[axis][points[:, axis]] for axis in range(len(sizes)))
    log = log + sum(table[points[:, a], points[:, b]] for (a, b), table in pairs.items())
    log = log + rng.normal(0, 0.01, len(points))
    labelled = [(*(f"{names[i]}{p[i]}" for i in range(4)), *(2 ** int(p[i]) for i in range(4, 8))) for p in points]
    return recorded_space("words", names, labelled, [float(t) for t in 1e3 * np.exp(log)])


def _rugged() -> RecordedSpace:
    """500 configurations of 5 axes whose neighbours say little of each other: noise of 20 %; a third fails."""
    rng = np.random.default_rng(3)
    sizes = (4, 5, 3, 6, 4)
    points = np.unique(rng.integers(0, sizes, size=(800, len(sizes))), axis=0)
    points = points[rng.permutation(len(points))[:500]]
    log = 0.3 * (points[:, 0] - points[:, 3] % 3) ** 2 + 0.2 * (points[:, 1] * points[:, 2] % 4)
    log = log + rng.normal(0, 0.2, len(points))
    times = [None if rng.random() < 0.33 else float(t) for t in 100 * np.exp(log)]
    values = [tuple(1 + int(rank) for rank in point) for point in points]
    return recorded_space("rugged", ("a", "b", "c", "d", "e"), values, times)
