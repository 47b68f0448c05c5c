"""What a job took."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import Base


class JobEffort(Base):
    """Seconds of wall time of all runs of a job, by what was done, and lost device processes.

    What overlaps is `compile_s`, in which compilations were under way beside the rest; `wait_s` is what was waited for
    them. Of a run that was killed, what came after its last trial is not in it.
    """

    __tablename__ = "job_effort"
    __table_args__ = (
        CheckConstraint(
            "total_s >= 0 AND propose_s >= 0 AND compile_s >= 0 AND wait_s >= 0", name="times_not_negative"
        ),
        CheckConstraint("verify_s >= 0 AND measure_s >= 0 AND compare_s >= 0", name="device_times_not_negative"),
        CheckConstraint("device_restarts >= 0", name="device_restarts_counted"),
    )

    job_id: Mapped[UUID] = mapped_column(ForeignKey("job.id"), primary_key=True)
    total_s: Mapped[float]
    propose_s: Mapped[float]
    compile_s: Mapped[float]
    wait_s: Mapped[float]
    verify_s: Mapped[float]
    measure_s: Mapped[float]
    compare_s: Mapped[float]
    device_restarts: Mapped[int]
