"""From shapes to a stored set with queued jobs: every shape is validated before anything is written."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from codegen import Refused
from codegen.backend import backend_for
from codegen.serialization import content_hash
from db.queries import (
    jobs,
    problems,
    shape_sets,
)
from db.schema import ACTIVE_STATUSES
from hal import DeviceSpec
from service.api.devices.service import DeviceDirectory
from service.api.devices.stored import store_device
from service.api.jobs.requests import check_sampler
from service.errors import BadRequest, TooMany
from service.row_mapping import options_to_columns, problem_to_json
from service.schemas import check_size
from service.settings import Settings
from tuner.backend import tuning_for
from tuner.search.method import Method
from tuner.search.objective import (
    Objective,
    agreed,
    check_objective,
)
from tuner.search.problem_search import check_method
from tuner.session.budget import Budget
from tuner.session.job_spec import JobOptions
from tuner.shapes.shape import Shape

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class SetSearch:
    """Search options of every shape, as of a job; `objective` None is the method's default."""

    reuse: bool = True
    warm_start: bool = True
    method: str = Method.PORTFOLIO
    no_gain: int | None = None
    objective: Objective | None = None


@dataclass(frozen=True, slots=True)
class SetRequest:
    """A valid set of shapes. `seconds` is wall time of all its runs; `within` a fraction.

    With `reuse` shapes reuse known times, with `warm_start` they begin with good configurations of other
    problems; a shape stops after `no_gain` consecutive trials without a gain.
    """

    source: str
    shapes: tuple[Shape, ...]
    device: DeviceSpec
    trials: int
    seconds: float
    seed: int
    within: float
    reuse: bool = True
    warm_start: bool = True
    method: str = Method.PORTFOLIO
    no_gain: int | None = None
    objective: Objective = Objective.TIME

    @property
    def options(self) -> JobOptions:
        """Return the options of each shape's job; its trials are raised with each portion."""
        return JobOptions(
            budget=Budget(1, self.seconds, self.no_gain),
            seed=self.seed,
            search=self.method,
            objective=self.objective,
            reuse=self.reuse,
            warm_start=self.warm_start,
        )

    @property
    def hash(self) -> str:
        """Return the hash of the request; equal requests have equal hashes."""
        shapes = [[shape.problem, shape.weight] for shape in self.shapes]
        device = [self.device.id, self.device.driver or ""]
        how = [self.reuse, self.warm_start, self.method, self.no_gain, self.objective]
        return content_hash(["shapes", shapes, device, self.trials, self.seconds, self.seed, self.within, how])


def understand(
    source: str,
    shapes: tuple[Shape, ...],
    device: str,
    target: str | None,
    budget: tuple[int, float],
    seed: int,
    within: float,
    directory: DeviceDirectory,
    settings: Settings,
    search: SetSearch | None = None,
) -> SetRequest:
    """Resolve the device and check every shape against the rules.

    `budget` is trials and seconds over all shapes.

    Raises:
        BadRequest: a budget out of bounds or too small for the shapes, or a sampler that is not listed.
        RefusedByRule, CannotPredict, NotOnThisCpu: a shape or the device is refused; names it.
        UnknownSearch: there is no search or sampler of that name.
        ContraryObjective, NoEnergy: the search does not support the objective, or energy cannot be read.
    """
    trials, seconds = budget
    for name, value, most in (("trials", trials, settings.max_trials), ("seconds", seconds, settings.max_seconds)):
        if not 0 < value <= most:
            raise BadRequest(f"{name}: expected more than 0 and at most {most:,.12g}, got {value:,.12g}", rule="budget")
    no_gain = None if search is None else search.no_gain
    if no_gain is not None and not 1 <= no_gain < 2**31:
        raise BadRequest(f"no_gain: expected 1 to {2**31 - 1}, got {no_gain}", rule="budget")
    if trials < len(shapes):
        raise BadRequest(f"trials: expected at least one for each of {len(shapes)} shapes, got {trials}", rule="budget")
    if not 0 <= within <= 1:
        raise BadRequest(f"within: expected 0 to 100 percent, got {within:.0%}", rule="within")
    listed = directory.resolve(device, target)
    if not listed.runnable:
        tuning_for(listed.spec).check_predictable(listed.spec)
    _check_shapes(shapes, listed.spec, settings)
    how = SetSearch() if search is None else search
    check_sampler(how.method, settings)
    method, objective = agreed(how.method, how.objective)
    check_method(method, listed.spec, measured=listed.runnable)
    check_objective(objective, listed.spec.id, listed.no_energy)
    return SetRequest(
        source,
        shapes,
        listed.spec,
        trials,
        seconds,
        seed,
        within,
        how.reuse,
        how.warm_start,
        method,
        how.no_gain,
        objective,
    )


def _check_shapes(shapes: tuple[Shape, ...], spec: DeviceSpec, settings: Settings) -> None:
    faults: list[str] = []
    for number, shape in enumerate(shapes, start=1):
        try:
            check_size(shape.problem, settings)
            backend_for(spec).check_problem(shape.problem, spec)
        except BadRequest as fault:
            faults.append(f"shape {number}, {shape.problem}: {fault.detail}")
        except Refused as refusal:
            faults.append(f"shape {number}, {shape.problem}: rule {refusal.rule}: {refusal.message}")
    if faults:
        more = f"; {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        raise BadRequest(f"{'; '.join(faults[:_SHOWN])}{more}", rule="shapes")


def submit(session: Session, request: SetRequest, max_active: int) -> tuple[UUID, bool]:
    """Store a set and queue its jobs, or find the identical active one; also return whether it is new.

    Raises:
        TooMany: with its jobs more than `max_active` would be queued or running.
    """
    if (same := shape_sets.active_identical(session, request.hash)) is not None:
        return same, False
    counts = jobs.count_by_status(session)
    active = sum(counts.get(status, 0) for status in ACTIVE_STATUSES) + len(request.shapes)
    if active > max_active:
        raise TooMany(f"{active} jobs would be queued or running, {max_active} may be", rule="active-jobs")
    device = store_device(session, request.device)
    made = shape_sets.create(
        session,
        source=request.source,
        device_id=device.id,
        budget_trials=request.trials,
        budget_seconds=request.seconds,
        seed=request.seed,
        within=request.within,
        request_hash=request.hash,
    )
    for position, shape in enumerate(request.shapes):
        problem = problems.upsert(session, key=shape.problem.key, definition=problem_to_json(shape.problem))
        job = jobs.create(
            session,
            problem_id=problem.id,
            device_id=device.id,
            request_hash=content_hash([str(made.id), position]),
            **options_to_columns(request.options),
        )
        assert job is not None  # its request is of this set alone
        shape_sets.add_member(session, made.id, position, job.id, shape.weight, shape.name)
    session.flush()
    return made.id, True
