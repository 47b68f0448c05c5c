"""The times that stand for a job, of evidence as the wire has it."""

import pytest

from service.job_summary import (
    Basis,
    reported_times_of,
)
from service.schemas import TimeEvidence


def time(value: float, kind: str = "measured", label: str = "native") -> TimeEvidence:
    """A time in us with its evidence."""
    basis = "predicted" if kind == "predicted" else "single"
    ends = {"low": value, "high": value}
    return TimeEvidence.model_validate({"kind": kind, "basis": basis, "value": value, "label": label, **ends})


@pytest.mark.parametrize(
    ("first", "again", "expected"),
    [
        (time(50.0), (None, None), (50.0, 40.0, Basis.SINGLE)),
        (time(50.0), (48.0, 44.0), (48.0, 44.0, Basis.INTERLEAVED)),
        (time(50.0, label="DPAS emulated"), (None, None), (None, 40.0, Basis.SINGLE)),
        (time(50.0, "predicted", "xe-1"), (None, None), (None, 40.0, Basis.SINGLE)),
        (None, (None, None), (None, 40.0, Basis.SINGLE)),
    ],
)
def test_trial_0_counts_with_the_same_evidence_and_turns_before_single_measurements(
    first: TimeEvidence | None, again: tuple[float | None, float | None], expected: tuple[float, float, Basis]
) -> None:
    line = reported_times_of(time(40.0), first, interleaved=again)
    assert (line.default_us, line.best_us, line.basis) == expected


def test_predicted_times_are_called_so_on_the_wire() -> None:
    line = reported_times_of(time(40.0, "predicted", "xe-1"), time(50.0, "predicted", "xe-1"), interleaved=(None, None))
    assert (line.gain, line.basis.word) == (1.25, "predicted")
