"""Products are asked for again, by time and when their jobs end, and the plan is replaced in place."""

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
import torch
from fastapi import FastAPI

import xetune_torch
from codegen import Extent
from codegen.backend import compile_kernel
from db.migrate import upgrade
from db.queries import jobs
from db.queries.cluster import leases
from hal.devices.listed import NATIVE, Runtime, listed
from hal.facts.cpu import probe_cpu
from service.app import create_app
from service.http.context import Context
from service.jobs.store import DbTrialStore
from service.schemas import ProblemBody, to_problem
from service.settings import Settings
from tests.conformance.trial_samples import PROOF
from tests.xetune_torch.compiling import CompilingStore
from tests.xetune_torch.serving import served
from tuner.backend import tuning_for
from tuner.session.trial import Measurement, Outcome, Status
from xetune_client import Client, models
from xetune_torch import Answer, Gemm, Outlook, ServiceStore, StoreFailed
from xetune_torch.gemm import gemm_of
from xetune_torch.kernels.cpu_kernel import Plan
from xetune_torch.kernels.runners import Mm, mm_runner
from xetune_torch.repeats import BACKOFFS, Backoff

A, B = torch.randn(48, 128), torch.randn(128, 96)
PROMPT = dict.fromkeys(Outlook, Backoff(0.01, 0.02))
NEVER = Backoff(1e6, 1e6)


@contextmanager
def _waits(backoffs: Mapping[Outlook, Backoff]) -> Generator[None]:
    repeats = xetune_torch.DISPATCHER.repeats
    repeats.backoffs = backoffs
    try:
        yield
    finally:
        repeats.backoffs = BACKOFFS


@pytest.fixture(autouse=True)
def prompt() -> Generator[None]:
    """Ask again at once."""
    with _waits(PROMPT):
        yield


def _until(true: Callable[[], bool]) -> None:
    """Wait for something, while calls go on."""
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end, xetune_torch.DISPATCHER.choices
        xetune_torch.mm(A, B)
        time.sleep(0.005)


def _sources() -> list[str | None]:
    return [choice.source for choice in xetune_torch.DISPATCHER.choices]


class _Growing(CompilingStore):
    """Has nothing until `ready`; `outlook` is what it says, and `fails` whether it is away."""

    def __init__(self) -> None:
        super().__init__()
        self.ready, self.fails = threading.Event(), False
        self.says = Outlook.OPEN

    def find(self, gemm: Gemm, *, constant_b: bool = False) -> Iterator[Answer]:
        if self.fails:
            self.asked.append(gemm)
            raise StoreFailed("the service is away")
        if self.ready.is_set():
            yield from super().find(gemm, constant_b=constant_b)
        else:
            self.asked.append(gemm)

    def outlook(self, gemm: Gemm) -> Outlook:
        return Outlook.FINAL if self.ready.is_set() else self.says


def test_after_an_empty_answer_a_product_is_asked_for_again() -> None:
    store = _Growing()
    with xetune_torch.using(store, "always"):
        xetune_torch.mm(A, B)
        _until(lambda: len(store.asked) > 3)
        assert _sources() == []
        store.ready.set()
        _until(lambda: _sources() == ["default"])
        assert xetune_torch.wait(60)
        last = len(store.asked)
        assert torch.allclose(xetune_torch.mm(A, B), A @ B, atol=1e-4)
        time.sleep(0.05)
        assert len(store.asked) == last  # the answer was final


def test_a_store_that_failed_is_asked_again_and_noted_once() -> None:
    store = _Growing()
    store.fails = True
    with xetune_torch.using(store, "always"):
        xetune_torch.mm(A, B)
        _until(lambda: len(store.asked) > 3)
        assert [choice.reason for choice in xetune_torch.DISPATCHER.choices] == ["the service is away"]
        store.fails = False
        store.ready.set()
        _until(lambda: _sources() == [None, "default"])


def test_calls_do_not_wait_for_a_lookup_that_is_repeated() -> None:
    store, entered, leave = _Growing(), threading.Event(), threading.Event()

    def find(gemm: Gemm, *, constant_b: bool = False) -> Iterator[Answer]:
        store.asked.append(gemm)
        if len(store.asked) > 1:
            entered.set()
            assert leave.wait(60)
        return iter(())

    store.find = find
    with xetune_torch.using(store, "always"):
        xetune_torch.mm(A, B)
        assert entered.wait(60)
        assert torch.equal(xetune_torch.mm(A, B), torch.mm(A, B))
        assert torch.equal(xetune_torch.mm(A[:24], B), torch.mm(A[:24], B))  # a product that is not known
        assert not xetune_torch.wait(0.01)
        leave.set()


