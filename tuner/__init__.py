"""Search of the legal configurations of a problem on a device."""

from importlib import import_module
from typing import TYPE_CHECKING

from tuner.errors import CannotPredict, DeviceUnusable, NoValidMeasurement, ProofFailed, TunerError
from tuner.session.budget import Budget
from tuner.session.result import (
    Comparison,
    Event,
    SessionResult,
    Stop,
    TrialBegun,
    TrialEnded,
)
from tuner.session.trial import (
    Measurement,
    Outcome,
    Prediction,
    Proof,
    ProofKind,
    Status,
    Trial,
    TrialStore,
)

if TYPE_CHECKING:
    from tuner.session.session import run_session

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

# Modules that import the searches and the models are loaded on first use.
_LATE = {"run_session": "tuner.session.session"}


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)
