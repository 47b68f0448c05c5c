"""Tuning jobs: a problem, a device, a budget, and who works on it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from db.schema.base import (
    Base,
    new_id,
    one_of,
    utc_now,
)
from db.schema.target import (
    Device,
    Problem,
)

if TYPE_CHECKING:
    from db.schema.effort import JobEffort
    from db.schema.exchange import JobImport
    from db.schema.job_stop import JobStop
    from db.schema.retry import JobRetry
    from db.schema.reuse import JobStart
    from db.schema.search import JobSearch
    from db.schema.trial import Trial

JOB_STATUSES = ("queued", "running", "succeeded", "failed", "cancelled")
ACTIVE_STATUSES = ("queued", "running")
_WANTED = text("status IN ('queued', 'running') AND NOT cancel_requested")


class Job(Base):
    """One tuning run.

    A running job is leased to a worker until `lease_until`; after that any worker may take it over, and
    `attempts` counts how often one did. `error` is "code: message". `request_hash` is equal for equal
    requests; `idempotency_key` is the client's own. `space_hash` names the space of configurations that
    the trials were last drawn from. `best_trial_id` is a trial of this job that gave a time. `compared_default_us`
    and `compared_best_us` are medians of trial 0 and of the best, measured again in turns at the end.
    """

    __tablename__ = "job"
    __table_args__ = (
        UniqueConstraint("idempotency_key"),
        ForeignKeyConstraint(["id", "best_trial_id"], ["trial.job_id", "trial.id"], use_alter=True),
        Index(None, "status", "id"),
        Index(None, "request_hash"),
        # Equal requests share one job while it is active, also when they come at the same moment.
        Index("uq_job_active_request", "request_hash", unique=True, sqlite_where=_WANTED, postgresql_where=_WANTED),
        Index(None, "problem_id", "device_id"),
        Index(None, "device_id", "id"),
        Index(None, "created_at"),
        CheckConstraint(one_of("status", JOB_STATUSES), name="status_known"),
        CheckConstraint("budget_trials >= 1", name="budget_trials_positive"),
        CheckConstraint("budget_seconds > 0 AND budget_seconds < 1e9", name="budget_seconds_positive"),
        CheckConstraint("attempts >= 0", name="attempts_counted"),
        CheckConstraint("length(request_hash) = 64", name="request_hash_is_sha256"),
        CheckConstraint("length(idempotency_key) > 0", name="idempotency_key_not_empty"),
        CheckConstraint("(status = 'running') = (worker IS NOT NULL)", name="worker_iff_running"),
        CheckConstraint("(status = 'running') = (lease_until IS NOT NULL)", name="lease_iff_running"),
        CheckConstraint("status IN ('queued', 'cancelled') OR started_at IS NOT NULL", name="started_when_run"),
        CheckConstraint("(started_at IS NULL) = (attempts = 0)", name="started_iff_attempted"),
        CheckConstraint(
            "(status IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL)", name="finished_iff_over"
        ),
        CheckConstraint("(status = 'failed') = (error IS NOT NULL)", name="error_iff_failed"),
        CheckConstraint("length(error) > 0", name="error_not_empty"),
        CheckConstraint("status <> 'cancelled' OR cancel_requested", name="cancelled_was_requested"),
        CheckConstraint("(compared_default_us IS NULL) = (compared_best_us IS NULL)", name="compared_both_or_neither"),
        CheckConstraint("compared_default_us > 0 AND compared_best_us > 0", name="compared_positive"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    problem_id: Mapped[int] = mapped_column(ForeignKey("problem.id"))
    device_id: Mapped[int] = mapped_column(ForeignKey("device.id"))
    status: Mapped[str] = mapped_column(default="queued")
    budget_trials: Mapped[int]
    budget_seconds: Mapped[float]
    seed: Mapped[int] = mapped_column(BigInteger)
    request_hash: Mapped[str]
    idempotency_key: Mapped[str | None]
    space_hash: Mapped[str | None]
    cancel_requested: Mapped[bool] = mapped_column(default=False)
    error: Mapped[str | None]
    worker: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)
    best_trial_id: Mapped[int | None]
    compared_default_us: Mapped[float | None]
    compared_best_us: Mapped[float | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    problem: Mapped[Problem] = relationship(lazy="raise")
    device: Mapped[Device] = relationship(lazy="raise")
    imported: Mapped[JobImport | None] = relationship(lazy="raise")
    effort: Mapped[JobEffort | None] = relationship(lazy="raise")
    start: Mapped[JobStart | None] = relationship(lazy="raise")
    search: Mapped[JobSearch | None] = relationship(lazy="raise")
    stop: Mapped[JobStop | None] = relationship(lazy="raise")
    retry: Mapped[JobRetry | None] = relationship(foreign_keys="JobRetry.job_id", lazy="raise", viewonly=True)
    trials: Mapped[list[Trial]] = relationship(
        back_populates="job", lazy="raise", order_by="Trial.number", foreign_keys="Trial.job_id"
    )
    best_trial: Mapped[Trial | None] = relationship(
        primaryjoin="foreign(Job.best_trial_id) == Trial.id", lazy="raise", viewonly=True
    )
