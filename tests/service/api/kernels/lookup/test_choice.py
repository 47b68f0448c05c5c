"""Transfers of predicted results must gain over the default, and a dynamic kernel serves the sizes that it runs."""

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from codegen import GemmArtifact, GemmProblem, InvalidLaunch, XeConfig
from db.schema.kernel import Kernel
from db.session import Database
from hal import find
from service.api.jobs.schemas import BudgetBody
from service.api.kernels.lookup import confidence as trust
from service.api.kernels.lookup import lookup
from service.api.kernels.lookup.next_requests import Accepted
from service.api.kernels.lookup.schemas import LookupOut
from service.artifacts import ArtifactStore
from service.gemm_json import config_from_json
from service.http.context import Context
from service.jobs.store import DbTrialStore
from tests.conformance.trial_samples import predicted
from tests.service.api.kernels.test_lookup import Look, look
from tests.service.jobs.test_warm_start import add_job, good
from tests.service.rest import Clock
from tests.tuner.fakes import artifact_of
from tuner.search.warm_start import adapted
from tuner.session.trial import Prediction
from tuner.space.xe.heuristic import default_config

__all__ = ["look"]
HERE, NEAR, FAR = GemmProblem(512, 384, 1024), GemmProblem(512, 384, 1536), GemmProblem(16, 384, 1024)
B580 = find("b580")


def searched(database: Database, folder: Path, problem: GemmProblem, tried: dict[XeConfig, float]) -> UUID:
    """Add a job that predicted the default and other configurations, in us."""
    job_id = add_job(database, problem, B580)
    store = DbTrialStore(database, ArtifactStore(folder), job_id, "worker")
    for number, (config, time_us) in enumerate(tried.items()):
        made = artifact_of(problem, config)
        made = replace(made, stages=(replace(made.stages[0], file_name="kernel.spv"),))
        store.begin(number, config)
        store.end(number, replace(predicted(0, time_us), kernel_hash=made.content_hash), made)
    return job_id


def other_configs(problem: GemmProblem) -> list[XeConfig]:
    """Return configurations that differ from the default."""
    return [config for config in good(problem, B580, 3, 40) if config != default_config(problem, B580)]


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> dict[XeConfig, float]:
    """Predicted times of configurations, in us, in place of the model's; of others it is 100."""
    told: dict[XeConfig, float] = {}

    def predict(_problem: GemmProblem, config: XeConfig, _spec: object) -> Prediction:
        us = told.get(config, 100.0)
        return Prediction(us, us * 0.9, us * 1.1, "a model")

    monkeypatch.setattr(lookup, "prediction_if_known", predict)
    return told


def config_in(found: LookupOut) -> object:
    return config_from_json(found.model_dump(mode="json")["config"])


@pytest.mark.parametrize(
    ("near_us", "source", "is_default"),
    [(80.0, "nearest", False), (96.0, "model", True), (120.0, "model", True)],
)
def test_a_predicted_neighbour_is_served_if_it_gains_over_the_default_here(
    context: Context,
    look: Look,
    tmp_path: Path,
    times: dict[XeConfig, float],
    near_us: float,
    source: str,
    is_default: bool,
) -> None:
    other = other_configs(NEAR)[0]
    searched(context.database, tmp_path / "artifacts", NEAR, {default_config(NEAR, B580): 60.0, other: 50.0})
    config = adapted(other, NEAR, HERE, B580)
    assert isinstance(config, XeConfig)
    times[config] = near_us
    found = look()
    default = default_config(HERE, B580)
    assert (found.source, config_in(found)) == (source, default if is_default else config)
    assert found.confidence.value >= trust.MODEL, "the model would have this confidence for the same"
    assert found.time is not None
    assert found.time.value == (100.0 if is_default else near_us)


