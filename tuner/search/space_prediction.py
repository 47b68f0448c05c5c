"""What the model predicts for a whole space, and what follows from that for the search."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen import GemmProblem, KernelConfig, XeConfig
from hal import DeviceKind, DeviceSpec, Use, readiness, runs_own_code
from tuner.errors import CannotPredict, NotOnThisCpu
from tuner.model.xe import Predictions, columns_of_space, predict, predict_many
from tuner.search.method import first_rows
from tuner.session.trial import Prediction
from tuner.space.space import Space


@dataclass(frozen=True, slots=True)
class Forecast:
    """The predicted times of a problem's space on a GPU."""

    problem: GemmProblem
    spec: DeviceSpec
    space: Space[XeConfig]
    predictions: Predictions

    def first_rows(self, count: int) -> list[int]:
        """Rows to begin a measured search with: the best and the most different of these."""
        return first_rows(self.space, self.predictions.time_us, count)

    def hopeless(self) -> NDArray[np.bool_]:
        """Rows that are slower than the best one even if both predictions are as wrong as their intervals allow."""
        best = int(np.argmin(self.predictions.time_us))
        return self.predictions.low_us > self.predictions.high_us[best]


def check_predictable(spec: DeviceSpec) -> None:
    """Return when times can be predicted for a device that is not here.

    Raises:
        NotOnThisCpu: it is a CPU, whose times are measured only.
        CannotPredict: the model lacks facts of it; names each.
    """
    if runs_own_code(spec):
        raise NotOnThisCpu(spec.id)
    missing = next(ready.missing for ready in readiness(spec) if ready.use is Use.PREDICT)
    if missing:
        raise CannotPredict(spec.name, *missing)


def forecast(problem: GemmProblem, spec: DeviceSpec, space: Space[XeConfig]) -> Forecast:
    """Predict the whole space.

    Raises:
        CannotPredict: a fact of the device is not known.
    """
    return Forecast(problem, spec, space, predict_many(problem, columns_of_space(problem, space), spec))


def forecast_if_known(problem: GemmProblem, spec: DeviceSpec, space: Space[XeConfig]) -> Forecast | None:
    """Predict the whole space; None where the model cannot, or where a CPU stands in for the GPU."""
    if spec.kind is not DeviceKind.GPU or spec.emulates is not None:
        return None
    try:
        return forecast(problem, spec, space)
    except CannotPredict:
        return None


def prediction_if_known(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Prediction | None:
    """What the model predicts for a device that is here; None where it does not."""
    return predict(problem, config, spec) if isinstance(config, XeConfig) and is_predicted(spec) else None


def is_predicted(spec: DeviceSpec) -> bool:
    """Whether the model predicts times of a device that is here."""
    if spec.kind is not DeviceKind.GPU or spec.emulates is not None:
        return False
    return not next(ready.missing for ready in readiness(spec) if ready.use is Use.PREDICT)
