"""Jobs that measure the configurations of a file: one for each problem and device."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from codegen import GemmProblem, InvalidConfig, XeConfig
from codegen.serialization import content_hash
from codegen.xe.rules import check_problem
from db.queries import (
    jobs,
    problems,
)
from hal import ListedDevice
from service.api.devices.stored import store_device
from service.errors import BadRequest
from service.row_mapping import (
    config_to_json,
    problem_to_json,
)
from tuner.errors import InvalidFile, InvalidLine
from tuner.exchange.jsonl import Exchange
from tuner.exchange.parameters import config_of
from tuner.exchange.t1 import Specification

Resolve = Callable[[str], ListedDevice]
_SEED = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """Configurations of one problem to be measured on one local device."""

    problem: GemmProblem
    device: ListedDevice
    configs: tuple[XeConfig, ...]
    seconds: float

    @property
    def hash(self) -> str:
        """Return the hash of the request; equal requests have equal hashes."""
        spec, keys = self.device.spec, [config.key for config in self.configs]
        return content_hash(["measure", self.problem.key, spec.id, spec.driver or "", keys, self.seconds])


def understand(exchange: Exchange, resolve: Resolve, device: str | None, seconds: float) -> list[Asked]:
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
    here = {name: _runnable(resolve(name)) for _, name in grouped}
    asked = [
        Asked(exchange.problems[problem].record, here[name], tuple(dict.fromkeys(configs)), seconds)
        for (problem, name), configs in grouped.items()
    ]
    for of in asked:
        check_problem(of.problem, of.device.spec)
    return asked


def understand_space(name: str, space: Specification, resolve: Resolve, device: str | None, seconds: float) -> Asked:
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
    asked = Asked(space.source.problem, _runnable(resolve(device or space.source.device)), tuple(found), seconds)
    check_problem(asked.problem, asked.device.spec)
    return asked


def submit(session: Session, asked: Asked) -> UUID:
    """Queue the job, or return the identical one that is active."""
    device = store_device(session, asked.device.spec)
    problem = problems.upsert(session, key=asked.problem.key, definition=problem_to_json(asked.problem))
    made = jobs.create(
        session,
        problem_id=problem.id,
        device_id=device.id,
        budget_trials=len(asked.configs) + 1,  # and the default
        budget_seconds=asked.seconds,
        seed=_SEED,
        candidates=[config_to_json(config) for config in asked.configs],
        request_hash=asked.hash,
    )
    if made is None:
        same = jobs.active_identical(session, asked.hash)
        assert same is not None  # it kept the new one out, and this transaction sees it
        return same.id
    return made.id


def _runnable(device: ListedDevice) -> ListedDevice:
    if not device.runnable:
        raise BadRequest(
            f"{device.spec.id} is not in this machine: take the file to where it is; "
            f"--device opencl-cpu-as-{device.spec.id} tries it here with emulated built-ins, whose times say nothing "
            "of it",
            rule="not-here",
        )
    return device
