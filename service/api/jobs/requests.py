"""From a request to a queued job: the request is validated first, then stored in one short transaction."""

from sqlalchemy.orm import Session

from codegen.backend import backend_for
from codegen.serialization import content_hash
from db.queries import (
    jobs,
    problems,
)
from db.schema import (
    ACTIVE_STATUSES,
    Job,
)
from service.api.devices.service import DeviceDirectory
from service.api.devices.stored import store_device
from service.api.jobs.schemas import (
    BudgetBody,
    JobBody,
)
from service.errors import BadRequest, FieldError, TooMany
from service.logs import request_here
from service.row_mapping import options_to_columns, problem_to_json
from service.schemas import check_size, to_problem
from service.settings import Settings
from service.traces import trace_here
from tuner.backend import tuning_for
from tuner.search.objective import (
    agreed,
    check_objective,
)
from tuner.search.problem_search import check_method
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec


def understand(body: JobBody, directory: DeviceDirectory, settings: Settings) -> JobSpec:
    """Validate a body: resolve its device and check every rule of the problem.

    Raises:
        BadRequest: a budget or a problem out of bounds, an unknown device, or a sampler that is not listed.
        InvalidProblem: the problem contradicts itself.
        Refused: a legality rule refuses the problem on the device.
        CannotPredict: the device is not local, and the model lacks facts of it.
        NotOnThisCpu: the device is a CPU other than this one.
        NoRoofline: a fraction of it was requested, and that of the device is unknown.
        UnknownSearch: there is no search or sampler of that name.
        NoPredictions: the search begins with predicted times, and there are none.
        ContraryObjective: the search does not support that objective.
        NoEnergy: energy is an objective and cannot be read.
    """
    _check_budget(body.budget, settings)
    problem = to_problem(body.problem)
    check_size(problem, settings)
    listed = directory.resolve(body.device, body.target)
    backend_for(listed.spec).check_problem(problem, listed.spec)
    if not listed.runnable:
        tuning_for(listed.spec).check_predictable(listed.spec)
    budget = body.budget
    if budget.roofline is not None:
        tuning_for(listed.spec).roof_us(problem, listed.spec)
    check_sampler(body.search, settings)
    method, objective = agreed(body.search, body.objective)
    check_method(method, listed.spec, measured=listed.runnable)
    check_objective(objective, listed.spec.id, listed.no_energy)
    asked = body.model_dump(exclude={"problem", "device", "target", "budget", "search", "objective"})
    limits = Budget(**budget.model_dump())
    return JobSpec(problem=problem, device=listed.spec, budget=limits, search=method, objective=objective, **asked)


def check_sampler(search: str, settings: Settings) -> None:
    """Return if a search imports no code of a user, or a sampler that the settings list.

    Raises:
        BadRequest: rule `sampler`.
    """
    if ":" in search and not settings.allows_sampler(search):
        message = f"expected a sampler that XETUNE_SAMPLERS of the service lists, got {search!r}"
        fault = FieldError(field="search", message=message)
        raise BadRequest(f"search: {message}", rule="sampler", errors=[fault])


def request_hash(job: JobSpec) -> str:
    """Return the hash of a request; equal requests have equal hashes."""
    device = [job.device.id, job.device.driver or ""]
    return content_hash([job.problem, device, options_to_columns(job)])


def submit(session: Session, job: JobSpec, max_active: int) -> tuple[Job, bool]:
    """Queue a job, or find the identical active one; also return whether it is new.

    Raises:
        TooMany: `max_active` jobs are queued or running already.
    """
    digest = request_hash(job)
    if (same := jobs.active_identical(session, digest)) is not None:
        return same, False
    counts = jobs.count_by_status(session)
    active = sum(counts.get(status, 0) for status in ACTIVE_STATUSES)
    if active >= max_active:
        raise TooMany(f"{active} jobs are queued or running; wait for some to end or cancel them", rule="active-jobs")
    device = store_device(session, job.device)
    problem = problems.upsert(session, key=job.problem.key, definition=problem_to_json(job.problem))
    while True:
        made = jobs.create(
            session,
            problem_id=problem.id,
            device_id=device.id,
            request_hash=digest,
            request_id=request_here(),
            traceparent=trace_here(),
            **options_to_columns(job),
        )
        if made is not None:
            return made, True
        # Another transaction queued it meanwhile; if that one ended already, there is room again.
        if (same := jobs.active_identical(session, digest)) is not None:
            return same, False


def _check_budget(budget: BudgetBody, settings: Settings) -> None:
    for name, value, most, unit in (
        ("trials", budget.trials, settings.max_trials, "trials"),
        ("seconds", budget.seconds, settings.max_seconds, "seconds"),
    ):
        if not 0 < value <= most:
            message = f"expected more than 0 and at most {most:,.12g} {unit}, got {value:,.12g}"
            fault = FieldError(field=f"budget.{name}", message=message)
            raise BadRequest(f"budget.{name}: {message}", rule="budget", errors=[fault])
