"""Tuning jobs: request, work and result."""

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from db.schema.base import Base, one_of
from db.schema.target import (
    Device,
    Problem,
)
from db.values import JsonObject, new_id, utc_now

if TYPE_CHECKING:
    from db.schema.trial import Trial

JOB_STATUSES = ("queued", "running", "succeeded", "failed", "cancelled")
ACTIVE_STATUSES = ("queued", "running")
OBJECTIVES = ("time", "time-memory", "time-energy")
STOP_REASONS = ("trials", "seconds", "exhausted", "no_gain", "roofline", "cancelled")
_WANTED = text("status IN ('queued', 'running') AND NOT cancel_requested")


class Job(Base):
    """One tuning run.

    The request: `budget_*`, `seed`, `search`, `objective`, `reuse` and `warm_start` are the options of the job;
    `candidates` are the configurations that a job without a search measures; `kernel_id` is the kernel whose native
    binary a job builds, without trials. `request_hash` is equal for equal
    requests. `retry_of` is the job whose request was submitted again. `request_id` and `traceparent` name the request
    and the span that queued it (W3C Trace Context, section 3.2). `origin` is where an imported job ran, under its id.

    The work: a running job is leased to a worker until `lease_until`; after that any worker may take it over, and
    `attempts` counts how often one did. `error` is "code: message". `warm_starts` are the configurations that its
    search began with, best first; None until they are chosen. `restrictions` are those of its device at its last run,
    each with its check and reason; None before a run on a device.

    The result: `space_hash` names the space of configurations that the trials were last proposed from.
    `best_trial_id` is a trial of this job that has a time. `compared_default_us` and `compared_best_us` are
    medians of trial 0 and of the best, re-measured at the end, interleaved. `stop` is why its search ended.

    Wall times in seconds of all runs, by what was done; None before a run took any. `compile_s` overlaps with the
    others, `wait_s` is the time spent waiting for compilations. Of a run that was killed, what came after its last
    trial is missing. `device_restarts` counts lost device processes.
    """

    __tablename__ = "job"
    __table_args__ = (
        ForeignKeyConstraint(["id", "best_trial_id"], ["trial.job_id", "trial.id"], use_alter=True),
        Index(None, "status", "id"),
        Index(None, "request_hash"),
        # Equal requests share one job while it is active, even when they arrive at the same time.
        Index("uq_job_active_request", "request_hash", unique=True, sqlite_where=_WANTED),
        Index(None, "problem_id", "device_id"),
        Index(None, "device_id", "id"),
        Index(None, "created_at"),
        CheckConstraint(one_of("status", JOB_STATUSES), name="status_known"),
        CheckConstraint("budget_trials >= 1", name="budget_trials_positive"),
        CheckConstraint("budget_seconds > 0 AND budget_seconds < 1e9", name="budget_seconds_positive"),
        CheckConstraint("budget_no_gain >= 1", name="budget_no_gain_positive"),
        CheckConstraint("budget_roofline > 0 AND budget_roofline <= 1", name="budget_roofline_is_fraction"),
        CheckConstraint("length(search) > 0", name="search_not_empty"),
        CheckConstraint(one_of("objective", OBJECTIVES), name="objective_known"),
        CheckConstraint(one_of("stop", STOP_REASONS), name="stop_known"),
        CheckConstraint("retry_of <> id", name="retry_of_another"),
        CheckConstraint("length(origin) > 0", name="origin_not_empty"),
        CheckConstraint("length(request_id) > 0", name="request_id_not_empty"),
        CheckConstraint("length(traceparent) = 55", name="traceparent_length"),
        CheckConstraint("attempts >= 0", name="attempts_counted"),
        CheckConstraint("length(request_hash) = 64", name="request_hash_is_sha256"),
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
        CheckConstraint(
            "total_s >= 0 AND propose_s >= 0 AND compile_s >= 0 AND wait_s >= 0", name="wall_times_not_negative"
        ),
        CheckConstraint("verify_s >= 0 AND measure_s >= 0 AND compare_s >= 0", name="device_times_not_negative"),
        CheckConstraint("device_restarts >= 0", name="device_restarts_counted"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    problem_id: Mapped[int] = mapped_column(ForeignKey("problem.id"))
    device_id: Mapped[int] = mapped_column(ForeignKey("device.id"))
    status: Mapped[str] = mapped_column(default="queued")
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    budget_trials: Mapped[int]
    budget_seconds: Mapped[float]
    budget_no_gain: Mapped[int | None]
    budget_roofline: Mapped[float | None]
    seed: Mapped[int] = mapped_column(BigInteger)
    search: Mapped[str] = mapped_column(default="portfolio")
    objective: Mapped[str] = mapped_column(default="time")
    reuse: Mapped[bool] = mapped_column(default=True)
    warm_start: Mapped[bool] = mapped_column(default=True)
    candidates: Mapped[list[JsonObject] | None] = mapped_column(deferred=True, deferred_raiseload=True)
    kernel_id: Mapped[UUID | None] = mapped_column(ForeignKey("kernel.id"), index=True)

    request_hash: Mapped[str]
    request_id: Mapped[str | None]
    traceparent: Mapped[str | None]
    retry_of: Mapped[UUID | None] = mapped_column(ForeignKey("job.id"), index=True)
    origin: Mapped[str | None]
    imported_at: Mapped[datetime | None]

    cancel_requested: Mapped[bool] = mapped_column(default=False)
    error: Mapped[str | None]
    worker: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)
    warm_starts: Mapped[list[JsonObject] | None]
    restrictions: Mapped[list[JsonObject] | None]

    space_hash: Mapped[str | None]
    best_trial_id: Mapped[int | None]
    compared_default_us: Mapped[float | None]
    compared_best_us: Mapped[float | None]
    stop: Mapped[str | None]
    total_s: Mapped[float | None]
    propose_s: Mapped[float | None]
    compile_s: Mapped[float | None]
    wait_s: Mapped[float | None]
    verify_s: Mapped[float | None]
    measure_s: Mapped[float | None]
    compare_s: Mapped[float | None]
    device_restarts: Mapped[int | None]

    problem: Mapped[Problem] = relationship(lazy="raise")
    device: Mapped[Device] = relationship(lazy="raise")
    best_trial: Mapped["Trial | None"] = relationship(
        primaryjoin="foreign(Job.best_trial_id) == Trial.id", lazy="raise", viewonly=True
    )


# Last, since it imports this module: the classes of relationships must be known when a query is made.
import db.schema.trial  # pyright: ignore[reportUnusedImport]  # noqa: E402, F401
