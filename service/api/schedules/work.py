"""Work of a schedule: validated before the transaction, queued in it."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy.orm import Session

from codegen import CodegenError
from db.values import JsonObject
from hal import HalError
from service.api.jobs.requests import (
    submit,
    understand,
)
from service.api.jobs.schemas import JobBody
from service.api.keys.caller import Caller
from service.api.schedules.planning import Planning
from service.api.schedules.schemas import StaleBody
from service.api.schedules.stale import (
    StaleWork,
    stale_work,
)
from service.api.shapes.requests import SetRequest
from service.api.shapes.requests import submit as submit_set
from service.api.shapes.requests import understand as understand_set
from service.api.shapes.schemas import ShapeSetBody
from service.errors import ServiceError, TooMany
from service.http.validation_errors import message_of
from tuner.errors import TunerError
from tuner.session.job_spec import JobSpec

Work = JobSpec | SetRequest | StaleWork
_REFUSALS = (ServiceError, CodegenError, HalError, TunerError)


@dataclass(frozen=True, slots=True)
class Started:
    """Outcome of a run: its jobs, each with whether it is new, or a set; the reason of a refusal, or what was
    left out.
    """

    outcome: Literal["created", "joined", "nothing", "refused"]
    jobs: tuple[tuple[UUID, bool], ...] = ()
    set_id: UUID | None = None
    reason: str | None = None


def read_work(kind: str, template: JsonObject, planning: Planning) -> Work:
    """Return the work to queue; may probe devices, so call it before the transaction.

    Raises:
        ValidationError: the stored request is of another version of this program.
        ServiceError, CodegenError, HalError, TunerError: it is refused.
    """
    if kind == "stale":
        return stale_work(StaleBody.model_validate(template), planning)
    if kind == "shapes":
        return understand_set(ShapeSetBody.model_validate(template), planning.devices, planning.settings)
    return understand(JobBody.model_validate(template), planning.devices, planning.settings)


def work_or_reason(kind: str, template: JsonObject, planning: Planning) -> Work | str:
    """Return the work to queue, or the reason why there is none."""
    try:
        return read_work(kind, template, planning)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {message_of(e)}" for e in error.errors(include_url=False))
        return f"the stored request cannot be read ({faults}); delete the schedule and create it again"
    except _REFUSALS as error:
        return str(error)


def start(session: Session, work: Work | str, by: Caller, max_active: int) -> Started:
    """Queue the work, with an event of the audit log for each job or set; a reason is a refusal."""
    if isinstance(work, str):
        return Started("refused", reason=work)
    if isinstance(work, StaleWork):
        return _start_stale(session, work, by, max_active)
    try:
        if isinstance(work, SetRequest):
            return _start_set(session, work, by, max_active)
        return _started([_submit(session, work, by, max_active)], None)
    except TooMany as error:
        return Started("refused", reason=error.detail)


def _start_stale(session: Session, work: StaleWork, by: Caller, max_active: int) -> Started:
    jobs: list[tuple[UUID, bool]] = []
    remark = work.remark
    for request in work.jobs:
        try:
            jobs.append(_submit(session, request, by, max_active))
        except TooMany as error:
            remark = error.detail if remark is None else f"{error.detail}; {remark}"
            break
    if not jobs:
        return Started("nothing") if remark is None else Started("refused", reason=remark)
    return _started(jobs, remark)


def _start_set(session: Session, request: SetRequest, by: Caller, max_active: int) -> Started:
    set_id, is_new = submit_set(session, request, max_active, by)
    return Started("created" if is_new else "joined", set_id=set_id)


def _submit(session: Session, request: JobSpec, by: Caller, max_active: int) -> tuple[UUID, bool]:
    job, is_new = submit(session, request, max_active, by)
    return job.id, is_new


def _started(jobs: list[tuple[UUID, bool]], remark: str | None) -> Started:
    return Started("created" if any(is_new for _, is_new in jobs) else "joined", tuple(jobs), reason=remark)
