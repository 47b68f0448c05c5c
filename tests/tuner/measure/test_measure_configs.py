"""Given configurations are measured in order after the default, each once, whatever happens between."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from codegen import GemmProblem, KernelConfig, XeConfig
from codegen.xe.rules import violations
from hal import DeviceCrashed, DeviceSpec, find
from tests.tuner.fakes import FakeCompiler, FakeDevice, Fuse, FusedStore, Killed, binary_of, emulated
from tuner.errors import DeviceUnusable, NoValidMeasurement
from tuner.measure.measure_configs import measure_given
from tuner.model.xe import predict
from tuner.session.memory_store import MemoryTrialStore
from tuner.session.result import (
    Event,
    Stop,
    TrialBegun,
    TrialEnded,
    WallTime,
)
from tuner.session.trial import Status
from tuner.space.xe.heuristic import default_config

B580 = find("b580")
PROBLEM = GemmProblem(200, 136, 96)
DEFAULT = default_config(PROBLEM, B580)
OTHERS = [
    config
    for k_unroll, grf_mode, barrier_every in product((1, 2), (128, 256), (0, 1, 2))
    if (
        config := replace(
            DEFAULT,
            strategy=replace(DEFAULT.strategy, k_unroll=k_unroll, grf_mode=grf_mode, barrier_every=barrier_every),
        )
    )
    != DEFAULT
    and not violations(PROBLEM, config, B580)
]
GIVEN = OTHERS[:3]


def measure(
    store: MemoryTrialStore,
    device: FakeDevice,
    given: Sequence[XeConfig] = GIVEN,
    seconds: float = 100.0,
    pool: FakeCompiler | None = None,
    events: list[Event] | None = None,
) -> Stop:
    """Measure `given` with a compiler that does as told."""
    heard = [] if events is None else events
    configs = [default_config(PROBLEM, device.spec), *given]
    return measure_given(
        PROBLEM, device.spec, device, store, pool or FakeCompiler(), configs, seconds, seed=4, on_event=heard.append
    )


def tried(store: MemoryTrialStore) -> list[KernelConfig]:
    """The configurations of the trials in order."""
    return [trial.config for trial in store.trials()]


def test_the_default_comes_first_then_each_as_given_with_its_prediction() -> None:
    store, events = MemoryTrialStore(), list[Event]()
    assert measure(store, FakeDevice(PROBLEM, B580), [*GIVEN, GIVEN[0], DEFAULT], events=events) is Stop.EXHAUSTED
    assert tried(store) == [DEFAULT, *GIVEN]
    for trial in store.trials():
        assert trial.outcome is not None
        assert trial.outcome.status is Status.MEASURED
        assert isinstance(trial.config, XeConfig)
        assert trial.outcome.prediction == predict(PROBLEM, trial.config, B580)
        assert store.artifacts[trial.number].config == trial.config
    assert [type(event) for event in events] == [*[TrialBegun, TrialEnded, WallTime] * 4, WallTime]


@pytest.mark.parametrize("spec", [emulated(), replace(B580, clock_mhz=None, provenance={
    name: source for name, source in B580.provenance.items() if name != "clock_mhz"})])  # fmt: skip
def test_where_the_model_cannot_predict_only_measurements_are_kept(spec: DeviceSpec) -> None:
    store = MemoryTrialStore()
    measure(store, FakeDevice(PROBLEM, spec))
    assert all(t.outcome is not None and t.outcome.prediction is None for t in store.trials())


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_at_any_step_it_goes_on_without_loss_or_double(every: int) -> None:
    fuse = Fuse()
    measure(FusedStore(fuse), FakeDevice(PROBLEM, B580, fuse=fuse), GIVEN[:1], pool=FakeCompiler(fuse=fuse))
    for at in range(1, fuse.steps + 1, every):
        broken = Fuse(at)
        store = FusedStore(broken)
        with pytest.raises(Killed):
            measure(store, FakeDevice(PROBLEM, B580, fuse=broken), GIVEN[:1], pool=FakeCompiler(fuse=broken))
        measure(store, FakeDevice(PROBLEM, B580), GIVEN[:1])
        assert tried(store) == [DEFAULT, GIVEN[0]]
        assert all(trial.outcome is not None for trial in store.trials())


def test_what_crashes_is_an_outcome_and_five_in_a_row_end_the_job() -> None:
    crash = DeviceCrashed("signal 11")
    store = MemoryTrialStore()
    measure(store, FakeDevice(PROBLEM, B580, faults={binary_of(GIVEN[0]): crash}))
    assert [t.outcome.status for t in store.trials() if t.outcome is not None][1] is Status.CRASHED
    with pytest.raises(DeviceUnusable, match="failed 5 times in a row; last: signal 11"):
        measure(MemoryTrialStore(), FakeDevice(PROBLEM, B580, every=crash), OTHERS[:9])
    with pytest.raises(
        NoValidMeasurement, match="4 trials on Intel Arc B580 gave no time; the last ended with: signal"
    ):
        measure(MemoryTrialStore(), FakeDevice(PROBLEM, B580, every=crash))


def test_it_stops_when_asked_to_and_when_its_seconds_are_spent() -> None:
    store = MemoryTrialStore()
    store.cancel()
    assert measure(store, FakeDevice(PROBLEM, B580)) is Stop.CANCELLED
    assert store.trials() == []
    with pytest.raises(NoValidMeasurement, match="the time limit is used up"):
        measure(MemoryTrialStore(), FakeDevice(PROBLEM, B580), seconds=1e-9)
