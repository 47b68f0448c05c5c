"""Description of a tuning job."""

from dataclasses import dataclass, fields

from codegen import GemmProblem
from hal import DeviceSpec
from tuner.search.method import Method, Objective
from tuner.session.bounds import Seed
from tuner.session.budget import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """Options of a job besides its problem and device. A new option of a job is a field here.

    Equal seeds and equal outcomes give equal proposals. With `reuse`, measurements of the same kernels from
    earlier jobs are reused; with `warm_start`, the search begins with configurations that are good for other
    problems or devices.
    """

    budget: Budget
    seed: Seed = 0
    search: str = Method.PORTFOLIO.value
    objective: Objective = Objective.TIME
    reuse: bool = True
    warm_start: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec(JobOptions):
    """A tuning job: the common description for requests, rows, workers and sessions.

    `device` has the facts of the device at the time of the request.
    """

    problem: GemmProblem
    device: DeviceSpec


def job_spec(options: JobOptions, problem: GemmProblem, device: DeviceSpec) -> JobSpec:
    """Return the job with these options."""
    values = {field.name: getattr(options, field.name) for field in fields(JobOptions)}
    return JobSpec(problem=problem, device=device, **values)
