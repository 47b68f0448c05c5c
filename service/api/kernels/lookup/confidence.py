"""Confidence of an answer: a base by its source, less named deductions.

The value ranks answers; it is not a probability. All its constants are in this module.
"""

from collections.abc import Iterable
from dataclasses import fields
from datetime import datetime, timedelta

from codegen import GemmProblem
from db.schema.trial import Trial
from hal import Runtime, row_of
from hal.devices.listed import ListedDevice
from service.api.kernels.lookup.schemas import ConfidenceOut

MEASURED, PREDICTED = 0.95, 0.6  # for this problem and device
NEARBY_MEASURED, NEARBY_PREDICTED = 0.7, 0.5
MODEL, HEURISTIC = 0.3, 0.15
_HIGH, _MEDIUM = 0.8, 0.4
_STALE, _A_DOUBLING = -0.3, -0.15
_WIDE, _VERY_WIDE, _IMPORTED, _OLD = -0.05, -0.15, -0.05, -0.05
_SPREAD, _GREAT_SPREAD = 0.1, 0.3  # p90 less p10, over the median
_OTHERWISE = -0.05
_CANCELLED = -0.1
_UNKNOWN_DEVICE = -0.4  # an imported time is never served as certain then
LEAST = HEURISTIC, "it was preferred to the default"
"""Confidence that an answer has at least, since another one would have it, and why it was preferred to that."""
LEAST_IF_RANKED = MODEL, "by the model it is first here too, or within its resolution"
_SIZES = ("m", "n", "k", "batch")
_INTERVAL = 4.0  # upper over lower bound of a prediction
_AGE = timedelta(days=180)
Part = tuple[float, str]


def confidence(
    base: float, what: str, against: Iterable[Part] = (), at_least: tuple[float, str] = (0.0, "")
) -> ConfidenceOut:
    """Return the confidence of an answer with that base, `at_least` that of another one, which it was preferred to."""
    parts = [(base, what), *against]
    value = round(sum(part for part, _ in parts), 2)
    least, why = at_least
    if value < least:
        parts.append((least - value, f"at least {least:.2f}: {why}"))
    value = min(max(value, least), 1.0)
    reasons = [f"{part:.2f} {why}" for part, why in parts]
    level = "high" if value >= _HIGH else "medium" if value >= _MEDIUM else "low"
    return ConfidenceOut(level=level, value=value, reasons=reasons)


def of_trial(trial: Trial, now: datetime) -> list[Part]:
    """Return the deductions for the evidence of a trial's own time."""
    parts: list[Part] = []
    measured, predicted = trial.measurement, trial.prediction
    if measured is not None:
        spread = (measured.p90_us - measured.p10_us) / measured.median_us
        if spread > _SPREAD:
            parts.append((_VERY_WIDE if spread > _GREAT_SPREAD else _WIDE, f"its samples spread over {spread:.0%}"))
        if now - measured.measured_at > _AGE:
            parts.append((_OLD, f"measured {(now - measured.measured_at).days} days ago"))
    elif predicted is not None and predicted.high_us > _INTERVAL * predicted.low_us:
        parts.append((_VERY_WIDE, f"the interval is {predicted.high_us / predicted.low_us:.1f} times as wide as short"))
    if trial.origin is not None:
        parts.append((_IMPORTED, f"from {trial.origin}, not from here"))
    return parts


def of_device(trial: Trial, device: ListedDevice) -> list[Part]:
    """Return the deduction for an imported time of a device whose facts nobody here knows."""
    if trial.origin is None or device.runtime is not Runtime.TABLE or row_of(device.spec.id):
        return []
    return [(_UNKNOWN_DEVICE, f"{device.spec.id} is known from imports alone, which also state what it can reach")]


def same_until(trial: Trial, now: datetime) -> datetime | None:
    """Return the time until which `of_trial` returns the same for an unchanged trial; None: for ever."""
    if trial.measurement is None:
        return None
    at = trial.measurement.measured_at
    return at + max(_AGE, timedelta(days=(now - at).days)) + timedelta(days=now - at > _AGE)


def of_job(trial: Trial) -> list[Part]:
    """Return the deduction for a search that was cancelled."""
    if trial.job.status != "cancelled":
        return []
    return [(_CANCELLED, f"job {trial.job_id} was cancelled: the best of the part of the search that was done")]


def of_staleness(stale: list[str]) -> list[Part]:
    """Return the deduction for a stale result."""
    return [(_STALE, "; ".join(stale))] if stale else []


def of_distance(distance: float, there: GemmProblem, here: GemmProblem) -> list[Part]:
    """Return the deductions for a result of another problem."""
    names = [f.name for f in fields(GemmProblem) if f.name not in _SIZES]
    differ = [name for name in names if getattr(there, name) != getattr(here, name)]
    far = round(distance, 2)
    parts = [(_A_DOUBLING * distance, f"{far:.2f} doublings of M, N, K or batch away")] if far else []
    if differ and not distance:
        parts.append((_OTHERWISE, f"other {', '.join(differ)}"))
    return parts
