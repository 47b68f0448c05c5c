"""Reuse of times from earlier jobs: their lookup, and the rule for using one instead of a measurement.

Times of different days are not compared directly. Every job measures the default, so that a known time can be
scaled: it is multiplied by the default's time now over the default's time in the job of the known time. A
kernel whose scaled time is near enough to the best to be a finalist is measured again: a reused time never
wins.
"""

from dataclasses import dataclass
from typing import Protocol

from codegen import AnyArtifact, KernelConfig
from tuner.measure.finalists import NEAR
from tuner.session.trial import (
    Measurement,
    Outcome,
    Prediction,
    Proof,
    ReusedFrom,
    Status,
)


@dataclass(frozen=True, slots=True)
class KnownTime:
    """Measurement by trial `number` of an earlier job, with the same binary, launch, device and driver."""

    job: str
    number: int
    measurement: Measurement
    proof: Proof
    kernel_hash: str


class KnownTimes(Protocol):
    """Known times of a job's problem on its device. Used by one session at a time; called outside of transactions."""

    def of_config(self, config: KernelConfig) -> KnownTime | None:
        """Return the time of the kernel that a configuration compiles to, if that is known without compiling."""
        ...

    def of_kernel(self, artifact: AnyArtifact) -> KnownTime | None:
        """Return the time of a kernel, whatever compiled it: other versions may have generated the same binary."""
        ...

    def scale(self, known: KnownTime) -> float | None:
        """Return the default's time now over its time in that job; None when either did not measure it."""
        ...


class Reuse:
    """Selection of known times to reuse, for one session. `source` names the origin of the last one that was reused.

    With `with_energy`, times without an energy are not reused.
    """

    def __init__(self, known: KnownTimes | None, *, with_energy: bool = False) -> None:
        self._known, self._with_energy = known, with_energy
        self._found: dict[KernelConfig, KnownTime] = {}
        self.source: ReusedFrom | None = None

    def knows(self, config: KernelConfig) -> bool:
        """Return whether the time of a configuration is known without compiling it."""
        found = self._known.of_config(config) if self._known is not None else None
        if found is not None:
            self._found[config] = found
        return found is not None

    def of_config(self, config: KernelConfig, best_us: float | None, prediction: Prediction | None) -> Outcome | None:
        """Return the outcome of a configuration by its known time; None if there is none, or if it may win."""
        self.source = None
        return self._take(self._found.pop(config, None), best_us, prediction)

    def of_kernel(self, artifact: AnyArtifact, best_us: float | None, prediction: Prediction | None) -> Outcome | None:
        """Return the outcome of a kernel by its known time; None if there is none, or if it may win."""
        self.source = None
        return self._take(self._known.of_kernel(artifact) if self._known is not None else None, best_us, prediction)

    def _take(self, found: KnownTime | None, best_us: float | None, prediction: Prediction | None) -> Outcome | None:
        scale = self._known.scale(found) if self._known is not None and found is not None else None
        if found is None or scale is None or best_us is None:
            return None
        if self._with_energy and found.measurement.energy_uj is None:
            return None
        # It may be a finalist, judged by its least time: a median of few samples may stem from one disturbance.
        if found.measurement.min_us * scale <= best_us * NEAR:
            return None
        self.source = ReusedFrom(found.job, found.number, scale)
        return Outcome(
            Status.MEASURED,
            proof=found.proof,
            measurement=found.measurement,
            prediction=prediction,
            kernel_hash=found.kernel_hash,
        )
