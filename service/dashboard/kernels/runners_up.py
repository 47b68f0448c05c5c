"""Other kernels of a problem on the same device, the fastest of the same evidence first."""

from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.queries.results.headline import least_first
from db.schema.kernel import Kernel
from db.schema.target import Device
from db.schema.trial import Measurement, Prediction, Trial
from service.dashboard.evidence import TimeEvidence, TimeFigure
from service.dashboard.kernels.rows import KernelRow, kernel_rows
from tuner.session.evidence import NATIVE

MOST = 8


def runners_up(session: Session, kernel: Kernel, time: TimeFigure | None) -> list[KernelRow]:
    """Those of least time with the evidence that this kernel's has; without a time, the newest."""
    ids = same_place(session, kernel) if time is None else _fastest(session, kernel, time.evidence)
    return list(kernel_rows(session, ids))


def same_place(session: Session, kernel: Kernel) -> list[UUID]:
    """The newest other kernels of its problem on its device, under any driver."""
    query = select(Kernel.id).where(*_others(kernel)).order_by(Kernel.id.desc()).limit(MOST)
    return list(session.scalars(query))


def elsewhere(session: Session, kernel: Kernel) -> list[UUID]:
    """The newest kernels of its problem on other devices, or on its own under other drivers."""
    query = select(Kernel.id).where(Kernel.problem_id == kernel.problem_id, Kernel.device_id != kernel.device_id)
    return list(session.scalars(query.order_by(Kernel.id.desc()).limit(MOST)))


def _fastest(session: Session, kernel: Kernel, evidence: TimeEvidence) -> list[UUID]:
    time, table = (
        (Prediction.time_us, Prediction) if evidence is TimeEvidence.PREDICTED else (least_first(), Measurement)
    )
    query = (
        select(Kernel.id)
        .join(Trial, Trial.kernel_id == Kernel.id)
        .join(table, table.trial_id == Trial.id)
        .join(Trial.job)
    )
    query = query.where(*_others(kernel), Trial.proof_kind != "none").group_by(Kernel.id)
    if evidence is not TimeEvidence.PREDICTED:
        is_native = Measurement.label == NATIVE
        query = query.where(is_native if evidence is TimeEvidence.MEASURED else ~is_native)
    return list(session.scalars(query.order_by(func.min(time), Kernel.id).limit(MOST)))


def _others(kernel: Kernel):  # of a type that SQLAlchemy keeps to itself
    devices = select(Device.id).where(Device.slug == kernel.device.slug)
    return Kernel.problem_id == kernel.problem_id, Kernel.device_id.in_(devices), Kernel.id != kernel.id
