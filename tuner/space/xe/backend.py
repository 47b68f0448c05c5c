"""Tuning of Intel GPUs: times are measured, or predicted by a model."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen import Extent, GemmProblem, SlmOperands, XeConfig
from codegen.xe.rules import tiles_of
from codegen.xe.workspace import scratch
from hal import DeviceSpec, Timing, Use, readiness
from tuner.errors import CannotPredict
from tuner.model.traffic import memory_bytes
from tuner.model.xe import l2_size
from tuner.model.xe.roof import least_us
from tuner.session.trial import Prediction
from tuner.space.step import HeuristicStep
from tuner.space.xe.adapt import adapt, choices
from tuner.space.xe.relaunch import code_of, relaunched

if TYPE_CHECKING:
    from tuner.model.xe import Predictions
    from tuner.space.space import Space

# Modules that import numpy are imported by the functions that need them: to check a request needs none.


class XeTuning:
    """A row of `tuner.backend.TUNINGS`; see `tuner.backend.Tuning` for the functions."""

    shares_host = False
    timing = Timing()

    def default(self, problem: GemmProblem, spec: DeviceSpec) -> XeConfig:
        from tuner.space.xe.heuristic import default_config

        return default_config(problem, spec)

    def alternatives(self, problem: GemmProblem, spec: DeviceSpec) -> tuple[XeConfig, ...]:
        return ()

    def explain_default(self, problem: GemmProblem, spec: DeviceSpec) -> tuple[HeuristicStep, ...]:
        from tuner.space.xe.heuristic import explain_default

        return explain_default(problem, spec).steps

    def space(self, problem: GemmProblem, spec: DeviceSpec) -> "Space[XeConfig]":
        from tuner.space.xe.space import xe_space

        return xe_space(problem, spec)

    def restrict(self, spec: DeviceSpec, given: Mapping[str, object]) -> DeviceSpec:
        return spec

    def match_threads(self, problem: GemmProblem, config: XeConfig, given: Collection[str]) -> XeConfig:
        if "block" not in given or "threads" in given:
            return config
        threads = Extent(*tiles_of(problem, config), config.matmul.threads.k)
        return replace(config, matmul=replace(config.matmul, threads=threads))

    def refit(self, problem: GemmProblem, config: XeConfig, spec: DeviceSpec, given: Collection[str]) -> XeConfig:
        from tuner.space.xe.refit import refit_xe

        return refit_xe(problem, config, spec, given)

    def adapt(self, config: XeConfig, source: GemmProblem, problem: GemmProblem, spec: DeviceSpec) -> XeConfig:
        return adapt(config, source, problem, spec)

    def choices(self, config: XeConfig, problem: GemmProblem, spec: DeviceSpec) -> tuple[object, ...]:
        return choices(config, problem, spec)

    def relaunch(
        self, config: XeConfig, source: GemmProblem, problem: GemmProblem, spec: DeviceSpec
    ) -> XeConfig | None:
        code = code_of(config, source, spec)
        return None if code is None else relaunched(config, code, problem, spec)

    def caches_bytes(self, spec: DeviceSpec) -> int:
        l2 = 0 if spec.l2_bytes is None and spec.xe_cores is None else l2_size(spec).most
        return l2 + (spec.memory_side_cache_bytes or 0)

    def workspace_bytes(self, problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> int:
        """Return the bytes of partial sums in memory, and of tiles and sums in shared local memory."""
        block, slm = config.matmul.block, config.strategy.slm
        a = block.m * block.k * problem.dtype_a.nbytes if slm in (SlmOperands.A, SlmOperands.BOTH) else 0
        columns = block.n * problem.products
        b = block.k * columns * problem.dtype_b.nbytes if slm in (SlmOperands.B, SlmOperands.BOTH) else 0
        parts = config.strategy.k_subgroups
        sums = parts * block.m * columns * problem.dtype_acc.nbytes if parts > 1 else 0
        return sum(buffer.nbytes for buffer in scratch(problem, config)) + config.strategy.slm_stages * (a + b) + sums

    def memory_bytes(self, problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> int:
        return memory_bytes(problem, config, spec)

    def least_us(self, problem: GemmProblem, spec: DeviceSpec) -> float:
        return least_us(problem, spec)

    def check_predictable(self, spec: DeviceSpec) -> None:
        missing = next(ready.missing for ready in readiness(spec) if ready.use is Use.PREDICT)
        if missing:
            raise CannotPredict(spec.name, *missing)

    def predict(self, problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> Prediction:
        from tuner.space.xe.space_prediction import predict_xe

        return predict_xe(problem, config, spec)

    def predict_space(self, problem: GemmProblem, spec: DeviceSpec, space: "Space[XeConfig]") -> "Predictions":
        from tuner.space.xe.space_prediction import predict_xe_space

        return predict_xe_space(problem, spec, space)
