"""Predicted times of a whole space, and what follows from them for the search."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen import GemmProblem, KernelConfig, XeConfig
from hal import DeviceKind, DeviceSpec, Use, readiness, runs_own_code
from tuner.errors import CannotPredict, NotOnThisCpu
from tuner.model.xe import Predictions, columns_of_space, predict, predict_many
from tuner.session.trial import Prediction
from tuner.space.space import Space


@dataclass(frozen=True, slots=True)
class SpacePrediction:
    """The predicted times of a problem's space on a GPU."""

    problem: GemmProblem
    spec: DeviceSpec
    space: Space[XeConfig]
    predictions: Predictions

    def hopeless(self) -> NDArray[np.bool_]:
        """Return the rows that are slower than the best one even at the far ends of both intervals."""
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


def predict_space(problem: GemmProblem, spec: DeviceSpec, space: Space[XeConfig]) -> SpacePrediction:
    """Predict the whole space.

    Raises:
        CannotPredict: a fact of the device is not known.
    """
    return SpacePrediction(problem, spec, space, predict_many(problem, columns_of_space(problem, space), spec))


def predict_space_if_known(problem: GemmProblem, spec: DeviceSpec, space: Space[XeConfig]) -> SpacePrediction | None:
    """Predict the whole space; None where the model cannot, or where a CPU emulates the GPU."""
    if spec.kind is not DeviceKind.GPU or spec.emulates is not None:
        return None
    try:
        return predict_space(problem, spec, space)
    except CannotPredict:
        return None


def prediction_if_known(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Prediction | None:
    """Predict a configuration on a device that is here; None where the model does not."""
    return predict(problem, config, spec) if isinstance(config, XeConfig) and is_predicted(spec) else None


def is_predicted(spec: DeviceSpec) -> bool:
    """Return whether the model predicts times of a device that is here."""
    if spec.kind is not DeviceKind.GPU or spec.emulates is not None:
        return False
    return not next(ready.missing for ready in readiness(spec) if ready.use is Use.PREDICT)
