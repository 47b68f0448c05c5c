"""The time of a configuration is that of its row, where its space was predicted."""

from dataclasses import replace

import pytest

from codegen import GemmProblem
from hal import find
from tuner.model.xe import predict
from tuner.space.xe import space_prediction
from tuner.space.xe.space import xe_space
from tuner.space.xe.space_prediction import predict_xe, predict_xe_space

PROBLEM = GemmProblem(16, 32, 64)
B580 = find("b580")


def test_a_row_is_predicted_once_for_all_devices_of_equal_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    space = xe_space(PROBLEM, B580)
    predictions = predict_xe_space(PROBLEM, B580, space)
    other = replace(B580, id="b580-1")
    assert predict_xe_space(PROBLEM, other, space) is predictions
    rows = range(0, len(space), 97)
    alone = [predict(PROBLEM, space.config(row), B580) for row in rows]
    monkeypatch.setattr(space_prediction, "predict", None)
    found = [predict_xe(PROBLEM, space.config(row), other) for row in rows]
    for one, each in zip(found, alone, strict=True):
        assert (one.time_us, one.low_us, one.high_us) == pytest.approx((each.time_us, each.low_us, each.high_us))
        assert (one.model_version, one.burden) == (each.model_version, each.burden)


def test_the_newest_spaces_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space_prediction, "KEPT_SPACES", 1)
    monkeypatch.setattr(space_prediction, "_kept", space_prediction._Kept())
    small = GemmProblem(8, 16, 32)
    first = predict_xe_space(PROBLEM, B580, xe_space(PROBLEM, B580))
    predict_xe_space(small, B580, xe_space(small, B580))
    assert predict_xe_space(PROBLEM, B580, xe_space(PROBLEM, B580)) is not first
