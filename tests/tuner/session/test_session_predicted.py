"""Tuning without the GPU, and with one that the model knows: what the model ranks, drops and begins with."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from codegen import GemmArtifact, GemmProblem, KernelConfig, XeConfig
from hal import DeviceSpec, find
from tests.tuner.fakes import SMALL, FakeCompiler, FakeDevice, emulated
from tuner.backend import tuning_for
from tuner.errors import CannotPredict, ProofFailed, TooLargeToProve
from tuner.model.resolution import RESOLUTION
from tuner.model.roof import roof_us
from tuner.model.xe import MODEL_VERSION, predict
from tuner.search.method import STARTUP
from tuner.search.samplers.ranked import first_ranked
from tuner.search.space_prediction import (
    predict_space,
    predict_space_if_known,
)
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec
from tuner.session.memory_store import MemoryTrialStore
from tuner.session.result import (
    Event,
    SessionResult,
    Stop,
    TrialEnded,
)
from tuner.session.session import run_session
from tuner.session.trial import (
    Proof,
    ProofKind,
    Status,
    Trial,
)
from tuner.space.xe.heuristic import default_config
from tuner.space.xe.space import xe_space

B580 = find("b580")
PROBLEM = SMALL
DEFAULT = default_config(PROBLEM, B580)
LONG = GemmProblem(16, 32, 256)
"""A problem with configurations that are hopeless for certain."""
RIGHT = Proof(ProofKind.SIMULATOR, 9, 9, 0.0, 1.0)


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> set[KernelConfig]:
    """Configurations whose numbers the simulator finds wrong; all others are right."""
    found: set[KernelConfig] = set()

    def verify(artifact: GemmArtifact, **_: object) -> Proof:
        if artifact.config in found:
            raise ProofFailed("C[0, 0] is 1, expected 2", replace(RIGHT, max_error=2.0))
        return RIGHT

    monkeypatch.setattr("tuner.measure.measure.verify_by_simulation", verify)
    return found


def _run(
    store: MemoryTrialStore, trials: int, pool: FakeCompiler | None = None, spec: DeviceSpec = B580
) -> SessionResult:
    return run_session(
        JobSpec(problem=PROBLEM, device=spec, budget=Budget(trials, 100), seed=4), None, store, pool or FakeCompiler()
    )


def _proven(trials: list[Trial]) -> list[int]:
    return [t.number for t in trials if t.outcome is not None and t.outcome.proof.kind is ProofKind.SIMULATOR]


def _without(*facts: str) -> DeviceSpec:
    sources = {name: source for name, source in B580.provenance.items() if name not in facts}
    return replace(B580, provenance=sources, **dict.fromkeys(facts))


@pytest.mark.usefixtures("wrong")
@pytest.mark.slow
def test_the_first_are_proven_and_the_others_are_kept_as_runners_up() -> None:
    store = MemoryTrialStore()
    result = _run(store, 20)
    trials = store.trials()
    assert result.stop is Stop.TRIALS
    assert result.trials == {Status.PREDICTED: 20}
    assert _proven(trials) == list(range(8))
    assert trials[0].config == DEFAULT
    assert all(t.number in store.artifacts for t in trials)
    for trial in trials:
        assert trial.outcome is not None
        prediction = trial.outcome.prediction
        assert isinstance(trial.config, XeConfig)
        assert prediction == predict(PROBLEM, trial.config, B580)
        assert prediction is not None
        assert prediction.model_version == MODEL_VERSION
    times = [trial.outcome.time_us for trial in trials if trial.outcome is not None and trial.outcome.time_us]
    assert result.best is not None
    assert times[result.best.number] <= RESOLUTION * min(times)
    assert result.comparison is not None
    assert (result.comparison.default_us, result.comparison.best_us) == (times[0], times[result.best.number])
    assert not result.comparison.remeasured


def test_the_best_is_proven(wrong: set[KernelConfig]) -> None:
    store = MemoryTrialStore()
    _run(store, 14)
    wrong.update(trial.config for trial in store.trials()[1:12])
    second = MemoryTrialStore()
    result = _run(second, 14)
    assert result.trials == {Status.WRONG_RESULT: 11, Status.PREDICTED: 3}
    assert _proven(second.trials()) == list(range(14))
    assert result.best is not None
    assert result.best.number in (0, 12, 13)


@pytest.mark.usefixtures("wrong")
def test_the_same_configurations_whatever_happens_between() -> None:
    one, store = MemoryTrialStore(), MemoryTrialStore()
    _run(one, 20)

    def stop(event: Event) -> None:
        if isinstance(event, TrialEnded) and event.trial.number in (4, 11):
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            run_session(
                JobSpec(problem=PROBLEM, device=B580, budget=Budget(20, 100), seed=9), None, store, FakeCompiler(), stop
            )
    _run(store, 20)
    assert [t.config for t in store.trials()] == [t.config for t in one.trials()]
    assert _proven(store.trials()) == _proven(one.trials())


@pytest.mark.usefixtures("wrong")
def test_more_candidates_compile_ahead_than_there_are_workers() -> None:
    pool = FakeCompiler(workers=2)
    begun: list[int] = []
    store = MemoryTrialStore()
    run_session(
        JobSpec(problem=PROBLEM, device=B580, budget=Budget(20, 100), seed=4),
        None,
        store,
        pool,
        lambda _: begun.append(len(pool.begun)),
    )
    assert begun[0] == 1
    assert max(begun[2:]) == 20
    ahead = [count - event // 2 for event, count in enumerate(begun)]  # a trial begins, and ends
    assert max(ahead) > 1 + pool.workers  # once the space is made, which is beside the first trials


def test_the_default_compiles_while_inputs_are_drawn_and_is_stopped_where_they_cannot_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool, store = FakeCompiler(), MemoryTrialStore()

    def too_large(*_: object) -> None:
        assert pool.begun == [DEFAULT]
        raise TooLargeToProve("comparing the numbers takes 900 GiB")

    monkeypatch.setattr("tuner.session.session.Reference", too_large)
    with pytest.raises(TooLargeToProve):
        _run(store, 3, pool)
    assert pool.made[0].cancelled.is_set()
    assert store.trials() == []


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (("clock_mhz",), "clock_mhz of Intel Arc B580 is not known; a predicted time needs it"),
        (
            ("clock_mhz", "xe_cores"),
            "xe_cores and clock_mhz of Intel Arc B580 are not known; a predicted time needs them",
        ),
        (
            ("clock_mhz", "xe_cores", "eus_per_core"),
            "xe_cores, eus_per_core and clock_mhz of Intel Arc B580 are not known",
        ),
    ],
)
def test_missing_facts_are_named_before_anything_is_compiled(facts: tuple[str, ...], said: str) -> None:
    pool, store = FakeCompiler(), MemoryTrialStore()
    with pytest.raises(CannotPredict, match=said) as refused:
        _run(store, 3, pool, _without(*facts))
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    assert (store.trials(), pool.begun) == ([], [])


def _measured(spec: DeviceSpec, trials: int, seed: int = 4, problem: GemmProblem = PROBLEM) -> list[Trial]:
    store, device = MemoryTrialStore(), FakeDevice(problem, spec)
    run_session(
        JobSpec(problem=problem, device=spec, budget=Budget(trials, 100), seed=seed), device, store, FakeCompiler()
    )
    return store.trials()


@pytest.mark.slow
def test_a_measured_search_begins_with_what_the_model_ranks_first_and_drops_what_is_hopeless() -> None:
    space = tuning_for(B580).space(LONG, B580)
    known = predict_space(LONG, B580, space)
    first = [space.config(row) for row in first_ranked(space, known.predictions.time_us, STARTUP)]
    trials = _measured(B580, 30, problem=LONG)
    assert trials[0].config == default_config(LONG, B580)
    expected = [config for config in first if config != trials[0].config]
    assert [trial.config for trial in trials[1 : len(expected)]] == expected[: len(expected) - 1]
    hopeless = known.hopeless()
    assert 0 < hopeless.sum() < len(space)
    assert not any(hopeless[space.index(trial.config)] for trial in trials[1:])
    for trial in trials:
        assert trial.outcome is not None
        assert trial.outcome.measurement is not None
        assert isinstance(trial.config, XeConfig)
        assert trial.outcome.prediction == predict(LONG, trial.config, B580)


def test_only_what_even_the_intervals_do_not_save_is_dropped() -> None:
    space = tuning_for(B580).space(LONG, B580)
    known = predict_space(LONG, B580, space)
    p, hopeless = known.predictions, known.hopeless()
    best = int(np.argmin(p.time_us))
    latest = p.high_us[best] - p.shared_us
    assert p.low_us[hopeless].min() > latest >= p.low_us[~hopeless].max()
    assert not hopeless[first_ranked(space, known.predictions.time_us, STARTUP)].any()


def test_the_default_is_tried_even_where_it_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    space = xe_space(PROBLEM, B580)
    all_but_one = np.arange(len(space)) != 5
    monkeypatch.setattr("tuner.search.space_prediction.SpacePrediction.hopeless", lambda *_: all_but_one)
    assert [trial.config for trial in _measured(B580, 9)] == [DEFAULT, space.config(5)]


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(emulated(), id="stand-in"),
        pytest.param(_without("clock_mhz"), id="a fact is missing", marks=pytest.mark.slow),
    ],
)
def test_where_the_model_cannot_predict_the_search_begins_at_random(spec: DeviceSpec) -> None:
    assert predict_space_if_known(SMALL, spec, tuning_for(spec).space(SMALL, spec)) is None
    one, other = (_measured(spec, 6, seed) for seed in (1, 2))
    assert [t.config for t in one[1:]] != [t.config for t in other[1:]]
    assert all(t.outcome is not None and t.outcome.prediction is None for t in one)


@pytest.mark.usefixtures("wrong")
def test_a_job_that_reaches_the_asked_fraction_of_the_roofline_ends() -> None:
    def run(store: MemoryTrialStore, roofline: float | None) -> SessionResult:
        return run_session(
            JobSpec(problem=PROBLEM, device=B580, budget=Budget(6, 100, roofline=roofline), seed=4),
            None,
            store,
            FakeCompiler(),
        )

    whole = MemoryTrialStore()
    assert run(whole, 1.0).stop is Stop.TRIALS
    first = whole.trials()[0].outcome
    assert first is not None
    assert first.time_us is not None
    fraction = roof_us(PROBLEM, B580) / first.time_us
    assert 0 < fraction < 1
    store = MemoryTrialStore()
    assert run(store, 0.99 * fraction).stop is Stop.ROOFLINE
    assert len(store.trials()) == 1
