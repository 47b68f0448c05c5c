"""Bounds of a kernel: the fraction of what its device allows, and times of its parts, as `xetune explain` has them."""

from collections.abc import Iterator
from dataclasses import dataclass

from codegen import CodegenError, CpuConfig, GemmProblem, KernelConfig, XeConfig
from db.schema.job import Job
from db.schema.trial import Trial
from hal import DeviceSpec
from service.device_json import spec_from_json
from service.evidence import rates_of, roof_us
from service.gemm_json import config_from_json, problem_from_json
from tuner.errors import TunerError
from tuner.model.cpu_roof import CpuRates, cpu_roof
from tuner.model.xe import explain
from tuner.space.cpu.traffic import traffic

_SHOWN = 0.005  # of the longest part
_NEAR = 0.6  # of the time, from which a part is what bounds it


@dataclass(frozen=True, slots=True)
class Roof:
    """The least time that a device allows, in us, and the fraction of its rate that a kernel attains."""

    time_us: float
    fraction: float
    on_gpu: bool

    @property
    def exceeded(self) -> bool:
        """True if the kernel is faster than what the device allows by its facts or measured rates."""
        return self.fraction > 1


@dataclass(frozen=True, slots=True)
class Part:
    """Time of one part alone, in us; parts overlap, so that they do not add up."""

    name: str
    time_us: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """The parts, the longest first, the sentence that says which of them bounds the kernel, and their source."""

    parts: tuple[Part, ...]
    sentence: str
    basis: str

    @property
    def most_us(self) -> float:
        """The longest, whose unit all have."""
        return max(part.time_us for part in self.parts)


def roof_of(job: Job, time_us: float | None) -> Roof | None:
    """Return what the device of a job allows, against a time; None without one, and if it is not known."""
    least_us = None if time_us is None else roof_us(job.problem, job.device)
    if time_us is None or least_us is None:
        return None
    return Roof(least_us, least_us / time_us, job.device.kind != "cpu")


def bounds_of(job: Job, trial: Trial | None, time_us: float | None) -> Bounds | None:
    """Return what bounds a trial of a job; None without one or its time, and where facts of the device are unknown."""
    if trial is None or time_us is None:
        return None
    try:
        spec = spec_from_json(job.device.spec)
        if spec.emulates is not None:
            return None
        return _bounds(
            problem_from_json(job.problem.definition),
            config_from_json(trial.config),
            spec,
            rates_of(job.device),
            time_us,
        )
    except (CodegenError, TunerError, ValueError):  # unknown facts, or a row of another version
        return None


def _bounds(
    problem: GemmProblem, config: KernelConfig, spec: DeviceSpec, rates: CpuRates | None, time_us: float
) -> Bounds | None:
    match config:
        case CpuConfig():
            return None if rates is None else _of_cpu(problem, config, spec, rates, time_us)
        case XeConfig():
            return _of_gpu(problem, config, spec)


def _of_gpu(problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> Bounds:
    explained = explain(problem, config, spec)
    parts = sorted((Part(part.what, part.time_us) for part in explained.parts), key=lambda part: -part.time_us)
    shown = tuple(part for part in parts if part.time_us > _SHOWN * parts[0].time_us)
    return Bounds(shown, f"Bound by {parts[0].name}", f"predicted by model {explained.prediction.model_version}")


def _of_cpu(problem: GemmProblem, config: CpuConfig, spec: DeviceSpec, rates: CpuRates, time_us: float) -> Bounds:
    parts = sorted(_parts_of_cpu(problem, config, spec, rates), key=lambda part: -part.time_us)
    longest = parts[0]
    if longest.time_us >= _NEAR * time_us:
        sentence = f"Bound by {longest.name}"
    else:
        sentence = "Bound by none of these alone: loads from caches, packing and waiting take the rest"
    return Bounds((*parts, Part("the kernel", time_us)), sentence, "at the measured rates of this CPU")


def _parts_of_cpu(problem: GemmProblem, config: CpuConfig, spec: DeviceSpec, rates: CpuRates) -> Iterator[Part]:
    roof = cpu_roof(problem, spec, rates, config.strategy.isa)
    yield Part(f"multiplies ({roof.instruction})", roof.multiply_us)
    if not roof.memory_us:
        return
    yield Part("operands from memory, each once", roof.memory_us)
    loaded = traffic(problem, config, spec)
    if loaded and spec.l3_bytes is not None:  # of smaller caches, what is loaded may come from one that is not known
        name = f"estimated loads into {loaded[-1].level.name} by the loops"
        yield Part(name, loaded[-1].total / rates.bytes_per_s * 1e6)