def test_a_trial_within_the_resolution_of_the_default_that_a_job_kept_is_no_donor(
    context: Context, look: Look, tmp_path: Path
) -> None:
    default = default_config(NEAR, B580)
    searched(context.database, tmp_path / "artifacts", NEAR, {default: 50.0, other_configs(NEAR)[0]: 49.0})
    found = look()
    assert found.source == "nearest"
    assert found.elsewhere is not None
    assert found.elsewhere.time is not None
    assert (found.elsewhere.trial, found.elsewhere.time.value) == (0, 50.0)
    assert config_in(found) == adapted(default, NEAR, HERE, B580)


def test_a_confidence_of_four_fifths_is_high() -> None:
    found = trust.confidence(0.95, "measured", [(-0.15, "its samples spread over 36%")])
    assert (found.level, found.value) == ("high", 0.8)
    raised = trust.confidence(0.5, "predicted", [(-0.4, "far")], trust.LEAST_IF_RANKED)
    assert (raised.level, raised.value) == ("low", 0.3)
    assert raised.reasons[-1].startswith("0.20 at least 0.30: ")


@pytest.fixture
def dynamic(context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bool]:
    """A dynamic kernel of FAR, in the compile cache or not; it runs all problems of M above 2."""
    state = {"cached": True}
    source = replace(FAR, dynamic=True)
    config = default_config(source, B580)
    searched(context.database, tmp_path / "artifacts", source, {config: 9.0})
    made = artifact_of(source, config)
    assert isinstance(made, GemmArtifact)

    def launch(artifact: GemmArtifact, problem: GemmProblem, _spec: object) -> GemmArtifact:
        if problem.m < 3:
            raise InvalidLaunch("few rows")
        matmul = artifact.config.matmul
        threads = replace(matmul.threads, m=problem.m)
        return replace(
            artifact, problem=problem, config=replace(artifact.config, matmul=replace(matmul, threads=threads))
        )

    monkeypatch.setattr("codegen.artifact.launch.kernel_for", launch)
    monkeypatch.setattr(
        "service.api.kernels.lookup.lookup.kernels_of",
        lambda *_: lambda problem, config: made if state["cached"] and problem == source else None,
    )
    monkeypatch.setattr("service.api.kernels.lookup.lookup.backend_of", _Described)
    return state


class _Described:
    def __init__(self, _config: object) -> None:
        self.binary = "kernel.spv"

    def manifest(self, artifact: GemmArtifact) -> dict[str, object]:
        return {"steps": [{"kernel": "gemm", "global_size": [16, artifact.config.matmul.threads.m, 1]}]}


@pytest.mark.parametrize("m", [3, 64, 4096])
def test_a_dynamic_kernel_is_served_for_what_it_runs_at_any_distance(
    look: Look, dynamic: dict[str, bool], times: dict[XeConfig, float], m: int
) -> None:
    found = look(GemmProblem(m, 384, 1024))
    assert (found.source, found.faster) == ("nearest", None), "the default ties with it"
    assert found.kernel is not None
    assert found.launch is not None
    assert (found.kernel.problem.m, found.launch.steps[0].global_size[1]) == (16, m)
    config = config_in(found)
    assert isinstance(config, XeConfig)
    assert (config.matmul.threads.m, config.matmul.block) == (m, config_of_kernel(found).matmul.block)
    assert found.confidence.value >= trust.MODEL
    assert [request.href for request in found.next] == ["/v1/jobs"]


def config_of_kernel(found: LookupOut) -> XeConfig:
    config = config_from_json(found.model_dump(mode="json")["kernel"]["config"])
    assert isinstance(config, XeConfig)
    return config


def test_what_is_faster_than_a_kernel_that_runs_is_named_and_can_be_compiled(
    look: Look, dynamic: dict[str, bool], times: dict[XeConfig, float]
) -> None:
    default = default_config(HERE, B580)
    times[default] = 50.0
    found = look()
    assert found.kernel is not None
    assert found.time is not None
    assert found.faster is not None
    assert found.faster.time is not None
    assert (found.time.value, found.faster.time.value) == (100.0, 50.0)
    assert found.faster.why.startswith("predicted 2.00 times as fast as the kernel")
    assert config_from_json(found.model_dump(mode="json")["faster"]["config"]) == default
    assert [request.href for request in found.next] == ["/v1/jobs", "/v1/compile"]
    assert found.next[1].body["config"] == found.model_dump(mode="json")["faster"]["config"]


