"""Last phase of a set: each winning kernel is tried on each shape, and each shape's job ends."""

import threading
from collections.abc import Callable
from functools import partial

from codegen import KernelConfig
from db.queries import (
    jobs,
    shape_sets,
)
from db.queries.cluster import leases
from db.schema import (
    ShapeSet,
    ShapeSetKernel,
    ShapeSetMember,
)
from service.api.shapes.matrix import (
    Searched,
    SetKernel,
    cells_of,
    choose_kernels,
    visitors_of,
)
from service.api.shapes.state import SetState
from service.jobs.job_runs import ClaimedJob, JobEnd
from service.jobs.tuning import ended_by
from service.row_mapping import (
    config_from_json,
    config_to_json,
)
from tuner.backend import tuning_for
from tuner.measure.measure import Bench
from tuner.shapes.across import compare_across


def compare(state: SetState, on_progress: Callable[[int], None]) -> None:
    """Choose the kernels, once, and try them on each shape that has not been compared."""
    if state.is_over():
        return
    wanted = _with_kernels(state)
    kernels = [_as_made(state, kernel) for kernel in wanted.kernels]
    waiting = [member for member in wanted.members if not _is_compared(wanted, member)]
    for place, member in enumerate(waiting):
        if state.is_over():
            return
        on_progress(len(wanted.members) - len(waiting) + place)
        seconds = max(state.left_s, 0.0) / (len(waiting) - place)
        state.runner.run(member.job_id, partial(_close, state, member, kernels, seconds))
        state.note_spent()
    on_progress(len(wanted.members))


def _with_kernels(state: SetState) -> ShapeSet:
    wanted = state.read()
    if wanted.kernels:
        return wanted
    shapes = [Searched(m.id, state.problems[m.id], m.weight, state.trials[m.id]) for m in state.members]
    chosen = choose_kernels(shapes, state.spec, state.within)
    with state.tuning.database.write() as session:
        shape_sets.add_kernels(session, wanted.id, [(member, config_to_json(config)) for member, config in chosen])
    return state.read()


def _as_made(state: SetState, kernel: ShapeSetKernel) -> SetKernel:
    config, trials = config_from_json(kernel.config), state.trials[kernel.member_id]
    made = [trial.outcome.kernel_hash for trial in trials if trial.config == config and trial.outcome is not None]
    return SetKernel(kernel.id, state.problems[kernel.member_id], config, next(iter(made), None))


def _is_compared(wanted: ShapeSet, member: ShapeSetMember) -> bool:
    has_cells = any(cell.member_id == member.id for kernel in wanted.kernels for cell in kernel.cells)
    return has_cells and member.job.status not in ("queued", "running")


def _close(
    state: SetState,
    member: ShapeSetMember,
    kernels: list[SetKernel],
    seconds: float,
    job: ClaimedJob,
    interrupt: threading.Event,
) -> JobEnd:
    """The last task of a shape's job."""
    visitors = visitors_of(kernels, job.spec.problem, state.spec)
    tried: list[KernelConfig] = []
    if state.device is not None:  # the default is trial 0, also of a shape that was not searched
        tried = [
            tuning_for(state.spec).default(job.spec.problem, state.spec),
            *(config for _, config in visitors.configs),
        ]
    bench = Bench(job.spec.problem, state.spec, state.device, state.references.of(job.spec.problem, job.spec.seed))
    store, events, known = state.tuning.store_of(job, interrupt), state.tuning.on_event, state.known(job)
    found = compare_across(bench, store, state.pool, tried, state.within, seconds, events, known)
    if found.cancelled:
        return ended_by(interrupt)
    cells = cells_of(visitors, found, job.spec.problem, state.spec, measured=state.device is not None)
    tried_in_all = len(store.trials())
    with state.tuning.database.write() as session:
        leases.check_own(session, job.id, job.worker)
        shape_sets.grant(session, job.id, tried_in_all)  # the rest of a portion that was stopped is returned
        shape_sets.set_cells(session, member.id, cells)
        compared = found.comparison
        if compared is not None and compared.remeasured:
            jobs.set_best(session, job.id, found.best.number)
            jobs.set_comparison(session, job.id, default_us=compared.default_us, best_us=compared.best_us)
    return JobEnd.SUCCEEDED
