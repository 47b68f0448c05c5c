"""A job replays to the proposals that it tried, however it ran; what was changed or not kept is told."""

from collections.abc import Callable, Generator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from codegen import AnyConfig, DType, GemmProblem
from hal import DeviceSpec, find
from tests.tuner.fakes import FakeCompiler, FakeDevice, Fuse, FusedStore, Killed, cpu_spec
from tuner.errors import NotReplayable
from tuner.replay.job import Replayed, SearchedJob, Tried, as_tried, replay_job
from tuner.search.method import Method
from tuner.search.objective import Objective
from tuner.search.start import SearchStart
from tuner.session.budget import (
    Budget,
    Portion,
)
from tuner.session.memory_store import MemoryTrialStore
from tuner.session.session import run_session
from tuner.session.trial import (
    Proof,
    ProofKind,
)
from tuner.shapes.across import VISITOR
from tuner.space.cpu.space import cpu_space
from tuner.space.starts import search_for
from tuner.space.xe.space import xe_space

CPU, B580 = cpu_spec(), find("b580")
PROBLEM = GemmProblem(40, 96, 72, dtype_a=DType.BF16, dtype_b=DType.BF16)
ON_GPU = GemmProblem(24, 40, 56)
SEED, TRIALS = 11, 24
MEASURED = [method for method in Method if method is not Method.MODEL]


def _job(method: Method, problem: GemmProblem = PROBLEM, objective: Objective | None = None) -> SearchedJob:
    return SearchedJob(problem, SEED, method, objective)


def _spec(job: SearchedJob) -> DeviceSpec:
    return CPU if job.problem == PROBLEM else B580


def _run(
    job: SearchedJob,
    store: MemoryTrialStore,
    workers: int = 3,
    donors: tuple[AnyConfig, ...] = (),
    device: FakeDevice | None = None,
    measured: bool = True,
    trials: int = TRIALS,
    portion: Portion | None = None,
    fuse: Fuse | None = None,
) -> None:
    assert job.method is not None
    made = FakeDevice(job.problem, _spec(job)) if device is None else device
    run_session(
        job.problem,
        _spec(job),
        made if measured else None,
        store,
        FakeCompiler(workers, fuse=fuse or Fuse()),
        Budget(trials, 1000.0),
        job.seed,
        donors=donors,
        method=job.method,
        portion=portion,
        objective=job.objective,
    )


def _replay(job: SearchedJob, store: MemoryTrialStore) -> Replayed:
    return replay_job(job, store.searches(), _tried(store))


def _tried(store: MemoryTrialStore) -> list[Tried]:
    return [as_tried(trial) for trial in store.trials()]


@pytest.fixture(autouse=True, scope="module")
def spaces() -> Generator[None]:
    """Spaces are made once: runs and replays ask for the same ones again and again."""
    cpu, gpu = cache(lambda: cpu_space(PROBLEM, CPU)), cache(lambda: xe_space(ON_GPU, B580))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tuner.space.starts.cpu_space", lambda *_: cpu())
        patch.setattr("tuner.space.starts.xe_space", lambda *_: gpu())
        yield


