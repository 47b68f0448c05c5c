"""The list of facts that predictions need is the one that the model asks for."""

from dataclasses import replace

import pytest

from codegen import GemmProblem
from hal import FACT_NAMES, NEEDS, XE_DEVICES, DeviceSpec, Use, find, readiness
from tuner.errors import CannotPredict
from tuner.model.xe import predict
from tuner.space.xe.heuristic import default_config

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


def _without(spec: DeviceSpec, *names: str) -> DeviceSpec:
    provenance = {name: source for name, source in spec.provenance.items() if name not in names}
    return replace(spec, provenance=provenance, **dict.fromkeys(names))


def test_every_fact_that_the_model_asks_for_is_listed() -> None:
    config, asked = default_config(PROBLEM, find("b580")), set[str]()
    for name in set(FACT_NAMES) - set(NEEDS[Use.COMPILE]):
        # Threads of each mode, where they are known, stand for those of two modes.
        spec = _without(find("b580"), name, "threads_per_eu_by_grf_mode")
        try:
            predict(PROBLEM, config, spec)
        except CannotPredict as refused:
            asked.update(refused.facts)
    assert asked == set(NEEDS[Use.PREDICT])
