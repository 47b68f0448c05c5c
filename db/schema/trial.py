"""Trials of a job and their evidence: measurement, prediction, verification."""

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, select
from sqlalchemy.orm import Mapped, column_property, mapped_column, relationship

from db.schema.base import LABELS, LONGEST_US, Base, one_of
from db.schema.job import Job
from db.schema.kernel import Kernel
from db.values import JsonObject, utc_now

if TYPE_CHECKING:
    from db.schema.reuse import Reuse

TRIAL_STATUSES = (
    "pending",
    "measured",
    "predicted",
    "rejected",
    "compile_failed",
    "wrong_result",
    "timed_out",
    "crashed",
)
PROOF_KINDS = ("device", "opencl_cpu", "machine_code", "simulator", "none")


class Trial(Base):
    """One configuration and its outcome; pending from begin to end. Times are wall seconds.

    `proposer` is the method that chose the configuration; None if not recorded. `proof_checked` of
    `proof_total` work-groups agreed with the reference; `max_error` and its bound `tolerance` are absolute.
    `proof_method` is how they were compared, `proof_refusal` why by the simulator, where machine code was compiled;
    `acceptance` names the driver that accepted the kernel without a GPU.
    `origin` is that of its job, to be loaded with `undefer`.
    """

    __tablename__ = "trial"
    __table_args__ = (
        UniqueConstraint("job_id", "number"),
        UniqueConstraint("job_id", "config_hash"),
        Index(None, "job_id", "status"),
        UniqueConstraint("job_id", "id"),  # referenced by job.best_trial_id
        CheckConstraint("number >= 0", name="number_counted"),
        CheckConstraint("length(config_hash) = 64", name="config_hash_is_sha256"),
        CheckConstraint(one_of("status", TRIAL_STATUSES), name="status_known"),
        CheckConstraint(one_of("proof_kind", PROOF_KINDS), name="proof_kind_known"),
        CheckConstraint(
            "(status IN ('pending', 'measured', 'predicted')) = (reason IS NULL)", name="reason_iff_without_time"
        ),
        CheckConstraint("length(reason) > 0", name="reason_not_empty"),
        CheckConstraint("(status = 'pending') = (ended_at IS NULL)", name="ended_iff_not_pending"),
        CheckConstraint("status <> 'pending' OR kernel_id IS NULL", name="pending_has_no_kernel"),
        CheckConstraint("status <> 'pending' OR proof_kind = 'none'", name="pending_has_no_proof"),
        CheckConstraint("status <> 'measured' OR kernel_id IS NOT NULL", name="measured_has_kernel"),
        CheckConstraint(
            "status <> 'measured' OR (proof_kind <> 'none' AND max_error IS NOT NULL AND tolerance IS NOT NULL)",
            name="measured_is_proven",
        ),
        CheckConstraint(
            "status NOT IN ('measured', 'predicted') OR max_error <= tolerance", name="timed_is_within_tolerance"
        ),
        CheckConstraint("proof_checked >= 0 AND proof_checked <= proof_total", name="proof_counts"),
        CheckConstraint("(proof_kind = 'none') = (proof_total = 0)", name="proof_counts_iff_proven"),
        CheckConstraint("acceptance IS NULL OR kernel_id IS NOT NULL", name="accepted_has_kernel"),
        CheckConstraint("max_error >= 0", name="max_error_not_negative"),
        CheckConstraint("tolerance >= 0", name="tolerance_not_negative"),
        CheckConstraint("compile_s >= 0 AND verify_s >= 0 AND measure_s >= 0", name="wall_times_not_negative"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[UUID] = mapped_column(ForeignKey("job.id"))
    number: Mapped[int]
    config: Mapped[JsonObject]
    config_hash: Mapped[str]
    proposer: Mapped[str | None]
    status: Mapped[str] = mapped_column(default="pending")
    reason: Mapped[str | None]
    proof_kind: Mapped[str] = mapped_column(default="none")
    proof_checked: Mapped[int] = mapped_column(default=0)
    proof_total: Mapped[int] = mapped_column(default=0)
    max_error: Mapped[float | None]
    tolerance: Mapped[float | None]
    proof_method: Mapped[str | None]
    proof_refusal: Mapped[str | None]
    acceptance: Mapped[JsonObject | None]
    kernel_id: Mapped[UUID | None] = mapped_column(ForeignKey("kernel.id"), index=True)
    compile_s: Mapped[float] = mapped_column(default=0.0)
    verify_s: Mapped[float] = mapped_column(default=0.0)
    measure_s: Mapped[float] = mapped_column(default=0.0)
    begun_at: Mapped[datetime] = mapped_column(default=utc_now)
    ended_at: Mapped[datetime | None]
    origin: Mapped[str | None] = column_property(
        select(Job.origin).where(Job.id == job_id).correlate_except(Job).scalar_subquery(),
        deferred=True,
        raiseload=True,
    )

    job: Mapped[Job] = relationship(lazy="raise", foreign_keys=[job_id])
    kernel: Mapped[Kernel | None] = relationship(lazy="raise")
    measurement: Mapped["Measurement | None"] = relationship(lazy="raise")
    prediction: Mapped["Prediction | None"] = relationship(lazy="raise")
    reused: Mapped["Reuse | None"] = relationship(foreign_keys="Reuse.trial_id", lazy="raise", viewonly=True)


class Measurement(Base):
    """Times in microseconds from the clock of the job's device; `versions` are the toolchain's.

    `first_ratio` is the first sample, which does not count, over the median; `clock_mhz` the device clock
    during the run; `energy_uj` the mean energy of a launch in microjoules, idle power included.
    """

    __tablename__ = "measurement"
    __table_args__ = (
        CheckConstraint("min_us > 0", name="min_positive"),
        CheckConstraint("min_us <= p10_us AND p10_us <= median_us AND median_us <= p90_us", name="times_ordered"),
        CheckConstraint(f"p90_us < {LONGEST_US}", name="times_finite"),
        CheckConstraint("samples >= 1", name="samples_positive"),
        CheckConstraint(one_of("label", LABELS), name="label_known"),
    )

    trial_id: Mapped[int] = mapped_column(ForeignKey("trial.id"), primary_key=True)
    median_us: Mapped[float]
    min_us: Mapped[float]
    p10_us: Mapped[float]
    p90_us: Mapped[float]
    samples: Mapped[int]
    label: Mapped[str]
    driver: Mapped[str]
    versions: Mapped[JsonObject]
    stopped_early: Mapped[bool | None]
    first_ratio: Mapped[float | None]
    clock_mhz: Mapped[float | None]
    energy_uj: Mapped[float | None]
    measured_at: Mapped[datetime] = mapped_column(default=utc_now)


class Prediction(Base):
    """A time in microseconds that the model of `model_version` predicts, with its interval; of measured trials too.

    The least `burden` is preferred of times that the model cannot tell apart.
    """

    __tablename__ = "prediction"
    __table_args__ = (
        CheckConstraint("low_us > 0", name="low_positive"),
        CheckConstraint("low_us <= time_us AND time_us <= high_us", name="interval_holds_time"),
        CheckConstraint(f"high_us < {LONGEST_US}", name="interval_finite"),
        CheckConstraint("length(model_version) > 0", name="model_version_not_empty"),
        CheckConstraint("burden >= 0", name="burden_not_negative"),
    )

    trial_id: Mapped[int] = mapped_column(ForeignKey("trial.id"), primary_key=True)
    time_us: Mapped[float]
    low_us: Mapped[float]
    high_us: Mapped[float]
    model_version: Mapped[str]
    burden: Mapped[float] = mapped_column(default=0.0)
    predicted_at: Mapped[datetime] = mapped_column(default=utc_now)

    error: Mapped["PredictionError | None"] = relationship(lazy="raise")


class PredictionError(Base):
    """The measurement that judges a prediction: of its own trial, else of one of the same configuration.

    `ratio` is measured over predicted time.
    """

    __tablename__ = "prediction_error"
    __table_args__ = (CheckConstraint(f"ratio > 0 AND ratio < {LONGEST_US}", name="ratio_positive"),)

    trial_id: Mapped[int] = mapped_column(ForeignKey("prediction.trial_id"), primary_key=True)
    measured_trial_id: Mapped[int] = mapped_column(ForeignKey("trial.id"), index=True)
    ratio: Mapped[float]

    measured_trial: Mapped[Trial] = relationship(lazy="raise")


# Last, as in job.py.
import db.schema.reuse  # pyright: ignore[reportUnusedImport]  # noqa: E402, F401
