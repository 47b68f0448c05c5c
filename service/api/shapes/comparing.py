"""Last phase of a set: each winning kernel is tried on each shape, and each shape's job ends."""

import threading
from functools import partial

from codegen import KernelConfig
from db.errors import LeaseLost
from db.queries import (
    shape_sets,
)
from db.queries.cluster import leases
from db.schema.shape_set import ShapeSet, ShapeSetKernel, ShapeSetMember
from service.api.shapes.kernels import (
    SetKernel,
    apply_kernels,
    cells_of,
    choose_kernels,
)
from service.api.shapes.state import SetState
from service.gemm_json import config_from_json, config_to_json
from service.jobs.job_runs import ClaimedJob, JobEnd
from service.jobs.tuning import ended_by, keep_comparison
from tuner.backend import tuning_for
from tuner.measure.measure import Bench
from tuner.shapes.compare_kernels import compare_kernels


def compare(state: SetState) -> None:
    """Choose the kernels, once, and try them on each shape that has not been compared."""
    if state.is_over():
        return
    row = _with_kernels(state)
    kernels = [_as_made(state, kernel) for kernel in row.kernels]
    waiting = [member for member in row.members if not _is_compared(row, member)]
    for place, member in enumerate(waiting):
        if state.is_over():
            return
        seconds = max(state.left_s, 0.0) / (len(waiting) - place)
        state.run_job(member.job_id, partial(_close, state, member.id, kernels, seconds))
        state.note_spent()


def _with_kernels(state: SetState) -> ShapeSet:
    row = state.read()
    if row.kernels:
        return row
    chosen = choose_kernels(state.shapes, state.listed.spec, state.within)
    with state.write() as session:
        shape_sets.add_kernels(session, row.id, [(member, config_to_json(config)) for member, config in chosen])
    return state.read()


def _as_made(state: SetState, kernel: ShapeSetKernel) -> SetKernel:
    config, shape = config_from_json(kernel.config), next(s for s in state.shapes if s.member_id == kernel.member_id)
    made = [trial.outcome.kernel_hash for trial in shape.trials if trial.config == config and trial.outcome is not None]
    return SetKernel(kernel.id, shape.problem, config, next(iter(made), None))


def _is_compared(row: ShapeSet, member: ShapeSetMember) -> bool:
    has_cells = any(cell.member_id == member.id for kernel in row.kernels for cell in kernel.cells)
    return has_cells and member.job.status not in ("queued", "running")


def _close(
    state: SetState,
    member_id: int,
    kernels: list[SetKernel],
    seconds: float,
    job: ClaimedJob,
    interrupt: threading.Event,
) -> JobEnd:
    """The last task of a shape's job."""
    problem, spec = job.spec.problem, state.listed.spec
    applied = apply_kernels(kernels, problem, spec)
    tried: list[KernelConfig] = []
    if state.device is not None:  # the default is trial 0, also of a shape that was not searched
        tried = [tuning_for(spec).default(problem, spec), *(config for _, config in applied.configs)]
    bench = Bench(problem, spec, state.device, state.references.of(problem, job.spec.seed))
    store, events = state.tuning.store_of(job, interrupt), state.tuning.on_event
    known = state.tuning.known_times(job, state.listed)
    found = compare_kernels(bench, store, state.pool, tried, state.within, seconds, events, known)
    if found.cancelled:
        return ended_by(interrupt)
    cells = cells_of(applied, found, problem, spec, measured=state.device is not None)
    tried_in_all = len(store.trials())
    with state.tuning.database.write() as session:
        try:
            shape_sets.check_own(session, state.set_id, state.worker.name)
        except LeaseLost:
            return JobEnd.INTERRUPTED  # the job is still this worker's: it is put back
        leases.check_own(session, job.id, job.worker)
        shape_sets.grant(session, job.id, tried_in_all)  # the rest of a portion that was stopped is returned
        shape_sets.set_cells(session, member_id, cells)
        keep_comparison(session, job.id, found.best, found.comparison)
    return JobEnd.SUCCEEDED
