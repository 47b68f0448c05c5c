"""What a tuning job is asked for."""

from dataclasses import dataclass

from codegen import GemmProblem
from hal import DeviceSpec
from tuner.search.method import Method
from tuner.search.objective import Objective
from tuner.session.budget import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """What a job is asked for beside its problem and device. A new option of a job is a field here.

    Equal seeds and equal outcomes give equal proposals. With `reuse`, times that earlier jobs measured of the same
    kernels are taken; with `warm_start`, the search begins with configurations that are good for other problems or
    devices.
    """

    budget: Budget
    seed: int = 0
    search: str = Method.PORTFOLIO.value
    objective: Objective = Objective.TIME
    reuse: bool = True
    warm_start: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec(JobOptions):
    """A tuning job: the one description that requests, rows, workers and sessions share.

    `device` has the facts of the device as they were when the job was requested.
    """

    problem: GemmProblem
    device: DeviceSpec
