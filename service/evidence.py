"""From rows to the evidence that every result carries."""

import math

from db.models import Prediction, Problem, Trial
from service.schemas import Evidence, ProofEvidence, TimeEvidence


def evidence_of(trial: Trial) -> Evidence:
    """Time and proof of a trial, whose measurement and prediction are loaded."""
    return Evidence(
        time=_time(trial),
        proof=ProofEvidence.model_validate(
            {
                "kind": trial.proof_kind,
                "checked": trial.proof_checked,
                "total": trial.proof_total,
                "max_error": _finite(trial.max_error),
                "tolerance": trial.tolerance,
            }
        ),
    )


def foretold(trial: Trial) -> TimeEvidence | None:
    """What the model predicted of a trial that was measured; None without either."""
    if trial.measurement is None or trial.prediction is None:
        return None
    return _predicted(trial.prediction)


def tflops(problem: Problem, evidence: Evidence) -> float | None:
    """Operations of the problem over the time, in TFLOP/s."""
    if evidence.time is None:
        return None
    return 2 * problem.batch * problem.m * problem.n * problem.k / evidence.time.value / 1e6


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _time(trial: Trial) -> TimeEvidence | None:
    if (m := trial.measurement) is not None:
        return TimeEvidence(
            kind="measured",
            value=m.median_us,
            low=m.p10_us,
            high=m.p90_us,
            label=m.label,
            samples=m.samples,
            driver=m.driver,
        )
    if (p := trial.prediction) is not None:
        return _predicted(p)
    return None


def _predicted(p: Prediction) -> TimeEvidence:
    return TimeEvidence(kind="predicted", value=p.time_us, low=p.low_us, high=p.high_us, label=p.model_version)