def test_the_same_kernel_is_not_compared_again() -> None:
    store = CompilingStore()
    store.outlook = lambda gemm: Outlook.OPEN
    with xetune_torch.using(store, "always"):
        xetune_torch.mm(A, B)
        _until(lambda: len(store.asked) > 4)
        assert _sources() == ["default"]


def test_while_a_job_is_under_way_nothing_is_looked_up() -> None:
    store = _Growing()
    store.says = Outlook.QUEUED
    polled: list[Gemm] = []
    outlook = store.outlook
    store.outlook = lambda gemm: (polled.append(gemm), outlook(gemm))[1]
    with xetune_torch.using(store, "always"):
        xetune_torch.mm(A, B)
        _until(lambda: len(polled) > 3)
        assert len(store.asked) == 1
        store.ready.set()
        _until(lambda: _sources() == ["default"])


def test_a_better_kernel_takes_the_place_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    class Two(CompilingStore):
        """Answers with another binary each time."""

        def find(self, gemm: Gemm, *, constant_b: bool = False) -> Iterator[Answer]:
            self.asked.append(gemm)
            (made,) = CompilingStore().find(gemm)
            yield Answer(made.manifest, made.binary + bytes(len(self.asked)), f"number {len(self.asked)}")

        def outlook(self, gemm: Gemm) -> Outlook:
            return Outlook.OPEN if len(self.asked) < 3 else Outlook.FINAL

    times = iter([(2e-3, 3e-3), (1e-3, 3e-3), (2e-3, 3e-3)])
    installed: list[Plan] = []

    launched: list[Plan] = []

    def runner(plan: Plan, size: tuple[int, int], dtype: torch.dtype) -> Mm:
        installed.append(plan)
        run = mm_runner(plan, size, dtype)
        return lambda a, b, c=None: (launched.append(plan), run(a, b, c))[1]

    monkeypatch.setattr("xetune_torch.functions.mm_runner", runner)
    monkeypatch.setattr("xetune_torch.dispatch.time_in_turns", lambda *_: next(times))
    with xetune_torch.using(Two(), "faster"):
        xetune_torch.mm(A, B)
        _until(lambda: len(_sources()) == 3)
        assert xetune_torch.wait(60)
        assert [choice.used for choice in xetune_torch.DISPATCHER.choices] == [True, True, False]
        assert len(installed) == 2
        launched.clear()
        assert torch.allclose(xetune_torch.mm(A, B), A @ B, atol=1e-4)
        assert launched == [installed[1]]


def test_a_packed_weight_is_packed_again_for_the_next_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    class Renewed(CompilingStore):
        def find(self, gemm: Gemm, *, constant_b: bool = False) -> Iterator[Answer]:
            number = 1 + len(self.asked)
            for answer in super().find(gemm, constant_b=constant_b):
                yield Answer(answer.manifest, answer.binary + bytes(number), f"number {number}")

        def outlook(self, gemm: Gemm) -> Outlook:
            return Outlook.OPEN if len(self.asked) < 2 else Outlook.FINAL

    x, weight = torch.randn(24, 128), torch.randn(96, 128)
    store, want = Renewed(), torch.nn.functional.linear(x, weight)
    with _waits({**PROMPT, Outlook.OPEN: NEVER}), xetune_torch.using(store, "always"):
        xetune_torch.freeze(weight)
        for _ in range(3):
            assert torch.allclose(xetune_torch.linear(x, weight), want, atol=1e-4)
            assert xetune_torch.wait(60)
        frozen = xetune_torch.DISPATCHER.frozen[weight.data_ptr()]
        (before,) = frozen.packs
        (gemm,) = {choice.gemm for choice in xetune_torch.DISPATCHER.choices}
        xetune_torch.DISPATCHER.decide(gemm, constant_b=True)
        assert not frozen.packs  # the memory of the first is free
        for _ in range(3):
            assert torch.allclose(xetune_torch.linear(x, weight), want, atol=1e-4)
            assert xetune_torch.wait(60)
        assert list(frozen.packs) != [before]
        assert len(frozen.packs) == 1


SPEC = replace(probe_cpu(), cores=1)


@pytest.fixture
def app(tmp_path: Path) -> Generator[FastAPI]:
    """A service whose only device is this CPU."""
    settings = Settings(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path / 'x.sqlite'}", scheduler=False)
    made = create_app(settings, lambda: [listed(SPEC, Runtime.HOST, NATIVE, runnable=True)])
    upgrade(made.state.context.database.engine)
    yield made
    made.state.context.database.close()


