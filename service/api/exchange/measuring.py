"""Jobs that measure the configurations of a file: one for each problem and device."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codegen import GemmProblem, InvalidConfig, XeConfig
from codegen.xe.rules import check_problem
from hal import ListedDevice
from service.errors import BadRequest
from tuner.errors import InvalidFile, InvalidLine
from tuner.exchange.jsonl import Exchange
from tuner.exchange.parameters import config_of
from tuner.exchange.t1 import Specification
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec

Resolve = Callable[[str], ListedDevice]


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """A job that measures configurations of a problem on a local device, and their default."""

    job: JobSpec
    configs: tuple[XeConfig, ...]


def understand(exchange: Exchange, resolve: Resolve, device: str | None, seconds: float) -> list[MeasureRequest]:
    """Return the requests of a file of runners-up; `device` overrides the devices of the file.

    Raises:
        InvalidLine: the file has results in place of configurations to measure.
        BadRequest: there are none, or their device is not local.
        Refused: a legality rule refuses a problem on its device.
    """
    for line in exchange.trials.values():
        raise InvalidLine(line.number, "trial: expected configurations to measure, got results: `xetune import`")
    grouped: dict[tuple[str, str], list[XeConfig]] = {}
    for line in exchange.candidates.values():
        grouped.setdefault((line.record.problem, device or line.record.device), []).append(line.record.config)
    if not grouped:
        raise BadRequest("the file holds no configuration to measure; `xetune export --runners-up` writes them")
    return [
        _request(exchange.problems[problem].record, resolve(name), configs, seconds)
        for (problem, name), configs in grouped.items()
    ]


def understand_space(
    name: str, space: Specification, resolve: Resolve, device: str | None, seconds: float
) -> MeasureRequest:
    """Return the request of a T1 file: each configuration of its space.

    Raises:
        InvalidFile: its configurations are not XeTune's for GPUs.
        BadRequest: its device is not local.
        Refused: a legality rule refuses the problem on its device.
    """
    found: list[XeConfig] = []
    for parameters in space.configurations:
        try:
            config = config_of(parameters)
        except (ValueError, InvalidConfig) as error:
            raise InvalidFile(f"{name}: {error}") from error
        if not isinstance(config, XeConfig):
            raise InvalidFile(f"{name}: expected configurations for a GPU, got those for a CPU")
        found.append(config)
    return _request(space.source.problem, resolve(device or space.source.device), found, seconds)


def _request(problem: GemmProblem, device: ListedDevice, configs: Sequence[XeConfig], seconds: float) -> MeasureRequest:
    if not device.runnable:
        raise BadRequest(
            f"{device.spec.id} is not in this machine: take the file to where it is; "
            f"--device opencl-cpu-as-{device.spec.id} tries it here with emulated built-ins, whose times say nothing "
            "of it",
            rule="not-here",
        )
    check_problem(problem, device.spec)
    once = tuple(dict.fromkeys(configs))
    budget = Budget(len(once) + 1, seconds)  # and the default
    return MeasureRequest(JobSpec(problem=problem, device=device.spec, budget=budget), once)
