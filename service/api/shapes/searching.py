"""Search of a set: portions of its jobs, each given to the shape with the largest expected gain per second."""

import threading
import time
from dataclasses import replace
from functools import partial

from db.queries import (
    jobs,
    shape_sets,
)
from db.queries.cluster import leases
from service.api.shapes.state import SetShape, SetState
from service.jobs.device_rates import stored_rates
from service.jobs.job_runs import ClaimedJob, JobEnd
from service.jobs.tuning import ended_by
from tuner.search.warm_start import donors_of_set
from tuner.session.budget import (
    Portion,
)
from tuner.session.history import History
from tuner.session.result import Stop
from tuner.session.session import run_session
from tuner.shapes.allocation import Progress, next_grant

_MOST_RESERVED = 0.4  # of the seconds of the set, for comparing kernels across shapes
_INTERLEAVED = 12  # cost of a shape's interleaved comparison, in trials
_LEAST_S = 1.0
_OWN_ENDS = frozenset({Stop.EXHAUSTED, Stop.NO_GAIN, Stop.ROOFLINE})  # of one shape, whatever the budget of the set


def search(state: SetState) -> None:
    """Assign portions until the trials or the seconds are spent, no gain is expected, or the run is stopped."""
    if state.read().kernels:
        return  # an earlier run ended the search
    while not state.is_over():
        shapes = [shape.progress for shape in state.shapes]
        left_s = state.left_s - _reserve_s(state, shapes)
        left_trials = state.trials_budget - sum(len(shape.times_us) for shape in shapes)
        grant = next_grant(shapes, left_trials)
        if left_s <= 0 or grant is None:
            _keep_stop(state, _stop_of(left_s, left_trials))
            return
        _give(state, grant.index, Portion(grant.trials, left_s / grant.alike))


def _stop_of(left_s: float, left_trials: int) -> Stop:
    """Return the stop reason of a set's search: with budget left, no shape is expected to gain."""
    if left_s <= 0:
        return Stop.SECONDS
    return Stop.TRIALS if left_trials < 1 else Stop.NO_GAIN


def _keep_stop(state: SetState, stop: Stop) -> None:
    """Store the stop reason of the set's search with each job that has none."""
    with state.write() as session:
        jobs.set_stop_of_rest(session, [shape.job_id for shape in state.shapes], stop.value)


def _give(state: SetState, index: int, portion: Portion) -> None:
    """Run one portion of a shape's job; one without a trial is the last."""
    shape, begun_s = state.shapes[index], time.monotonic()
    before = shape.progress
    with state.write() as session:
        shape_sets.grant(session, shape.job_id, len(before.times_us) + portion.trials)
    ends: list[Stop] = []
    state.run_job(shape.job_id, partial(_run, state, shape, portion, ends))
    after = state.refresh(index)
    is_spent = bool(_OWN_ENDS & {*ends}) or len(after.times_us) == len(before.times_us)
    took_s = max(before.wall_s + time.monotonic() - begun_s, after.wall_s)
    progress = replace(after, wall_s=took_s, closed=before.closed or after.closed or is_spent)
    state.shapes[index] = replace(state.shapes[index], progress=progress)
    state.note_spent()


def _run(
    state: SetState,
    shape: SetShape,
    portion: Portion,
    ends: list[Stop],
    job: ClaimedJob,
    interrupt: threading.Event,
) -> JobEnd:
    """Task of the job: a run of the session that pauses."""
    state.tuning.note_restrictions(job, state.listed)
    store, spec = state.tuning.store_of(job, interrupt), state.listed.spec
    others = [(other.problem, other.trials) for other in state.shapes if other.member_id != shape.member_id]
    donors = (*donors_of_set(shape.problem, others, spec), *state.tuning.warm_starts(job, state.listed))
    seconds = History(store).earlier_s + max(state.left_s, _LEAST_S)
    budget = replace(job.spec.budget, trials=state.trials_budget, seconds=seconds)
    with state.tuning.listener(store, state.device) as heard:
        result = run_session(
            replace(job.spec, device=spec, budget=budget),
            state.device,
            store,
            state.pool,
            heard,
            state.tuning.native_for(spec),
            donors=list(dict.fromkeys(donors)),
            known=state.tuning.known_times(job, state.listed),
            portion=portion,
            reference=state.references.of(job.spec.problem, job.spec.seed),
            acceptor=state.acceptor,
            rates=stored_rates(state.tuning.database, spec),
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


def _reserve_s(state: SetState, shapes: list[Progress]) -> float:
    """Return the expected seconds of trying all kernels on all shapes."""
    if state.device is None:
        return 0.0
    trial_s = [shape.wall_s / len(shape.times_us) for shape in shapes if shape.times_us]
    return min(sum(trial_s) * (len(shapes) + _INTERLEAVED), _MOST_RESERVED * state.seconds_budget)
