"""From a request to a queued job: the request is validated first, then stored in one short transaction."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from codegen import GemmProblem, KernelConfig
from codegen.backend import backend_for
from codegen.serialization import content_hash
from db.queries import (
    jobs,
    problems,
)
from db.schema.job import ACTIVE_STATUSES, Job
from hal import DeviceSpec, ListedDevice, runs_own_code
from service.api.audit.log import record
from service.api.audit.schemas import Outcome
from service.api.devices.directory import DeviceDirectory
from service.api.devices.elsewhere import store_device
from service.api.jobs.schemas import (
    BudgetBody,
    JobBody,
    SearchOptions,
)
from service.api.keys.caller import Caller
from service.errors import BadRequest, FieldError, TooMany
from service.gemm_json import config_to_json, problem_to_json
from service.row_mapping import options_to_columns
from service.schemas import check_size, to_problem
from service.settings import Settings
from service.telemetry.loggers import current_request
from tuner.backend import tuning_for
from tuner.model.roof import roof_us
from tuner.search.method import (
    agreed,
    check_method,
    check_objective,
)
from tuner.session.budget import Budget
from tuner.session.job_spec import JobOptions, JobSpec, job_spec


def understand(body: JobBody, directory: DeviceDirectory, settings: Settings) -> JobSpec:
    """Validate a body: resolve its device and check every rule of the problem; also raises as `read_options`.

    Raises:
        InvalidProblem: the problem contradicts itself.
        Refused: a legality rule refuses the problem on the device.
        CannotPredict: the device is not local, and the model lacks facts of it.
        NotOnThisCpu: the device is a CPU other than this one.
        NoRoofline: a fraction of it was requested, and that of the device is unknown.
    """
    problem = to_problem(body.problem)
    listed = directory.resolve(body.device, body.target)
    check_problem(problem, listed.spec, settings)
    options = read_options(body, body.budget, listed, settings)
    if options.budget.roofline is not None:
        check_roofline(problem, listed)
    return job_spec(options, problem, listed.spec)


def check_roofline(problem: GemmProblem, listed: ListedDevice) -> None:
    """Check that a device has a roofline, or will have: the rates of a CPU are measured when it is first used.

    Raises:
        NoRoofline: that of the device is unknown.
    """
    if not (listed.runnable and runs_own_code(listed.spec)):
        roof_us(problem, listed.spec)


def read_options(body: SearchOptions, budget: BudgetBody, listed: ListedDevice, settings: Settings) -> JobOptions:
    """Validate the options of a job on a device.

    Raises:
        BadRequest: a budget out of bounds, or a sampler that is not listed.
        CannotPredict, NotOnThisCpu: the device is not local, and its times cannot be predicted.
        UnknownSearch: there is no search or sampler of that name.
        NoPredictions: the search begins with predicted times, and there are none.
        ContraryObjective: the search does not support that objective.
        NoEnergy: energy is an objective and cannot be read.
    """
    check_budget(budget, settings)
    if not listed.runnable:
        tuning_for(listed.spec).check_predictable(listed.spec)
    check_sampler(body.search, settings)
    method, objective = agreed(body.search, body.objective)
    check_method(method, listed.spec, measured=listed.runnable)
    check_objective(objective, listed.spec.id, listed.no_energy)
    options = {name: getattr(body, name) for name in SearchOptions.model_fields}
    options |= {"search": method, "objective": objective}
    return JobOptions(budget=Budget(**budget.model_dump()), **options)


def check_problem(problem: GemmProblem, spec: DeviceSpec, settings: Settings) -> None:
    """Check that a problem is within the service's bounds and legal on a device.

    Raises:
        BadRequest: rule `problem-bytes`.
        Refused: by a legality rule.
    """
    check_size(problem, settings)
    backend_for(spec).check_problem(problem, spec)


def check_sampler(search: str, settings: Settings) -> None:
    """Return if a search imports no code of a user, or a sampler that the settings list.

    Raises:
        BadRequest: rule `sampler`.
    """
    if ":" in search and not settings.allows_sampler(search):
        message = f"expected a sampler that XETUNE_SAMPLERS of the service lists, got {search!r}"
        fault = FieldError(field="search", message=message)
        raise BadRequest(f"search: {message}", rule="sampler", errors=[fault])


def request_hash(job: JobSpec, configs: Sequence[KernelConfig] = ()) -> str:
    """Return the hash of a request; equal requests have equal hashes."""
    device = [job.device.id, job.device.driver or ""]
    return content_hash([job.problem, device, options_to_columns(job), [config.key for config in configs]])


def submit(
    session: Session,
    job: JobSpec,
    max_active: int,
    by: Caller,
    *,
    configs: Sequence[KernelConfig] = (),
    binary_of: UUID | None = None,
    retry_of: UUID | None = None,
) -> tuple[Job, bool]:
    """Queue a job, or find the identical active one, with an event of the audit log; also return whether it is new.

    A job with configurations measures these, without a search; one that is `binary_of` a kernel builds its native
    binary; `retry_of` is the job that it does again.

    Raises:
        TooMany: `max_active` jobs are queued or running already.
    """
    found, is_new = _submit(session, job, max_active, configs, binary_of)
    outcome = Outcome.DONE if is_new else Outcome.UNCHANGED
    if retry_of is None:
        record(session, by, "job.create", found.id, outcome)
    else:
        if is_new:
            jobs.set_retry(session, found.id, retry_of)
        record(session, by, "job.retry", found.id, outcome)
    return found, is_new


def _submit(
    session: Session, job: JobSpec, max_active: int, configs: Sequence[KernelConfig], binary_of: UUID | None
) -> tuple[Job, bool]:
    digest = request_hash(job, configs) if binary_of is None else content_hash(["binary", str(binary_of)])
    if (same := jobs.active_identical(session, digest)) is not None:
        return same, False
    counts = jobs.count_by_status(session)
    active = sum(counts.get(status, 0) for status in ACTIVE_STATUSES)
    if active >= max_active:
        raise TooMany(f"{active} jobs are queued or running; wait for some to end or cancel them", rule="active-jobs")
    # Imported here: a request that is only checked, or has a job, starts no trace.
    from service.telemetry.traces import trace_here

    device = store_device(session, job.device)
    problem = problems.upsert(session, key=job.problem.key, definition=problem_to_json(job.problem))
    while True:
        made = jobs.create(
            session,
            problem_id=problem.id,
            device_id=device.id,
            request_hash=digest,
            request_id=current_request.get(),
            traceparent=trace_here(),
            candidates=[config_to_json(config) for config in configs] or None,
            kernel_id=binary_of,
            **options_to_columns(job),
        )
        if made is not None:
            return made, True
        # Another transaction queued it meanwhile; if that one ended already, there is room again.
        if (same := jobs.active_identical(session, digest)) is not None:
            return same, False


def check_budget(budget: BudgetBody | Budget, settings: Settings) -> None:
    """Check that a job takes no more than the service allows.

    Raises:
        BadRequest: rule `budget`.
    """
    for name, value, most, unit in (
        ("trials", budget.trials, settings.max_trials, "trials"),
        ("seconds", budget.seconds, settings.max_seconds, "seconds"),
    ):
        if not 0 < value <= most:
            message = f"expected more than 0 and at most {most:,.12g} {unit}, got {value:,.12g}"
            fault = FieldError(field=f"budget.{name}", message=message)
            raise BadRequest(f"budget.{name}: {message}", rule="budget", errors=[fault])
