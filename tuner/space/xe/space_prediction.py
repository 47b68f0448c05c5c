"""Predicted times of whole spaces, kept as the spaces are, so that a trial of one is not predicted again."""

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from threading import Lock

from codegen import GemmProblem, XeConfig
from hal import DeviceSpec
from tuner.model.xe import Predictions, columns_of_space, predict, predict_many
from tuner.session.trial import Prediction
from tuner.space.space import KEPT_SPACES, Space
from tuner.space.xe.heuristic import facts_alone

_Of = tuple[GemmProblem, DeviceSpec]


@dataclass(slots=True)
class _Kept:
    """The newest spaces with their predictions, by problem and facts of the device."""

    found: OrderedDict[_Of, tuple[Space[XeConfig], Predictions]] = field(
        default_factory=OrderedDict[_Of, tuple[Space[XeConfig], Predictions]]
    )
    lock: Lock = field(default_factory=Lock)


_kept = _Kept()


def predict_xe_space(problem: GemmProblem, spec: DeviceSpec, space: Space[XeConfig]) -> Predictions:
    """Return the predicted times of a space, without their parts.

    Raises:
        CannotPredict: a fact of the device is unknown.
    """
    of = problem, facts_alone(spec)
    with _kept.lock:
        known = _kept.found.get(of)
    if known is not None and known[0] is space:
        return known[1]
    predictions = replace(predict_many(problem, columns_of_space(problem, space), spec), parts={})
    with _kept.lock:
        _kept.found[of] = space, predictions
        _kept.found.move_to_end(of)
        if len(_kept.found) > KEPT_SPACES:
            _kept.found.popitem(last=False)
    return predictions


def predict_xe(problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> Prediction:
    """Return the predicted time of a configuration: that of its row if its space was predicted.

    Raises:
        Refused: the problem or the device is refused.
        CannotPredict: a fact of the device is unknown.
    """
    with _kept.lock:
        known = _kept.found.get((problem, facts_alone(spec)))
    row = None if known is None else known[0].index(config)
    return predict(problem, config, spec) if known is None or row is None else known[1].at(row)
