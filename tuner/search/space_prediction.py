"""Predicted times of a whole space, and their use by a search."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from codegen import GemmProblem, KernelConfig
from hal import DeviceSpec
from tuner.backend import is_predicted, tuning_for
from tuner.space.space import Space

if TYPE_CHECKING:
    from tuner.model.xe import Predictions


@dataclass(frozen=True, slots=True)
class SpacePrediction:
    """Predicted times of a problem's space."""

    problem: GemmProblem
    spec: DeviceSpec
    space: Space[KernelConfig]
    predictions: "Predictions"

    def hopeless(self) -> NDArray[np.bool_]:
        """Return the rows that are slower than the best one at the far ends of both intervals, with equal launches."""
        p, best = self.predictions, int(np.argmin(self.predictions.time_us))
        return p.low_us + p.shared_us > p.high_us[best]


def predict_space(problem: GemmProblem, spec: DeviceSpec, space: Space[KernelConfig]) -> SpacePrediction:
    """Predict the whole space.

    Raises:
        CannotPredict, NotOnThisCpu: a fact of the device is unknown, or its backend has no model.
    """
    return SpacePrediction(problem, spec, space, tuning_for(spec).predict_space(problem, spec, space))


def predict_space_if_known(
    problem: GemmProblem, spec: DeviceSpec, space: Space[KernelConfig]
) -> SpacePrediction | None:
    """Predict the whole space; None if the model cannot, or if a CPU emulates the GPU."""
    return predict_space(problem, spec, space) if is_predicted(spec) else None
