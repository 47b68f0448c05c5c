"""Tuning of x86 CPUs: kernels are timed on the machine itself, which also compiles them; there is no model."""

from collections.abc import Collection, Mapping
from typing import NoReturn

from codegen import CpuConfig, GemmProblem
from codegen.cpu.emit.workspace import workspace_of
from codegen.cpu.rules import CpuCase, check_cpu_problem
from hal import DeviceSpec, Timing
from tuner.errors import NotOnThisCpu
from tuner.model import cpu_peak
from tuner.space.cpu.adapt import adapt, choices
from tuner.space.cpu.heuristic import alternative_cpu_configs, default_cpu_config, explain_cpu_default
from tuner.space.cpu.refit import refit
from tuner.space.cpu.space import cpu_space
from tuner.space.space import Space
from tuner.space.step import HeuristicStep


class CpuTuning:
    """A row of `tuner.backend.TUNINGS`; see `tuner.backend.Tuning` for the functions."""

    shares_host = True
    # A call settles within a few launches, and the best are measured again, interleaved.
    timing = Timing(warmup_s=0.0, min_samples=15, min_time_s=0.08, max_time_s=1.0)

    def default(self, problem: GemmProblem, spec: DeviceSpec) -> CpuConfig:
        return default_cpu_config(problem, spec)

    def alternatives(self, problem: GemmProblem, spec: DeviceSpec) -> tuple[CpuConfig, ...]:
        return alternative_cpu_configs(problem, spec)

    def explain_default(self, problem: GemmProblem, spec: DeviceSpec) -> tuple[HeuristicStep, ...]:
        return explain_cpu_default(problem, spec).steps

    def space(self, problem: GemmProblem, spec: DeviceSpec) -> Space[CpuConfig]:
        return cpu_space(problem, spec)

    def restrict(self, spec: DeviceSpec, given: Mapping[str, object]) -> DeviceSpec:
        return spec

    def match_threads(self, problem: GemmProblem, config: CpuConfig, given: Collection[str]) -> CpuConfig:
        return config

    def refit(self, problem: GemmProblem, config: CpuConfig, spec: DeviceSpec, given: Collection[str]) -> CpuConfig:
        return refit(problem, config, spec, given)

    def adapt(self, config: CpuConfig, source: GemmProblem, problem: GemmProblem, spec: DeviceSpec) -> CpuConfig:
        return adapt(config, source, problem, spec)

    def choices(self, config: CpuConfig, problem: GemmProblem, spec: DeviceSpec) -> tuple[object, ...]:
        return choices(config, problem, spec)

    def relaunch(self, config: CpuConfig, source: GemmProblem, problem: GemmProblem, spec: DeviceSpec) -> None:
        return None

    def caches_bytes(self, spec: DeviceSpec) -> int:
        """Return the bytes of all last-level caches: a CPU may have several, each of some cores."""
        for each, sharing in ((spec.l3_bytes, spec.cores_per_l3), (spec.l2_bytes, spec.cores_per_l2)):
            if each is not None:
                return each * (-(-spec.cores // sharing) if spec.cores is not None and sharing is not None else 1)
        return 0

    def workspace_bytes(self, problem: GemmProblem, config: CpuConfig, spec: DeviceSpec) -> int:
        return workspace_of(CpuCase(check_cpu_problem(problem, spec), config).plan).nbytes

    def memory_bytes(self, problem: GemmProblem, config: CpuConfig, spec: DeviceSpec) -> None:
        return None

    def least_us(self, problem: GemmProblem, spec: DeviceSpec) -> float:
        return cpu_peak.least_us(problem, spec)

    def check_predictable(self, spec: DeviceSpec) -> NoReturn:
        raise NotOnThisCpu(spec.id)

    def predict(self, problem: GemmProblem, config: CpuConfig, spec: DeviceSpec) -> NoReturn:
        self.check_predictable(spec)

    def predict_space(self, problem: GemmProblem, spec: DeviceSpec, space: Space[CpuConfig]) -> NoReturn:
        self.check_predictable(spec)
