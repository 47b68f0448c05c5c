"""A trial, its outcome, and the evidence of its result."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from tuner.session.bounds import (
    Count,
    Factor,
    Microseconds,
    Name,
    NotNegative,
    Positive,
    Seconds,
    Sha256,
    Text,
    Uuid,
)

if TYPE_CHECKING:  # compilers and numpy, which lists of trials do without
    from codegen import AnyArtifact, KernelConfig


class Status(StrEnum):
    """Outcome of a configuration."""

    MEASURED = "measured"
    PREDICTED = "predicted"
    REJECTED = "rejected"
    COMPILE_FAILED = "compile_failed"
    WRONG_RESULT = "wrong_result"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"


class ProofKind(StrEnum):
    """Place where the kernel's results were compared with the reference."""

    DEVICE = "device"
    OPENCL_CPU = "opencl_cpu"
    MACHINE_CODE = "machine_code"  # of Intel's compiler, executed by an interpreter
    SIMULATOR = "simulator"
    NONE = "none"


class ProofMethod(StrEnum):
    """Method of comparing outputs with the reference."""

    ELEMENTS = "elements"  # each element of the tiles that count as checked
    FREIVALDS = "freivalds"  # a sample of tiles by elements, and all of C by sums with random signs


@dataclass(frozen=True, slots=True)
class Proof:
    """Evidence of correctness: `checked` of `total` tiles of C agreed with numpy float64, and so did other outputs.

    `max_error` is the largest |output - reference| over compared elements and `tolerance` its bound, both
    absolute. By Freivalds' method the tiles that were not compared element by element agreed in signed sums.
    `refusal` says why the simulator took the place of the interpreter of machine code; None where it did not.
    """

    kind: ProofKind
    checked: Count = 0
    total: Count = 0
    max_error: NotNegative | None = None
    tolerance: NotNegative | None = None
    method: ProofMethod = ProofMethod.ELEMENTS
    refusal: Text | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """Times in microseconds from the device's clock. `label` is "DPAS emulated" or "native".

    `samples` exclude the first tenth. `first_ratio` is the very first sample over the median. A measurement
    that was `stopped_early`, because the kernel was hopeless, has only a few samples. `energy_uj` is the mean
    energy of a launch, idle power included. Unknown values, such as the clock or the energy of a device that
    does not report it, are None.
    """

    median_us: float
    min_us: Microseconds
    p10_us: float
    p90_us: float
    samples: Positive
    label: str
    driver: str
    stopped_early: bool | None = None
    first_ratio: Factor | None = None
    clock_mhz: Factor | None = None
    energy_uj: Factor | None = None


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted time in microseconds, with its interval.

    Of times that the model cannot tell apart, the kernel with the least `burden` is preferred.
    """

    time_us: float
    low_us: Microseconds
    high_us: float
    model_version: Name
    burden: NotNegative = 0.0


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Evidence that version `driver` of Intel's GPU driver, simulating `chip`, built the kernel and took its launch.

    Nothing was executed. `log` is the log of the build, None if it is empty.
    """

    driver: Name
    chip: Name
    log: Text | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a trial. `reason` names the rule or the finding when it has no time.

    A measured trial also has the model's prediction, if there is one. `compile_s`, `verify_s` and `measure_s` are
    wall time.
    """

    status: Status
    reason: Text | None = None
    proof: Proof = Proof(ProofKind.NONE)
    measurement: Measurement | None = None
    prediction: Prediction | None = None
    acceptance: Acceptance | None = None
    kernel_hash: Sha256 | None = None
    compile_s: Seconds = 0.0
    verify_s: Seconds = 0.0
    measure_s: Seconds = 0.0

    def __post_init__(self) -> None:
        if (self.status is Status.MEASURED) != (self.measurement is not None):
            raise ValueError("a measurement goes with status measured and only that")
        timed = (Status.PREDICTED, Status.MEASURED) if self.prediction is not None else (Status.PREDICTED,)
        if (self.status in timed) != (self.prediction is not None):
            raise ValueError("status predicted has a prediction, measured may have one, and no other has")
        if (self.reason is None) != (self.status in (Status.MEASURED, Status.PREDICTED)):
            raise ValueError(f"status {self.status.value} and reason {self.reason!r} contradict each other")

    @property
    def time_us(self) -> float | None:
        """Measured median or predicted time; None when there is neither."""
        if self.measurement is not None:
            return self.measurement.median_us
        return self.prediction.time_us if self.prediction is not None else None


@dataclass(frozen=True, slots=True)
class ReusedFrom:
    """The trial of an earlier job whose measurement a trial reuses. `scale` converts its times to this job:
    the default's time now over the default's time then.
    """

    job: Uuid
    number: Count
    scale: Factor


@dataclass(frozen=True, slots=True)
class Trial:
    """One configuration of a job. Number 0 is the baseline. `outcome` is None until it ends.

    A trial with a `source` was not measured: its outcome has the unscaled measurement of that trial.
    `proposer` names the method that chose the configuration; None if not recorded.
    """

    number: int
    config: "KernelConfig"
    outcome: Outcome | None = None
    source: ReusedFrom | None = None
    proposer: str | None = None

    @property
    def time_us(self) -> float | None:
        """Time, comparable with those of the same job; None if there is none."""
        time_us = self.outcome.time_us if self.outcome is not None else None
        return time_us if time_us is None or self.source is None else time_us * self.source.scale


class TrialStore(Protocol):
    """Trials of one job. Calls are short transactions; used by one session at a time."""

    def trials(self) -> list[Trial]:
        """Return all trials in order of number; those without an outcome were begun and not ended."""
        ...

    def begin(self, number: int, config: "KernelConfig", proposer: str | None = None) -> None:
        """Record that a trial begins, before any work on it, and its proposer.

        Raises:
            ValueError: the job has that number or that configuration already.
        """
        ...

    def end(
        self, number: int, outcome: Outcome, artifact: "AnyArtifact | None", following: Trial | None = None
    ) -> bool:
        """Record the outcome of a trial, with its kernel when it has one. Allowed once: replaces nothing.

        Return whether the `following` trial began in the same transaction: it does, unless the job was asked to stop.
        """
        ...

    def reuse(self, number: int, outcome: Outcome, source: ReusedFrom, artifact: "AnyArtifact | None") -> None:
        """Record that a trial reuses the measurement of an earlier job's; its kernel is that trial's if none is given.

        Raises:
            ValueError: it was not begun or has ended, or the outcome is not a measurement.
        """
        ...

    def spent_s(self) -> float:
        """Return the seconds of wall time that runs of the job reported so far."""
        ...

    def cancelled(self) -> bool:
        """Return whether the job was asked to stop."""
        ...
