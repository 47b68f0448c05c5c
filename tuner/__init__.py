"""Searches the legal configurations of a problem on a device."""

from tuner.budget import Budget
from tuner.errors import CannotPredict, DeviceUnusable, NoValidMeasurement, ProofFailed, TunerError
from tuner.result import Comparison, Event, SessionResult, Stop, TrialBegun, TrialEnded
from tuner.session import run_session
from tuner.trial import Measurement, Outcome, Prediction, Proof, ProofKind, Status, Trial, TrialStore

__all__ = [
    "Budget",
    "CannotPredict",
    "Comparison",
    "DeviceUnusable",
    "Event",
    "Measurement",
    "NoValidMeasurement",
    "Outcome",
    "Prediction",
    "Proof",
    "ProofFailed",
    "ProofKind",
    "SessionResult",
    "Status",
    "Stop",
    "Trial",
    "TrialBegun",
    "TrialEnded",
    "TrialStore",
    "TunerError",
    "run_session",
]
