"""Results of any file format: configurations as parameters, with the outcome of each."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen import GemmProblem
from tuner.session.bounds import Name
from tuner.session.evidence import LABELS
from tuner.session.trial import Status
from tuner.space.values import Value

if TYPE_CHECKING:
    from tuner.replay.recorded import RecordedSpace


@dataclass(frozen=True, slots=True)
class Times:
    """A time in microseconds, with the statistics of its samples that are known.

    `time_us` is the median in files of this program, and the time as given in other files.
    """

    time_us: float
    min_us: float | None = None
    p10_us: float | None = None
    p90_us: float | None = None
    samples: int | None = None


@dataclass(frozen=True, slots=True)
class Tried:
    """A configuration, its values in order of the parameters, and its outcome.

    `times` is set for status measured only, `reason` for every other. Wall times are seconds, None if not
    given; `at` is the time of the trial in ISO 8601.
    """

    values: tuple[Value, ...]
    status: Status
    times: Times | None = None
    reason: str | None = None
    compile_s: float | None = None
    verify_s: float | None = None
    measure_s: float | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """The fields that XeTune adds to a format: problem, device id, label of the times and origin."""

    problem: GemmProblem
    device: Name
    device_name: Name
    driver: str
    label: str
    origin: Name
    program: str
    job: str | None = None

    def __post_init__(self) -> None:
        if self.driver and not self.driver.isprintable():
            raise ValueError(f"driver: expected printable characters, got {self.driver[:60]!r}")
        if self.label not in LABELS:
            raise ValueError(f"label: expected one of {', '.join(LABELS)}, got {self.label[:40]!r}")


@dataclass(frozen=True, slots=True)
class Results:
    """A file: its kernel, the name of its device, and the configurations that were tried on it.

    `source` is None for files that another program wrote. `notes` report what is left out.
    """

    kernel: str
    device: str
    problem_size: tuple[int, ...]
    parameters: tuple[str, ...]
    tried: tuple[Tried, ...]
    source: Provenance | None = None
    notes: tuple[str, ...] = ()

    def values(self) -> dict[str, list[Value]]:
        """Return each parameter with the values that occur, numbers ascending and before words."""
        axes = ({tried.values[i] for tried in self.tried} for i in range(len(self.parameters)))
        ordered = (sorted(values, key=_number_first) for values in axes)
        return dict(zip(self.parameters, ordered, strict=True))

    def space(self, name: str) -> "RecordedSpace":
        """Return the file as a space to search.

        Raises:
            ValueError: nothing has a time, or a configuration occurs twice.
        """
        # Imported here, as it brings numpy.
        from tuner.replay.recorded import recorded_space

        points = [tried.values for tried in self.tried]
        times = [None if tried.times is None else tried.times.time_us for tried in self.tried]
        return recorded_space(name, self.parameters, points, times)


def times_of(time: float, runtimes: Sequence[float], unit_us: float) -> Times:
    """Return a time and its samples, if there are any, in units of `unit_us`: the time is that of the file."""
    if not runtimes:
        return Times(time * unit_us)
    # Imported here: files of other formats are detected without it.
    import numpy as np

    us = np.array(runtimes) * unit_us
    p10, p90 = np.percentile(us, [10, 90])
    return Times(time * unit_us, float(us.min()), float(p10), float(p90), len(us))


def is_time(value: object) -> bool:
    """Return True for a finite number above 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < sys.float_info.max


def plain_value(value: object) -> Value:
    """Return a parameter's value as stored on an axis: booleans as 0 or 1, anything else than numbers and
    text as JSON.
    """
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float | str):
        return value
    return json.dumps(value, sort_keys=True)


def _number_first(value: Value) -> tuple[bool, float, str]:
    return (True, 0.0, value) if isinstance(value, str) else (False, float(value), "")
