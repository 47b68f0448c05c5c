"""Times that are known from earlier jobs: who is asked for them, and when one is taken in place of a measurement.

Times of different days are not compared as they are. The default is measured in every job, so that a known time can be
put on today's scale: it is multiplied with how long the default takes now over how long it took in the job that the
time is from. What then is near enough to the best to be a finalist is measured anew: nothing wins by an old time.
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
    Source,
    Status,
)


@dataclass(frozen=True, slots=True)
class KnownTime:
    """What trial `number` of an earlier job measured, of the very binary, launch, device and driver."""

    job: str
    number: int
    measurement: Measurement
    proof: Proof
    kernel_hash: str


class Known(Protocol):
    """The known times of a job's problem on its device. Used by one session at a time; asked before any transaction."""

    def of_config(self, config: KernelConfig) -> KnownTime | None:
        """The time of the kernel that a configuration compiles to, if that is known without compiling."""
        ...

    def of_kernel(self, artifact: AnyArtifact) -> KnownTime | None:
        """The time of a kernel, whatever made it: other versions may have written the same binary."""
        ...

    def scale(self, known: KnownTime) -> float | None:
        """How long the default takes now over how long it took in that job; None when either did not measure it."""
        ...


class Reuse:
    """Decides for one session which known times it takes. `source` names where the last one that was taken is from.

    One that weighs energy, `with_energy`, takes no time that is known without it.
    """

    def __init__(self, known: Known | None, *, with_energy: bool = False) -> None:
        self._known, self._with_energy = known, with_energy
        self._found: dict[KernelConfig, KnownTime] = {}
        self.source: Source | None = None

    def knows(self, config: KernelConfig) -> bool:
        """Whether a configuration need not be compiled to know its time."""
        found = self._known.of_config(config) if self._known is not None else None
        if found is not None:
            self._found[config] = found
        return found is not None

    def of_config(self, config: KernelConfig, best_us: float | None, prediction: Prediction | None) -> Outcome | None:
        """The outcome of a configuration by its known time; None if there is none, or if it may win."""
        self.source = None
        return self._take(self._found.pop(config, None), best_us, prediction)

    def of_kernel(self, artifact: AnyArtifact, best_us: float | None, prediction: Prediction | None) -> Outcome | None:
        """The outcome of a kernel by its known time; None if there is none, or if it may win."""
        self.source = None
        return self._take(self._known.of_kernel(artifact) if self._known is not None else None, best_us, prediction)

    def _take(self, found: KnownTime | None, best_us: float | None, prediction: Prediction | None) -> Outcome | None:
        scale = self._known.scale(found) if self._known is not None and found is not None else None
        if found is None or scale is None or best_us is None:
            return None
        if self._with_energy and found.measurement.energy_uj is None:
            return None
        # It may be among the finalists; its least time says so, as a median of few samples may be of one disturbance.
        if found.measurement.min_us * scale <= best_us * NEAR:
            return None
        self.source = Source(found.job, found.number, scale)
        return Outcome(
            Status.MEASURED,
            proof=found.proof,
            measurement=found.measurement,
            prediction=prediction,
            kernel_hash=found.kernel_hash,
        )
