"""Kernels in pages, filtered."""

from enum import StrEnum
from heapq import nlargest
from itertools import chain
from uuid import UUID

from pydantic import Field
from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session, joinedload

from db.queries.problems import is_quantized_by
from db.queries.results import kernels
from db.schema.kernel import Kernel
from db.schema.target import Device, Problem
from db.schema.trial import Measurement, PredictionError, Trial
from service.api.kernels.list_schemas import KernelLine, KernelPage
from service.configurations import to_config_body
from service.evidence import headline_of, tflops
from service.http.list_query import (
    ListQuery,
)
from service.schemas import ProblemBody


class EvidenceFilter(StrEnum):
    """Evidence for the best time of a kernel."""

    MEASURED = "measured"
    EMULATED = "emulated"
    PREDICTED = "predicted"
    NONE = "none"


class KernelQuery(ListQuery):
    """Filters of a list of kernels; all must match."""

    evidence: EvidenceFilter | None = Field(
        default=None,
        description="Only kernels whose best time is measured, measured with emulated DPAS, predicted, or none",
        examples=["measured"],
    )

    winners: bool = Field(
        default=False,
        description="Only kernels that won a job; the others are those that its search compiled on the way",
        examples=[True],
    )

    def problems(self) -> list[ColumnElement[bool]]:
        """Return the conditions on the problems."""
        names = ("m", "n", "k", "batch", "dtype_a", "dtype_b", "dtype_c", "dtype_acc")
        given = {name: getattr(self, name) for name in names}
        quantized = [] if self.quantization is None else [is_quantized_by(self.quantization)]
        return [*(getattr(Problem, name) == value for name, value in given.items() if value is not None), *quantized]


def list_kernels(session: Session, wanted: KernelQuery) -> KernelPage:
    """Return the newest matching kernels older than `before`."""
    query = select(Kernel.id)
    if asked := wanted.problems():
        query = query.where(Kernel.problem_id.in_(select(Problem.id).where(*asked)))
    if wanted.evidence is not None:
        query = query.where(*has_time(wanted.evidence))
    if wanted.winners:
        query = query.where(kernels.is_winner())
    if wanted.before is not None:
        query = query.where(Kernel.id < wanted.before)
    ids = newest(session, query, wanted.device, wanted.limit + 1)
    if not (page := ids[: wanted.limit]):
        return KernelPage(kernels=[], next_before=None)
    loads = (joinedload(Kernel.problem), joinedload(Kernel.device))
    rows = {row.id: row for row in session.scalars(select(Kernel).where(Kernel.id.in_(page)).options(*loads))}
    telling, won = kernels.telling_trials(session, page), kernels.winners_of(session, page)
    lines = [_line(rows[kernel_id], telling.get(kernel_id), kernel_id in won) for kernel_id in page]
    return KernelPage(kernels=lines, next_before=page[-1] if len(ids) > len(page) else None)


def newest(session: Session, query: Select[UUID], device: str | None, limit: int) -> list[UUID]:
    """Return the ids of the newest kernels that a query finds, at most `limit`, of one device (its id) or of
    all.
    """
    newest_first = query.order_by(Kernel.id.desc()).limit(limit)
    if device is None:
        return list(session.scalars(newest_first))
    # One query per driver: an index has the kernels of each in order, so that a page needs no sort of all.
    drivers = session.scalars(select(Device.id).where(Device.slug == device)).all()
    found = [session.scalars(newest_first.where(Kernel.device_id == driver)) for driver in drivers]
    return nlargest(limit, chain.from_iterable(found))


def has_time(known: EvidenceFilter) -> list[ColumnElement[bool]]:
    """Return the conditions that the best time of a kernel is so known: measured (in any job) before predicted."""
    trials = select(Trial.id).where(Trial.kernel_id == Kernel.id)
    # By the status of trials where that is enough: a page may pass over thousands of kernels.
    measured_here = trials.where(Trial.status == "measured").exists()
    elsewhere = trials.join(PredictionError, PredictionError.trial_id == Trial.id).exists()
    match known:
        case EvidenceFilter.MEASURED | EvidenceFilter.EMULATED:
            # Imported here: few lists ask for it, and it brings the outcomes of trials.
            from tuner.session.evidence import NATIVE

            by = func.coalesce(PredictionError.measured_trial_id, Trial.id)
            timed = trials.outerjoin(PredictionError, PredictionError.trial_id == Trial.id)
            native = Measurement.label == NATIVE
            right = native if known is EvidenceFilter.MEASURED else ~native
            return [timed.join(Measurement, Measurement.trial_id == by).where(right).exists()]
        case EvidenceFilter.PREDICTED:
            return [trials.where(Trial.status == "predicted").exists(), ~measured_here, ~elsewhere]
        case EvidenceFilter.NONE:
            return [~trials.where(Trial.status.in_(("measured", "predicted"))).exists()]


def _line(kernel: Kernel, trial: Trial | None, is_winner: bool) -> KernelLine:
    evidence = headline_of(trial)
    return KernelLine(
        id=kernel.id,
        problem=ProblemBody.model_validate(kernel.problem.definition),
        device=kernel.device.slug,
        driver=kernel.device.driver,
        winner=is_winner,
        evidence=evidence,
        status=None if trial is None else trial.status,
        reason=None if trial is None else trial.reason,
        tflops=tflops(kernel.problem, evidence),
        origin=kernel.origin,
        withdrawn=kernel.withdrawn,
        config=to_config_body(kernel.config),
        content_hash=kernel.content_hash,
        created_at=kernel.created_at,
    )
