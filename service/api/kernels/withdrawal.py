"""Withdrawal of kernels: they stay stored with the reason, and no lookup serves them."""

from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from db.queries import jobs
from db.queries.results import kernels
from db.schema.kernel import Kernel
from service.api.audit.log import record
from service.api.audit.schemas import Outcome
from service.api.keys.caller import Caller
from service.errors import NotFound


def withdraw(session: Session, by: Caller, kernel_id: UUID, reason: str, now: datetime) -> None:
    """Withdraw a kernel: the best of its jobs are chosen again without it. A second reason replaces the first.

    Raises:
        NotFound: there is none.
    """
    _set_reason(session, by, "kernel.withdraw", kernel_id, reason, now)


def restore(session: Session, by: Caller, kernel_id: UUID) -> None:
    """Serve a withdrawn kernel again.

    Raises:
        NotFound: there is none.
    """
    _set_reason(session, by, "kernel.restore", kernel_id, None, None)


def _set_reason(
    session: Session, by: Caller, action: str, kernel_id: UUID, reason: str | None, at: datetime | None
) -> None:
    if (kernel := session.get(Kernel, kernel_id)) is None:
        raise NotFound(f"kernel {kernel_id} does not exist")
    changed = kernel.withdrawn != reason
    if changed:
        kernel.withdrawn, kernel.withdrawn_at = reason, at
        session.flush()
        jobs.choose_again(session, kernels.jobs_with(session, kernel_id))
    record(session, by, action, kernel_id, Outcome.DONE if changed else Outcome.UNCHANGED)