@pytest.fixture
def proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of GPUs are proven at once."""
    proof = Proof(ProofKind.SIMULATOR, 9, 9, 0.0, 1.0)
    monkeypatch.setattr("tuner.measure.measure.verify_by_simulation", lambda *_, **__: proof)


@pytest.mark.parametrize("method", MEASURED)
def test_a_job_that_was_killed_and_went_on_replays_with_every_method(method: Method) -> None:
    job, store = _job(method), FusedStore(Fuse())
    donors = tuple(_proposed(_job(Method.RANDOM), 3))
    workers = np.random.default_rng(len(method.value))
    for at in (40, 71):  # once amid a write, once amid a run
        store.fuse = Fuse(at)
        with pytest.raises(Killed):
            _run(job, store, int(workers.integers(2, 6)), donors, FakeDevice(PROBLEM, CPU, fuse=store.fuse))
    store.fuse = Fuse()
    _run(job, store, 4, donors)
    assert len(store.searches()) == 3
    assert any(trial.told != trial.number for trial in store.trials()[1:])
    assert _replay(job, store) == Replayed(TRIALS, TRIALS)


@pytest.mark.parametrize("method", [Method.PORTFOLIO, Method.MODEL, Method.CMAES])
@pytest.mark.parametrize("measured", [True, False])
@pytest.mark.usefixtures("proven")
def test_a_job_on_a_gpu_whose_times_the_model_knows_replays(method: Method, measured: bool) -> None:
    job, store = _job(method, ON_GPU), MemoryTrialStore()
    for trials in (3, 4, 9):
        _run(job, store, workers=2 + trials % 3, measured=measured, trials=16, portion=Portion(trials, 1000.0))
    assert _replay(job, store) == Replayed(16, 16)


def test_energy_that_a_search_weighs_is_weighed_again() -> None:
    job, store = _job(Method.NSGA2, objective=Objective.TIME_ENERGY), MemoryTrialStore()
    device = FakeDevice(PROBLEM, CPU)
    device.report = {"energy_uj": 7.5}
    _run(job, store, device=device, trials=40)
    assert _replay(job, store) == Replayed(40, 40)


def _proposed(job: SearchedJob, count: int) -> list[AnyConfig]:
    """What a search proposes that is told nothing."""
    assert job.method is not None
    proposer = search_for(job.problem, _spec(job), 5, measured=True, method=job.method).proposer
    return [proposal.config for _ in range(count) if (proposal := proposer.propose()) is not None]


@pytest.fixture(scope="module")
def whole() -> MemoryTrialStore:
    """The trials of a job of a Gaussian process, in two runs."""
    store = MemoryTrialStore()
    _run(_job(Method.GP), store, portion=Portion(10, 1000.0))
    _run(_job(Method.GP), store)
    return store


def test_an_outcome_that_was_changed_is_found(whole: MemoryTrialStore) -> None:
    trials = _tried(whole)
    fastest = min(trials[1:12], key=lambda trial: trial.time_us or 0.0).number
    changed = [replace(trial, time_us=9e3) if trial.number == fastest else trial for trial in trials]
    found = replay_job(_job(Method.GP), whole.searches(), changed)
    assert found.difference is not None
    assert fastest < found.difference.trial.number == found.same < TRIALS
    assert "an outcome that it was told has been changed" in found.difference.reason


def test_another_seed_and_another_configuration_are_found(whole: MemoryTrialStore) -> None:
    found = replay_job(replace(_job(Method.GP), seed=SEED + 1), whole.searches(), _tried(whole))
    assert found.difference is not None
    assert found.same == found.difference.trial.number == 1
    trials = _tried(whole)
    swapped = [*trials[:5], replace(trials[5], config=trials[9].config), *trials[6:]]
    found = replay_job(_job(Method.GP), whole.searches(), swapped)
    assert found.difference is not None
    assert (found.same, found.difference.config) == (5, trials[5].config)


def test_other_versions_are_told_where_something_differs(whole: MemoryTrialStore) -> None:
    job, starts = replace(_job(Method.GP), seed=0), whole.searches()
    old = {**starts[0].versions, "optuna": "3.1", "processor": "another"}
    found = replay_job(job, [replace(start, space="an older one", versions=old) for start in starts], _tried(whole))
    assert found.difference is not None
    assert found.difference.reason.startswith("the space was an older one and is ")
    assert "optuna was 3.1 and is " in found.difference.reason
    assert "rounded" in found.difference.reason


def test_kernels_of_other_shapes_are_no_proposals(whole: MemoryTrialStore) -> None:
    trials = _tried(whole)
    visitors = [replace(trial, proposer=VISITOR, told=None) for trial in trials[20:]]
    assert replay_job(_job(Method.GP), whole.searches(), [*trials[:20], *visitors]) == Replayed(20, 20)


def test_a_job_of_the_default_alone_has_no_search_to_replay() -> None:
    store = MemoryTrialStore()
    _run(_job(Method.GP), store, trials=1)
    with pytest.raises(NotReplayable, match="its search never began"):
        _replay(_job(Method.GP), store)


Kept = tuple[list[SearchStart], list[Tried]]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda starts, trials: (starts, []), "it has no trials"),
        (lambda starts, trials: (starts, [*trials[:4], *trials[5:]]), "its trials 4 are missing"),
        (lambda starts, trials: ([], trials), "made from was not recorded: donors"),
        (lambda starts, trials: (starts, [replace(t, told=None) for t in trials]), "1, 2, 3, 4, 5 and 18 more was not"),
        (lambda starts, trials: (starts, [replace(t, proposer=None) for t in trials]), "it measured what it was given"),
        (lambda starts, trials: (starts, [*trials[:-1], replace(trials[-1], told=99)]), "told 99 outcomes; expected"),
        (lambda starts, trials: (starts, [*trials[:2], replace(trials[2], ended=False), *trials[3:]]), "2 have no"),
    ],
)
def test_what_was_not_kept_is_named(
    whole: MemoryTrialStore, spoil: Callable[[list[SearchStart], list[Tried]], Kept], message: str
) -> None:
    starts, trials = spoil(whole.searches(), _tried(whole))
    with pytest.raises(NotReplayable, match=message):
        replay_job(_job(Method.GP), starts, trials)


def test_a_job_whose_search_was_not_kept_is_not_replayed(whole: MemoryTrialStore) -> None:
    with pytest.raises(NotReplayable, match="how it searched was not recorded"):
        replay_job(replace(_job(Method.GP), method=None), whole.searches(), _tried(whole))
