"""Recorded spaces as tables: a column for each axis, and one of times in ms."""

import csv
import gzip
from pathlib import Path

from tuner.replay.recorded import RecordedSpace, recorded_space

_NOT_AXES = {"time_ms", "compile_ms", "benchmark_ms"}


def read_csv(path: Path) -> RecordedSpace:
    """The recorded space of a table; axes of one value are left out."""
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name not in _NOT_AXES and len({row[name] for row in rows}) > 1]
    points = [tuple(int(row[name]) for name in names) for row in rows]
    name = path.name.removesuffix(".csv.gz").removeprefix("gemm_space_")
    return recorded_space(name, names, points, [1e3 * float(row["time_ms"]) for row in rows])
