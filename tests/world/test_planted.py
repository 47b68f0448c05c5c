"""The world sees faults: each fault planted in the product breaks an invariant within a few seeds."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import true

from db.queries import jobs
from db.queries.cluster import coordinators, leases, own_job
from service.api.exchange import importing
from service.api.schedules import firing
from service.http.idempotency import Once
from service.jobs.store import DbTrialStore
from tests.world.plan import Fault, Kind
from tests.world.story import shrunk, story
from tests.world.virtual import Broken
from tests.world.world import run_seed
from tuner.errors import ProofFailed
from tuner.exchange import kernel_record
from tuner.session.budget import Allowance
from tuner.verify import verify

Patch = pytest.MonkeyPatch
Plan = Callable[[int], list[Fault]]


def no_lease_check(patch: Patch) -> None:
    """A worker that lost its job writes on."""
    patch.setattr(leases, "check_own", lambda *_: None)
    _without(patch, "is_leased")


def no_fence_check(patch: Patch) -> None:
    """A coordinator that lost its lease claims on."""
    patch.setattr(coordinators, "check", lambda *_: None)
    patch.setattr(coordinators, "renew", lambda *_, **__: None)
    _without(patch, "is_fenced")


def _without(patch: Patch, condition: str) -> None:
    """Make the statements of a trial without a condition; those that were made before come back at the end."""
    patch.setattr(own_job, condition, true)
    for name in ("_check_statement", "_spend_statement", "_begin_statement"):
        patch.setattr(own_job, name, getattr(own_job, name).__wrapped__)


def row_after_work(patch: Patch) -> None:
    """A trial's row is written when it ends."""
    begin, end, begun = DbTrialStore.begin, DbTrialStore.end, dict[Any, Any]()

    def later(self: DbTrialStore, number: int, config: Any, proposer: str | None = None) -> None:
        begun[number] = config, proposer

    def at_end(self: DbTrialStore, number: int, outcome: Any, artifact: Any, following: Any = None) -> bool:
        if number in begun:
            begin(self, number, *begun.pop(number))
        end(self, number, outcome, artifact)
        if following is not None:
            later(self, following.number, following.config, following.proposer)
        return following is not None

    patch.setattr(DbTrialStore, "begin", later)
    patch.setattr(DbTrialStore, "end", at_end)


def fires_twice(patch: Patch) -> None:
    """A due time that was handled stays due."""
    patch.setattr(firing, "_advance", lambda *_: None)


def unverified(patch: Patch) -> None:
    """Results are compared, and wrong ones pass."""
    compare = verify.compare

    def passes(*args: Any, **kwargs: Any) -> Any:
        try:
            return compare(*args, **kwargs)
        except ProofFailed as failure:
            return replace(failure.proof, max_error=0.0)

    patch.setattr(verify, "compare", passes)


def no_budget(patch: Patch) -> None:
    """A job does not count its trials."""
    patch.setattr(Allowance, "are_trials_spent", property(lambda self: len(self._history) > 6))
    patch.setattr(Allowance, "left_trials", property(lambda self: 9))


def trusts_names(patch: Patch) -> None:
    """An artifact that is there is taken to be whole."""
    patch.setattr("service.artifacts._holds", lambda path, _: path.exists())


def answers_again(patch: Patch) -> None:
    """A repeated request is done again."""
    patch.setattr(Once, "check", lambda self: None)
    patch.setattr(Once, "_claim", lambda *_: True)
    patch.setattr(Once, "answer", lambda *_, **__: None)


def forgets_claims(patch: Patch) -> None:
    """A coordinator does not look for jobs that it has and does not run."""
    release_all = leases.release_all

    def only_of_others(session: Any, worker: str, under_way: Any = None) -> int:
        return 0 if under_way is not None else release_all(session, worker)

    patch.setattr(leases, "release_all", only_of_others)


def takes_jobs_for_whole(patch: Patch) -> None:
    """An import that comes again adds no trials to jobs that are there."""
    add = importing._Portion.add

    def only_new(self: Any, lines: Sequence[Any]) -> None:
        ids = {getattr(line.record, "job", None) or line.record.id for line in lines}
        if self._added["jobs"] or not all(jobs.get(self._session, UUID(id)) for id in ids):
            add(self, lines)

    patch.setattr(importing._Portion, "add", only_new)


def trusts_code(patch: Patch) -> None:
    """The code of an imported kernel is not compared with its hash."""
    patch.setattr(kernel_record, "_checked", lambda _kernel, _name, text, _sha256: base64.b64decode(text))


def many(kind: Kind) -> Plan:
    """A fault of one kind every 20 steps."""
    return lambda seed: [Fault(step, kind, 0.0, seed + step) for step in range(40, 200, 20)]


PLANTED: dict[Callable[[Patch], None], Plan] = {
    no_lease_check: lambda seed: [Fault(30, Kind.JUMP, 4000.0, seed)],
    no_fence_check: lambda seed: [Fault(50 + seed % 50, Kind.STALL, 400.0, seed)],
    row_after_work: lambda _: [],
    fires_twice: lambda _: [],
    unverified: many(Kind.DEVICE_WRONG),
    no_budget: lambda _: [],
    trusts_names: many(Kind.TORN_FILE),
    answers_again: many(Kind.LOST_ANSWER),
    forgets_claims: many(Kind.UNKNOWN_COMMIT),
    takes_jobs_for_whole: many(Kind.KILL_AFTER_COMMIT),
    trusts_code: lambda _: [],
}
FIRST: dict[Callable[[Patch], None], int] = {  # the others break the first
    no_lease_check: 9,
    no_fence_check: 15,
    fires_twice: 3,
    answers_again: 5,
    takes_jobs_for_whole: 1,
    trusts_code: 34,
}
WITHIN = 40


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_the_world_sees(plant: Callable[[Patch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    for seed in range(FIRST.get(plant, 0), WITHIN):
        _, broken = run_seed(seed, PLANTED[plant](seed))
        if broken is not None:
            return
    raise AssertionError(f"{plant.__name__} breaks no invariant within {WITHIN} seeds")


def test_a_story_names_the_fault_that_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    unverified(monkeypatch)
    others = (Kind.JUMP, Kind.STALL, Kind.SLOW, Kind.DEVICE_NOISE, Kind.COMPILER_HANGS)
    plan = [Fault(50 + i, kind, 5.0, i) for i, kind in enumerate((*others, Kind.DEVICE_WRONG))]
    told = story(1, plan)
    assert "measured, and its results were wrong" in told.splitlines()[0]
    assert "with 1 faults:" in told.splitlines()[1]
    assert Kind.DEVICE_WRONG in told.splitlines()[2]


def test_a_story_has_no_fault_that_another_made_superfluous(monkeypatch: pytest.MonkeyPatch) -> None:
    """It breaks unless the second fault is there and the first is not."""
    first, second, third = (Fault(50 + i, Kind.STALL, 5.0, i) for i in range(3))

    def ran(_seed: int, plan: Sequence[Fault]) -> tuple[Any, Broken | None]:
        world = SimpleNamespace(faults=SimpleNamespace(done=[*plan]))
        return world, None if second in plan and first not in plan else Broken("it")

    monkeypatch.setattr("tests.world.story.run_seed", ran)
    assert shrunk(0, [first, second, third])[0] == []
