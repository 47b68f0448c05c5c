"""Checks of an outcome's evidence before it is stored."""

from typing import TYPE_CHECKING

from tuner.session.bounds import LONGEST_US
from tuner.session.trial import (
    Measurement,
    Outcome,
    Prediction,
    Proof,
    ProofKind,
    Status,
)

if TYPE_CHECKING:
    from codegen import AnyArtifact

NATIVE, EMULATED = "native", "DPAS emulated"
LABELS = (NATIVE, EMULATED)
"""Labels of measurements: whether the device ran the kernel natively, or with emulated built-ins."""


def check_evidence(outcome: Outcome, artifact: "AnyArtifact | None") -> None:
    """Check that an outcome and its kernel match, and that its numbers are plausible.

    Raises:
        ValueError: names the contradiction.
    """
    kernel_hash = None if artifact is None else artifact.content_hash
    if outcome.kernel_hash != kernel_hash:
        raise ValueError(f"the outcome names kernel {outcome.kernel_hash}, the artifact given is {kernel_hash}")
    if outcome.acceptance is not None and artifact is None:
        raise ValueError("an acceptance needs the kernel that was accepted, got no artifact")
    if outcome.measurement is not None and artifact is None:
        raise ValueError("a measurement needs the kernel that was measured, got no artifact")
    check_numbers(outcome)


def check_reused(outcome: Outcome, artifact: "AnyArtifact | None") -> None:
    """Check that an outcome may be the measurement of an earlier job's trial.

    Raises:
        ValueError: it is not a measurement, names no kernel, or has implausible numbers.
    """
    if outcome.measurement is None or outcome.kernel_hash is None:
        raise ValueError(f"expected the measurement of an earlier trial with its kernel, got status {outcome.status}")
    if artifact is not None:
        check_evidence(outcome, artifact)
    check_numbers(outcome)


def check_numbers(outcome: Outcome) -> None:
    """Check that the numbers of an outcome are plausible, whatever its kernel is.

    Raises:
        ValueError: with what was expected and got.
    """
    _check_proof(outcome.proof)
    if outcome.measurement is not None:
        _check_proven(outcome.proof)
        _check_measurement(outcome.measurement)
    if outcome.prediction is not None:
        _check_prediction(outcome.prediction)
    if outcome.status in (Status.MEASURED, Status.PREDICTED):
        _check_agreement(outcome.proof)


def _check_proof(proof: Proof) -> None:
    if not 0 <= proof.checked <= proof.total or (proof.kind is ProofKind.NONE) != (proof.total == 0):
        raise ValueError(f"proof {proof.kind.value} of {proof.checked} of {proof.total} work-groups is none")


def _check_proven(proof: Proof) -> None:
    if proof.kind is ProofKind.NONE or proof.max_error is None or proof.tolerance is None:
        raise ValueError(f"a measurement needs a proof with its error and tolerance, got {proof}")


def _check_agreement(proof: Proof) -> None:
    if proof.kind is not ProofKind.NONE and proof.checked < 1:
        raise ValueError(f"a proof compares at least one tile, got {proof.checked} of {proof.total}")
    if proof.max_error is not None and proof.tolerance is not None and not proof.max_error <= proof.tolerance:
        raise ValueError(f"an error of {proof.max_error} is above its tolerance {proof.tolerance}: a wrong result")


def _check_measurement(times: Measurement) -> None:
    ordered = 0 < times.min_us <= times.p10_us <= times.median_us <= times.p90_us < LONGEST_US
    if times.samples < 1 or not ordered:
        raise ValueError(f"expected samples, and 0 < min <= p10 <= median <= p90 < {LONGEST_US}, got {times}")
    if times.label not in LABELS:
        raise ValueError(f"expected a label out of {LABELS}, got {times.label!r}")


def _check_prediction(times: Prediction) -> None:
    if not 0 < times.low_us <= times.time_us <= times.high_us < LONGEST_US:
        raise ValueError(f"expected 0 < low <= time <= high < {LONGEST_US}, got {times}")