def _job_of(app: FastAPI) -> UUID | None:
    with app.state.context.database.read() as session:
        return next((job.id for job in jobs.list_page(session, limit=10)), None)


def _work(app: FastAPI, job: UUID, status: str = "succeeded") -> None:
    """Do as a worker does: store a kernel with other tiles than the default's as the result of a job."""
    context: Context = app.state.context
    problem = to_problem(ProblemBody.model_validate_json(_gemm().body.model_dump_json()))
    default = tuning_for(SPEC).default(problem, SPEC)
    tiles = replace(default.matmul, innermost=Extent(4, 16, 4), block=Extent(48, 96, 128))  # legal for each default
    config = replace(default, matmul=tiles)
    made = compile_kernel(problem, config, SPEC)
    with context.database.write() as session:
        leases.claim(session, job, "worker", 60.0)
    if status == "succeeded":
        store = DbTrialStore(context.database, context.artifacts, job, "worker")
        store.begin(0, config)
        times = Measurement(12.0, 10.0, 11.0, 13.0, 30, "native", SPEC.driver or "", False, 0.97, 2850.0)
        store.end(0, Outcome(Status.MEASURED, proof=PROOF, measurement=times, kernel_hash=made.content_hash), made)
    error = None if status == "succeeded" else "runtime: the device is gone"
    with context.database.write() as session:
        jobs.update_best(session, job)
        leases.finish(session, job, "worker", status, error)


def _gemm() -> Gemm:
    gemm = gemm_of(A, B, torch.float32)
    assert gemm is not None
    return gemm


def test_the_result_of_a_job_that_a_lookup_queued_is_taken_up(app: FastAPI) -> None:
    with served(app) as port:
        store = ServiceStore(f"http://127.0.0.1:{port}", queue=True)
        with _waits({**PROMPT, Outlook.OPEN: NEVER}), xetune_torch.using(store, "always"):
            xetune_torch.mm(A, B)
            assert xetune_torch.wait(60)
            (first,) = _sources()
            assert first in ("heuristic", "model")
            job = _job_of(app)
            assert job is not None
            _work(app, job)
            _until(lambda: "exact" in _sources())
            assert torch.allclose(xetune_torch.mm(A, B), A @ B, atol=1e-4)
            assert store.outlook(_gemm()) is Outlook.FINAL
        store.close()


def test_a_job_that_failed_is_not_queued_again(app: FastAPI) -> None:
    with served(app) as port:
        store = ServiceStore(f"http://127.0.0.1:{port}", queue=True)
        assert len(list(store.find(_gemm()))) == 1
        assert store.outlook(_gemm()) is Outlook.QUEUED
        job = _job_of(app)
        assert job is not None
        _work(app, job, "failed")
        assert [store.outlook(_gemm()), store.outlook(_gemm())] == [Outlook.READY, Outlook.OPEN]
        assert len(list(store.find(_gemm()))) == 1
        assert store.outlook(_gemm()) is Outlook.OPEN
        assert _job_of(app) == job
        store.close()


def test_a_service_that_was_away_is_asked_once_it_is_up(app: FastAPI) -> None:
    with served(app) as port:
        pass
    store = ServiceStore(f"http://127.0.0.1:{port}")
    with xetune_torch.using(store, "always"):
        xetune_torch.mm(A, B)
        assert xetune_torch.wait(60)
        assert _sources() == [None]
        with served(app, port):
            _until(lambda: _sources()[-1] in ("heuristic", "model"))
            assert torch.allclose(xetune_torch.mm(A, B), A @ B, atol=1e-4)
        xetune_torch.use(None)
    store.close()


def test_an_empty_service_answers_once_a_kernel_is_stored(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.api.kernels.lookup.lookup.Lookup._default", lambda _lookup: None)
    with served(app) as port:
        store = ServiceStore(f"http://127.0.0.1:{port}")
        with xetune_torch.using(store, "always"):
            xetune_torch.mm(A, B)
            assert xetune_torch.wait(60)
            assert _sources() == []
            with Client(f"http://127.0.0.1:{port}") as client:
                _work(app, client.create_job(models.JobBody(problem=_gemm().body, device="cpu")).id)
            # A lookup after the trial and before the end of its job has the same kernel, as that of a problem nearby.
            _until(lambda: store.outlook(_gemm()) is Outlook.FINAL)
            assert xetune_torch.wait(60)
            choices = [choice for choice in xetune_torch.DISPATCHER.choices if choice.source is not None]
            assert [choice.used for choice in choices] == [True]
            assert choices[0].source in ("exact", "nearest")
            assert torch.allclose(xetune_torch.mm(A, B), A @ B, atol=1e-4)
        store.close()