def test_a_dynamic_kernel_does_not_serve_what_it_cannot_run(look: Look, dynamic: dict[str, bool]) -> None:
    found = look(GemmProblem(2, 384, 1024))
    assert (found.source, found.kernel, found.launch) == ("heuristic", None, None)
    other = look(GemmProblem(512, 384, 1024, transpose_b=True))
    assert (other.source, other.kernel) == ("heuristic", None)


def test_a_dynamic_kernel_of_another_binary_is_not_launched(
    context: Context, look: Look, dynamic: dict[str, bool]
) -> None:
    with context.database.write() as session:
        for kernel in session.query(Kernel):
            kernel.content_hash = "0" * 64
    assert look().kernel is None


def test_a_dynamic_kernel_that_comes_into_the_compile_cache_is_served_within_a_minute(
    look: Look, dynamic: dict[str, bool], clock: Clock, client: TestClient
) -> None:
    dynamic["cached"] = False
    assert [look().kernel for _ in range(2)] == [None, None]
    dynamic["cached"] = True
    assert look().kernel is None
    clock.step(seconds=61)
    assert look().kernel is not None
    dynamic["cached"] = False
    clock.step(seconds=61)
    assert look().kernel is not None, "its files are stored beside the cache"


@pytest.mark.parametrize(
    ("problem", "device", "rule"),
    [
        ({"m": 16, "n": 48, "k": 32, "dtype": "e2m1"}, "b580", "dtype-pair"),
        ({"m": 16_000_000, "n": 16_000_000, "k": 16_000_000}, "b580", "problem-bytes"),
        ({"m": 16, "n": 48, "k": 32}, "crescent-island", "device-target"),
    ],
)
def test_a_problem_that_no_kernel_can_be_made_for_is_told_as_that(
    client: TestClient, problem: dict[str, object], device: str, rule: str
) -> None:
    answer = client.post("/v1/kernels/lookup", json={"problem": problem, "device": device})
    assert (answer.status_code, answer.json()["rule"]) == (404, rule)
    assert ", and none can be made: " in answer.json()["detail"]
    assert answer.json().get("next", []) == []
    job = client.post("/v1/jobs", json={"problem": problem, "device": device})
    assert job.json()["rule"] == rule


def test_no_request_is_proposed_that_is_refused(client: TestClient, context: Context) -> None:
    problem = {"m": 16, "n": 48, "k": 32}
    answer = client.post("/v1/kernels/lookup", json={"problem": problem, "device": "a750"}).json()
    assert (answer["source"], answer["untunable"]["rule"]) == ("heuristic", "cannot-predict")
    assert client.post("/v1/jobs", json={"problem": problem, "device": "a750"}).json()["rule"] == "cannot-predict"
    assert [request["href"] for request in answer["next"]] == ["/v1/compile"]
    small = context.settings.model_copy(update={"max_problem_bytes": 4_000, "max_trials": 9})
    accepted = Accepted(context.devices.resolve("b580", None), small)
    large, config = GemmProblem(16, 48, 32), default_config(GemmProblem(16, 48, 32), B580)
    refusal = accepted.refusal(large)
    assert refusal is not None
    assert (refusal.rule, accepted.compilation(large, config)) == ("problem-bytes", [])
    assert accepted.job(large, "tunes").body["budget"] == {"trials": 9, "seconds": BudgetBody().seconds}
    of_results = replace(accepted, is_listed=False, settings=context.settings)
    unknown = of_results.refusal(large)
    assert unknown is not None
    assert (unknown.rule, of_results.compilation(large, config)) == ("unknown-device", [])
