"""Writes to a job that a worker has claimed, under the fence of its coordinator if it has one.

The statement that checks the lease and the fence is the one that writes first, so that a trial costs few statements. It
locks both until the transaction ends: the fence, then the job, in the order in which a new coordinator takes them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import (
    CTE,
    ColumnElement,
    Connection,
    Insert,
    ScalarSelect,
    Select,
    Update,
    bindparam,
    func,
    select,
    update,
)

from db.queries.batch import Answer, Batch, batch
from db.queries.cluster import coordinators, leases
from db.queries.cluster.coordinators import Fence
from db.queries.insert import insert_of
from db.schema.base import table_of
from db.schema.cluster import Coordinator
from db.schema.job import Job
from db.schema.trial import Measurement, Trial
from db.values import JsonObject

_JOB, _TRIAL, _MEASUREMENT, _COORDINATOR = map(table_of, (Job, Trial, Measurement, Coordinator))


@dataclass(frozen=True, slots=True)
class Owner:
    """The worker that has a job, and the fence that guards its writes; None if none does."""

    job_id: UUID
    worker: str
    fence: Fence | None


class Standing(NamedTuple):
    """State of a job at a write: whether it was asked to stop, and the measured median of its best trial.

    `best_us` is None if a slower trial may replace the best: it was not measured by this job, or won a comparison.
    """

    cancel_requested: bool
    best_us: float | None


def check(connection: Connection, owner: Owner) -> Standing:
    """Check that the worker has the job, and the fence holds; lock both until the transaction ends.

    Raises:
        FenceLost: another coordinator has the lease, or it was given up.
        LeaseLost: the job is not this worker's, or not any more.
    """
    return spend(connection, owner, {})


def spend(connection: Connection, owner: Owner, seconds: Mapping[str, float]) -> Standing:
    """Check as `check`, and add the wall times of a part of a run to the job's totals, in seconds by column."""
    with batch(connection) as single:
        found = ask(single, owner, seconds)
    return standing(connection, owner, found)


def ask(batch: Batch, owner: Owner, seconds: Mapping[str, float]) -> Answer:
    """Do the same in a batch; `standing` takes the answer."""
    if not seconds:
        return batch.execute(_check_statement(owner.fence is not None), _names(owner))
    statement = _spend_statement(owner.fence is not None, tuple(seconds))
    return batch.execute(statement, _names(owner) | {f"of_{name}": taken for name, taken in seconds.items()})


def standing(connection: Connection, owner: Owner, asked: Answer) -> Standing:
    """Return what a batch found.

    Raises:
        FenceLost, LeaseLost: as `check`.
    """
    found = asked.first()
    if found is None:
        if owner.fence is not None:
            coordinators.check(connection, owner.fence)
        leases.check_own(connection, owner.job_id, owner.worker)
        raise AssertionError(f"job {owner.job_id} is {owner.worker}'s, and a write under its lease found no row")
    return Standing(found[0], None if found[2] is not None else found[1])


def begin_trial(
    batch: Batch, owner: Owner, *, number: int, config: JsonObject, config_hash: str, proposer: str | None
) -> Answer:
    """Check as `check`, and add a pending trial; `begun` takes the answer."""
    statement = _begin_statement(owner.fence is not None, batch.connection.dialect.name)
    columns = {"of_number": number, "of_config": config, "of_config_hash": config_hash, "of_proposer": proposer}
    return batch.execute(statement, _names(owner) | columns)


def begun(connection: Connection, owner: Owner, asked: Answer) -> int | None:
    """Return the id of a trial that was to begin, or None if the job has that number or configuration.

    Raises:
        FenceLost, LeaseLost: as `check`.
    """
    found = asked.first()
    if found is None:
        check(connection, owner)
    return None if found is None else found[0]


def _names(owner: Owner) -> dict[str, object]:
    names: dict[str, object] = {"own_job": owner.job_id, "own_worker": owner.worker}
    if owner.fence is None:
        return names
    fence = owner.fence
    return names | {"own_coordinator": fence.name, "own_number": fence.number, "own_holder": fence.holder}


def is_leased() -> ColumnElement[bool]:
    """Return the condition that the job is the worker's."""
    return (_JOB.c.status == "running") & (_JOB.c.worker == bindparam("own_worker"))


def is_fenced() -> ColumnElement[bool]:
    """Return the condition that the coordinator's fence holds."""
    return (_COORDINATOR.c.fence == bindparam("own_number")) & (_COORDINATOR.c.holder == bindparam("own_holder"))


def _own(with_fence: bool) -> list[ColumnElement[bool]]:
    """Return the conditions on the job's row. A query of its own locks the fence, before the job is locked."""
    own = [_JOB.c.id == bindparam("own_job"), is_leased()]
    return [*own, _JOB.c.id == _fence().c.job_id] if with_fence else own


def _fence() -> CTE:
    job_id = bindparam("own_job", type_=_JOB.c.id.type).label("job_id")
    held = select(job_id).where(_COORDINATOR.c.name == bindparam("own_coordinator"), is_fenced())
    return held.with_for_update(read=True, key_share=True).cte("held")


def _columns() -> tuple[ColumnElement[bool], ScalarSelect[float], ColumnElement[float | None]]:
    best_us = select(_MEASUREMENT.c.median_us).where(_MEASUREMENT.c.trial_id == _JOB.c.best_trial_id)
    return _JOB.c.cancel_requested, best_us.correlate(_JOB).scalar_subquery(), _JOB.c.compared_best_us


@cache
def _check_statement(with_fence: bool) -> Select[bool, float, float | None]:
    return select(*_columns()).where(*_own(with_fence)).with_for_update(of=_JOB)


@cache
def _spend_statement(with_fence: bool, names: tuple[str, ...]) -> Update:
    sums = {name: func.coalesce(_JOB.c[name], 0) + bindparam(f"of_{name}") for name in names}
    return update(_JOB).where(*_own(with_fence)).values(sums).returning(*_columns())


@cache
def _begin_statement(with_fence: bool, dialect: str) -> Insert:
    names = ("number", "config", "config_hash", "proposer")
    given = (bindparam(f"of_{name}", type_=_TRIAL.c[name].type) for name in names)
    row = select(_JOB.c.id, *given).where(*_own(with_fence)).with_for_update(of=_JOB)
    return (
        insert_of(dialect)(_TRIAL).from_select(["job_id", *names], row).on_conflict_do_nothing().returning(_TRIAL.c.id)
    )
