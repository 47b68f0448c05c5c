"""Sets of shapes as response models."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from db.queries import shape_sets
from db.queries.cluster import leases
from db.schema.job import Job
from db.schema.shape_set import ShapeSet, ShapeSetCell, ShapeSetKernel, ShapeSetMember
from db.schema.trial import Trial
from db.values import utc_now
from service.api.audit.log import record
from service.api.jobs.service import describe_options
from service.api.jobs.status import JobStatus
from service.api.keys.caller import Caller
from service.api.shapes.schemas import (
    CellOut,
    CoverOut,
    KernelChoice,
    PresetList,
    PresetOut,
    ShapeOut,
    ShapeSetLine,
    ShapeSetOut,
    ShapeSetPage,
)
from service.configurations import to_config_body
from service.errors import Conflict, NotFound
from service.evidence import evidence_of
from service.job_summary import reported_times_of
from service.schemas import ProblemBody
from tuner.model.resolution import RESOLUTION
from tuner.search.method import OTHER_SHAPE

if TYPE_CHECKING:
    from tuner.shapes.cover import Cover


class ShapeSetQuery(BaseModel):
    """Parameters of a request for a set."""

    model_config = ConfigDict(extra="forbid")

    within: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Recommend kernels for another bound than the set's own",
        examples=[0.1],
    )


def read_set(session: Session, set_id: UUID, within: float | None = None) -> ShapeSetOut:
    """Return a set with its shapes and, after the comparison, the fewest kernels; `within` overrides its
    bound.

    Raises:
        NotFound: there is none.
    """
    found = find_set(session, set_id)
    return _described(session, found, found.within if within is None else within)


def find_set(session: Session, set_id: UUID) -> ShapeSet:
    """Return the current row of a set.

    Raises:
        NotFound: there is none.
    """
    if (found := shape_sets.get(session, set_id)) is None:
        raise NotFound(f"set of shapes {set_id} does not exist; `xetune shapes` lists those that do")
    return found


def list_sets(session: Session, limit: int, before: UUID | None = None) -> ShapeSetPage:
    """Return the newest sets older than `before`."""
    rows = shape_sets.list_page(session, limit=limit + 1, before=before)
    lines = [
        ShapeSetLine(
            id=row.id,
            source=row.source,
            status=row.status,
            device=row.device.slug,
            shapes=len(row.members),
            created_at=row.created_at,
        )
        for row in rows[:limit]
    ]
    return ShapeSetPage(shape_sets=lines, next_before=lines[-1].id if len(rows) > limit else None)


def forget(session: Session, set_id: UUID, by: Caller) -> None:
    """Delete a set that is over, with its event in the audit log; its jobs and results are kept.

    Raises:
        NotFound: there is none.
        Conflict: it is active.
    """
    found = find_set(session, set_id)
    if found.status == "active":
        raise Conflict(f"set of shapes {set_id} is active: cancel it first", rule="set-active")
    shape_sets.delete_set(session, set_id)
    record(session, by, "shapes.delete", set_id)


def presets() -> PresetList:
    """Return the models whose layers are known."""
    # Imported here: a list of sets does not name the layers of models.
    from tuner.shapes.models import MODELS

    return PresetList(presets=[PresetOut.model_validate(model) for model in MODELS.values()])


def cancel(session: Session, set_id: UUID, by: Caller) -> ShapeSetOut:
    """Cancel a set and its jobs, with an event of the audit log; results are kept. One that is over is not changed.

    Raises:
        NotFound: there is none.
    """
    found = find_set(session, set_id)
    if shape_sets.finish(session, set_id, "cancelled"):
        for member in found.members:
            leases.request_cancel(session, member.job_id)
    record(session, by, "shapes.cancel", set_id)
    return read_set(session, set_id)


def _described(session: Session, found: ShapeSet, within: float) -> ShapeSetOut:
    tried, baselines = shape_sets.tried(session, found.id), shape_sets.baselines(session, found.id)
    shapes = [_shape(m, tried.get(m.job_id, 0), baselines.get(m.job_id)) for m in found.members]
    options = describe_options(found.members[0].job)  # those of all its jobs
    both = [(s.weight, s.default_us, s.tuned_us) for s in shapes if s.default_us is not None and s.tuned_us is not None]
    return ShapeSetOut.model_validate(
        {
            "id": found.id,
            "source": found.source,
            "status": found.status,
            "error": found.error,
            "running": found.status == "active" and found.lease_until is not None and found.lease_until > utc_now(),
            **dict(options),
            "device": found.device.slug,
            "budget": options.budget.model_copy(
                update={"trials": found.budget_trials, "seconds": found.budget_seconds}
            ),
            "spent_s": found.spent_s,
            "trials": sum(tried.values()),
            "cross_trials": shape_sets.count_proposed(session, found.id, OTHER_SHAPE),
            "compiled": found.compiled,
            "reused": found.reused,
            "default_us": sum(w * d for w, d, _ in both) if both else None,
            "tuned_us": sum(w * t for w, _, t in both) if both else None,
            "shapes": shapes,
            "cover": _cover(found, within) if any(kernel.cells for kernel in found.kernels) else None,
            "created_at": found.created_at,
            "finished_at": found.finished_at,
        }
    )


def _shape(member: ShapeSetMember, tried: int, baseline: Trial | None) -> ShapeOut:
    job = member.job
    default_us, tuned_us = _times(job, baseline)
    return ShapeOut(
        name=member.name,
        problem=ProblemBody.model_validate(job.problem.definition),
        weight=member.weight,
        job_id=job.id,
        status=JobStatus(job.status),
        error=job.error,
        trials=tried,
        default_us=default_us,
        tuned_us=tuned_us,
        gain=None if default_us is None or tuned_us is None else default_us / tuned_us,
        interleaved=job.compared_best_us is not None,
        evidence=None if job.best_trial is None else evidence_of(job.best_trial),
    )


def _times(job: Job, baseline: Trial | None) -> tuple[float | None, float | None]:
    """Return the reported times of a job: of its default and of its best, if there is one."""
    best, first = (None if trial is None else evidence_of(trial).time for trial in (job.best_trial, baseline))
    if best is None:
        return None if first is None else first.value, None
    line = reported_times_of(best, first, interleaved=(job.compared_default_us, job.compared_best_us))
    return line.default_us, line.best_us


def _cover(found: ShapeSet, within: float) -> CoverOut:
    # Imported here: a list of sets chooses no kernels.
    from tuner.shapes.cover import greedy_cover

    kernels, places = found.kernels, {member.id: place for place, member in enumerate(found.members)}
    times: list[dict[int, float]] = [{} for _ in places]
    for number, kernel in enumerate(kernels):
        for cell in kernel.cells:
            if cell.time_us is not None:
                times[places[cell.member_id]][number] = cell.time_us
    weights = [member.weight for member in found.members]
    predicted = any(cell.evidence == "predicted" for kernel in kernels for cell in kernel.cells)
    cover = greedy_cover(times, weights, within, RESOLUTION if predicted else 1.0)
    served = [
        (row, w, kernel) for row, w, kernel in zip(times, weights, cover.serves, strict=True) if kernel is not None
    ]
    serving = [
        cell
        for number, kernel in enumerate(kernels)
        for cell in kernel.cells
        if cover.serves[places[cell.member_id]] == number
    ]
    cells = [
        _cell(number, cell, places[cell.member_id], times[places[cell.member_id]])
        for number, kernel in enumerate(kernels)
        for cell in sorted(kernel.cells, key=lambda cell: places[cell.member_id])
    ]
    return CoverOut(
        within=within,
        needed=[number + 1 for number in cover.kernels],
        unserved=[place + 1 for place, kernel in enumerate(cover.serves) if kernel is None],
        one_each=cover.is_one_each,
        evidence=sorted({cell.evidence for cell in serving}),
        total_us=sum(w * row[kernel] for row, w, kernel in served),
        best_us=sum(w * min(row.values()) for row, w, _ in served),
        unknown=sum(len(kernels) - len(row) for row in times),
        binaries=_binaries(serving),
        kernels=[_choice(number, kernel, cover, places) for number, kernel in enumerate(kernels)],
        cells=cells,
    )


def _cell(number: int, cell: ShapeSetCell, place: int, row: dict[int, float]) -> CellOut:
    return CellOut.model_validate(
        {
            "kernel": number + 1,
            "shape": place + 1,
            "evidence": cell.evidence,
            "time_us": cell.time_us,
            "slower": None if cell.time_us is None else cell.time_us / min(row.values()),
            "reason": cell.reason,
            "content_hash": cell.content_hash,
        }
    )


def _choice(number: int, kernel: ShapeSetKernel, cover: "Cover", places: dict[int, int]) -> KernelChoice:
    serves = [place for place, by in enumerate(cover.serves) if by == number]
    cells = [cell for cell in kernel.cells if places[cell.member_id] in serves]
    timed = cells or [cell for cell in kernel.cells if cell.time_us is not None]
    return KernelChoice(
        number=number + 1,
        shape=places[kernel.member_id] + 1,
        config=to_config_body(kernel.config),
        serves=[place + 1 for place in serves],
        binaries=_binaries(cells),
        content_hash=timed[0].content_hash if _binaries(timed) == 1 else None,
    )


def _binaries(cells: Sequence[ShapeSetCell]) -> int:
    """Count the distinct binaries of these cells; a cell without one counts as its own."""
    return len({cell.content_hash for cell in cells if cell.content_hash}) + sum(not c.content_hash for c in cells)
