"""The list of facts that predictions need is the one that the model asks for."""

import pytest

from codegen import GemmProblem
from hal import XE_DEVICES, DeviceSpec, Use, readiness
from tuner.errors import CannotPredict
from tuner.heuristic import default_config
from tuner.model.xe import predict

PROBLEM = GemmProblem(512, 384, 1024)
COMPILED_FOR = [row.spec for row in XE_DEVICES if readiness(row.spec)[0].ready]


@pytest.mark.parametrize("spec", COMPILED_FOR, ids=lambda spec: spec.id)
def test_a_device_is_ready_for_predictions_where_the_model_has_its_facts(spec: DeviceSpec) -> None:
    predicted = next(ready for ready in readiness(spec) if ready.use is Use.PREDICT)
    config = default_config(PROBLEM, spec)
    if predicted.ready:
        assert predict(PROBLEM, config, spec).time_us > 0
    else:
        with pytest.raises(CannotPredict) as refused:
            predict(PROBLEM, config, spec)
        assert refused.value.fact in predicted.missing
