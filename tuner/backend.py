"""The kernel backends as the tuner sees them, one row each: spaces, defaults, predictions, limits.

A row belongs to the row of `codegen.backend.BACKENDS` that it is keyed by.
"""

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from codegen import GemmProblem, KernelConfig
from codegen.backend import CPU, XE, AnyBackend, backend_for, backend_of
from hal import DeviceSpec, Timing
from tuner.errors import CannotPredict, NotOnThisCpu
from tuner.session.trial import Prediction

if TYPE_CHECKING:  # numpy, which services do without until they predict
    from tuner.model.xe import Predictions
    from tuner.space.space import Space
    from tuner.space.step import HeuristicStep

Config = TypeVar("Config")


class Tuning(Protocol[Config]):
    """Tuning functions of one backend. Stateless.

    Raises:
        Refused: by every function that takes a problem and a device; the problem or the device is refused.
    """

    @property
    def shares_host(self) -> bool:
        """True if kernels run on the CPUs that compile, so that compiling disturbs measuring."""
        ...

    @property
    def timing(self) -> Timing:
        """Timing settings for kernels without emulation."""
        ...

    def default(self, problem: GemmProblem, spec: DeviceSpec) -> Config:
        """Return the default configuration; always legal, and in the space.

        Raises:
            Refused: the problem or the device is refused, or nothing is legal.
        """
        ...

    def alternatives(self, problem: GemmProblem, spec: DeviceSpec) -> tuple[Config, ...]:
        """Return configurations in the space that are made like the default but for one decision which only a
        measurement can take; a search tries them after the default.

        Raises:
            Refused: the problem or the device is refused.
        """
        ...

    def explain_default(self, problem: GemmProblem, spec: DeviceSpec) -> "tuple[HeuristicStep, ...]":
        """Return the steps that led to the default, each with its reason."""
        ...

    def space(self, problem: GemmProblem, spec: DeviceSpec) -> "Space[Config]":
        """Return the legal configurations to search; deterministic."""
        ...

    def restrict(self, spec: DeviceSpec, given: Mapping[str, object]) -> DeviceSpec:
        """Return the device, restricted to features that the given fields of a configuration allow; of a CPU as it is,
        since `refit` takes the default of a given instruction set.
        """
        ...

    def match_threads(self, problem: GemmProblem, config: Config, given: Collection[str]) -> Config:
        """Return the configuration with the `threads` that a given block implies, unless they are given too."""
        ...

    def refit(self, problem: GemmProblem, config: Config, spec: DeviceSpec, given: Collection[str]) -> Config:
        """Return the configuration with the fields that are not `given` changed to fit those that are."""
        ...

    def adapt(self, config: Config, source: GemmProblem, problem: GemmProblem, spec: DeviceSpec) -> Config:
        """Return the configuration with the same choices for another shape.

        Raises:
            Refused: a rule of the problem or of the configuration.
        """
        ...

    def choices(self, config: Config, problem: GemmProblem, spec: DeviceSpec) -> tuple[object, ...]:
        """Return the choices of a configuration independent of sizes: equal for one kernel on several shapes."""
        ...

    def relaunch(self, config: Config, source: GemmProblem, problem: GemmProblem, spec: DeviceSpec) -> Config | None:
        """Return the configuration with the same binary for another shape; None where sizes are compiled in.

        Raises:
            Refused: the problem or its launch is refused, or it needs another binary.
        """
        ...

    def caches_bytes(self, spec: DeviceSpec) -> int:
        """Return the most that the last caches before memory can hold together; 0 if nothing is known of them."""
        ...

    def workspace_bytes(self, problem: GemmProblem, config: Config, spec: DeviceSpec) -> int:
        """Return the bytes of memory that a kernel needs beyond its operands."""
        ...

    def memory_bytes(self, problem: GemmProblem, config: Config, spec: DeviceSpec) -> int | None:
        """Return the bytes that cross the memory bus, according to the model; None without a model.

        Raises:
            CannotPredict: a fact of the device is unknown.
        """
        ...

    def least_us(self, problem: GemmProblem, spec: DeviceSpec) -> float:
        """Return a time in us that no kernel can beat, whatever the clock and the caches; 0 if none is known."""
        ...

    def check_predictable(self, spec: DeviceSpec) -> None:
        """Check that times can be predicted for a device that is not present.

        Raises:
            NotOnThisCpu: times are measured only.
            CannotPredict: the model lacks facts of the device; the message names each.
        """
        ...

    def predict(self, problem: GemmProblem, config: Config, spec: DeviceSpec) -> Prediction:
        """Return the predicted time of a configuration; raises as `check_predictable`."""
        ...

    def predict_space(self, problem: GemmProblem, spec: DeviceSpec, space: "Space[Config]") -> "Predictions":
        """Return the predicted times of a whole space; raises as `check_predictable`."""
        ...


AnyTuning = Tuning[KernelConfig]


@cache
def _xe() -> AnyTuning:
    from tuner.space.xe.backend import XeTuning

    row: Tuning[Any] = XeTuning()
    return cast(AnyTuning, row)


@cache
def _cpu() -> AnyTuning:
    from tuner.space.cpu.backend import CpuTuning

    row: Tuning[Any] = CpuTuning()
    return cast(AnyTuning, row)


TUNINGS: Mapping[AnyBackend, Callable[[], AnyTuning]] = {XE: _xe, CPU: _cpu}
"""Rows, imported at their first use. Each is called only with configurations and spaces of its own backend."""


def tuning_for(spec: DeviceSpec) -> AnyTuning:
    """Return the row of the backend that compiles for a device."""
    return TUNINGS[backend_for(spec)]()


def tuning_of(config: KernelConfig) -> AnyTuning:
    """Return the row of the backend that a configuration belongs to."""
    return TUNINGS[backend_of(config)]()


def is_predicted(spec: DeviceSpec) -> bool:
    """Return whether the model predicts times of a device that is present."""
    if spec.emulates is not None:
        return False
    try:
        tuning_for(spec).check_predictable(spec)
    except (CannotPredict, NotOnThisCpu):
        return False
    return True


def prediction_if_known(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Prediction | None:
    """Predict a configuration on a device that is present; None if the model does not cover it."""
    return tuning_of(config).predict(problem, config, spec) if is_predicted(spec) else None
