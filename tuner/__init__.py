"""Search of the legal configurations of a problem on a device."""

from typing import TYPE_CHECKING

from hal.late import late_exports

if TYPE_CHECKING:
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
    from tuner.session.session import run_session
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

# Imported when it is first asked for: most programs, and every help text, need a part of it.
_LATE = {
    "Budget": "tuner.session.budget",
    "CannotPredict": "tuner.errors",
    "Comparison": "tuner.session.result",
    "DeviceUnusable": "tuner.errors",
    "Event": "tuner.session.result",
    "Measurement": "tuner.session.trial",
    "NoValidMeasurement": "tuner.errors",
    "Outcome": "tuner.session.trial",
    "Prediction": "tuner.session.trial",
    "Proof": "tuner.session.trial",
    "ProofFailed": "tuner.errors",
    "ProofKind": "tuner.session.trial",
    "SessionResult": "tuner.session.result",
    "Status": "tuner.session.trial",
    "Stop": "tuner.session.result",
    "Trial": "tuner.session.trial",
    "TrialBegun": "tuner.session.result",
    "TrialEnded": "tuner.session.result",
    "TrialStore": "tuner.session.trial",
    "TunerError": "tuner.errors",
    "run_session": "tuner.session.session",
}

__getattr__ = late_exports(globals(), _LATE)
