"""Search of a set: portions of its jobs, each given to the shape with the largest expected gain per second."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from codegen import KernelConfig
from db.queries import (
    jobs,
    shape_sets,
)
from db.queries.cluster import leases
from db.schema import ShapeSetMember
from service.api.shapes.state import SetState
from service.jobs.job_runs import ClaimedJob, JobEnd
from service.jobs.tuning import ended_by
from service.jobs.warm_start import donors_for as donors_of_jobs
from tuner.search.method import learns
from tuner.session.budget import (
    Portion,
)
from tuner.session.history import History
from tuner.session.result import Stop
from tuner.session.session import run_session
from tuner.shapes.allocation import Progress, next_grant
from tuner.shapes.neighbours import donors_for

_MOST_RESERVED = 0.4  # of the seconds of the set, for comparing kernels across shapes
_TURNS = 12  # cost of a shape's interleaved comparison, in trials
_LEAST_S = 1.0
_OWN_ENDS = frozenset({Stop.EXHAUSTED, Stop.NO_GAIN})  # of one shape, independent of the budget of the set


def search(state: SetState, on_progress: Callable[[int], None]) -> None:
    """Assign portions until the trials or the seconds are spent, no gain is expected, or the run is stopped."""
    if state.read().kernels:
        return  # an earlier run ended the search
    while not state.is_over():
        shapes = [state.progress[member.id] for member in state.members]
        tried = sum(len(shape.times_us) for shape in shapes)
        on_progress(tried)
        left_s = state.left_s - _reserve_s(state, shapes)
        grant = next_grant(shapes, state.trials_budget - tried)
        if left_s <= 0 or grant is None:
            _keep_stop(state, _stop_of(left_s, state.trials_budget - tried))
            return
        waiting = sum(not shape.times_us and not shape.closed for shape in shapes)
        is_first = not shapes[grant.index].times_us
        _give(state, state.members[grant.index], Portion(grant.trials, left_s / waiting if is_first else left_s))


def _stop_of(left_s: float, left_trials: int) -> Stop:
    """Return the stop reason of a set's search: with budget left, no shape is expected to gain."""
    if left_s <= 0:
        return Stop.SECONDS
    return Stop.TRIALS if left_trials < 1 else Stop.NO_GAIN


def _keep_stop(state: SetState, stop: Stop) -> None:
    """Store the stop reason of the set's search with each job that has none."""
    with state.tuning.database.write() as session:
        jobs.set_stop_of_rest(session, [member.job_id for member in state.members], stop.value)


def _give(state: SetState, member: ShapeSetMember, portion: Portion) -> None:
    """Run one portion of a shape's job; one without a trial is the last."""
    before, begun_s = state.progress[member.id], time.monotonic()
    with state.tuning.database.write() as session:
        shape_sets.grant(session, member.job_id, len(before.times_us) + portion.trials)
    ends: list[Stop] = []
    state.runner.run(member.job_id, partial(_run, state, member, portion, ends))
    state.refresh(member)
    after = state.progress[member.id]
    is_spent = _OWN_ENDS & {*ends} or len(after.times_us) == len(before.times_us)
    took_s = max(before.wall_s + time.monotonic() - begun_s, after.wall_s)
    state.progress[member.id] = replace(after, wall_s=took_s, closed=after.closed or bool(is_spent))
    state.note_spent()


def _run(
    state: SetState,
    member: ShapeSetMember,
    portion: Portion,
    ends: list[Stop],
    job: ClaimedJob,
    interrupt: threading.Event,
) -> JobEnd:
    """Task of the job: a run of the session that pauses."""
    store = state.tuning.store_of(job, interrupt)
    others = [(state.problems[other], trials) for other, trials in state.trials.items() if other != member.id]
    seconds = History(store).earlier_s + max(state.left_s, _LEAST_S)
    budget = replace(job.spec.budget, trials=state.trials_budget, seconds=seconds)
    result = run_session(
        replace(job.spec, device=state.spec, budget=budget),
        state.device,
        store,
        state.pool,
        state.tuning.listener(job, state.device),
        state.tuning.native_for(state.spec),
        donors=_donors(state, job, donors_for(job.spec.problem, others, state.spec)),
        known=state.known(job),
        portion=portion,
        reference=state.references.of(job.spec.problem, job.spec.seed),
    )
    ends.append(result.stop)
    if result.stop is Stop.CANCELLED:
        return ended_by(interrupt)
    with state.tuning.database.write() as session:
        leases.check_own(session, job.id, job.worker)
        if result.space_version is not None:
            jobs.set_space(session, job.id, result.space_version)
        if result.stop in _OWN_ENDS:
            jobs.set_stop(session, job.id, result.stop.value)
    return JobEnd.PAUSED


def _donors(state: SetState, job: ClaimedJob, of_the_set: Sequence[KernelConfig]) -> list[KernelConfig]:
    """Return the warm starts of a shape: from other shapes of the set, then from other jobs."""
    if not job.spec.warm_start or state.device is None or not learns(job.spec.search):
        return list(of_the_set)
    return list(
        dict.fromkeys((*of_the_set, *donors_of_jobs(state.tuning.database, job.id, job.spec.problem, state.spec)))
    )


def _reserve_s(state: SetState, shapes: list[Progress]) -> float:
    """Return the expected seconds of trying all kernels on all shapes."""
    if state.device is None:
        return 0.0
    trial_s = [shape.wall_s / len(shape.times_us) for shape in shapes if shape.times_us]
    return min(sum(trial_s) * (len(shapes) + _TURNS), _MOST_RESERVED * state.seconds_budget)
