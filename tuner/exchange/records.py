"""Lines of an exchange file as values, validated on construction.

A file begins with its Header and ends with its EndRecord. Devices, problems, jobs and kernels come before the lines
that refer to them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from codegen import GemmProblem, XeConfig
from codegen.serialization import Bounds
from hal import DeviceKind, DeviceSpec
from hal.driver.simulated_gpus import PREFIX as SIMULATED
from tuner.exchange.kernel_record import KernelRecord
from tuner.exchange.parameters import AnyConfig
from tuner.session.bounds import (
    Count,
    Microseconds,
    Moment,
    Name,
    Seconds,
    Sha256,
    Text,
    Uuid,
    check_name,
)
from tuner.session.evidence import (
    EMULATED,
    NATIVE,
    check_numbers,
)
from tuner.session.job_spec import JobOptions
from tuner.session.result import Stop
from tuner.session.trial import (
    Outcome,
    Prediction,
    ReusedFrom,
    Status,
)

FORMAT, VERSION = "xetune-exchange", 1
_LARGEST_FACT = 2**53
_MOST_DONORS = 1000
_LONGEST_PROPOSER = 40


class Ended(StrEnum):
    """Final status of a job; jobs with another status are not exported."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Header:
    """First line of a file. `origin` names the place that it comes from, `program` the writer."""

    format: str
    version: int
    origin: Name
    program: str
    written_at: Moment


@dataclass(frozen=True, slots=True)
class DeviceRecord:
    """A device with every known fact, its IP version and driver among them."""

    spec: DeviceSpec

    def __post_init__(self) -> None:
        _check_spec(self.spec)

    @property
    def identity(self) -> tuple[str, str]:
        """Its id and driver, "" if unknown, by which jobs and candidates refer to it."""
        return self.spec.id, self.spec.driver or ""


@dataclass(frozen=True, slots=True)
class ProblemRecord:
    """A complete GEMM problem. `key` is its content hash, by which other records refer to it."""

    key: str
    definition: GemmProblem

    def __post_init__(self) -> None:
        if self.key != self.definition.key:
            raise ValueError(f"key: expected {self.definition.key}, the hash of the definition, got {self.key!r}")


@dataclass(frozen=True, slots=True)
class Effort:
    """Wall times of a job by phase, `compile_s` in parallel with the others; restarts of its device process."""

    total_s: Seconds
    propose_s: Seconds
    compile_s: Seconds
    wait_s: Seconds
    verify_s: Seconds
    measure_s: Seconds
    compare_s: Seconds
    device_restarts: Count


@dataclass(frozen=True, slots=True)
class DonorRecord:
    """An initial configuration of a job: from trial `number` of a job (its id) or of a recording (its digest).

    `definition` and `device` (an id) are the problem and device that it was tuned for; `distance` is in doublings
    of sizes.
    """

    number: Count
    definition: GemmProblem
    device: Name
    config: AnyConfig
    distance: Annotated[float, Bounds(0, 1e12)]
    job: Uuid | None = None
    recording: Sha256 | None = None

    def __post_init__(self) -> None:
        if (self.job is None) == (self.recording is None):
            raise ValueError(f"donors: expected one of job and recording, got {self.job!r} and {self.recording!r}")


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A finished tuning run, under its globally unique id.

    `best` is the number of its best trial. `origin` names where it ran, if that differs from the header's.
    `stop` is why its search ended, if recorded. `donors` are its initial configurations, best first.
    """

    id: Uuid
    problem: str
    device: str
    driver: str
    status: Ended
    options: JobOptions
    created_at: Moment
    started_at: Moment
    finished_at: Moment
    space: str | None = None
    best: Count | None = None
    compared_default_us: Microseconds | None = None
    compared_best_us: Microseconds | None = None
    error: Text | None = None
    origin: Name | None = None
    effort: Effort | None = None
    stop: Stop | None = None
    donors: tuple[DonorRecord, ...] = ()

    def __post_init__(self) -> None:
        if len(self.donors) > _MOST_DONORS:
            raise ValueError(f"donors: expected at most {_MOST_DONORS}, got {len(self.donors)}")
        if self.stop is Stop.PAUSED:
            raise ValueError(f"stop: expected what ended the job's search, got {self.stop}")
        if (self.status is Ended.FAILED) != (self.error is not None):
            raise ValueError(f"error: expected one of a failed job and only that, got {self.error!r}")
        if (self.compared_default_us is None) != (self.compared_best_us is None):
            raise ValueError("compared_default_us: expected it with compared_best_us and only then")


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """A finished trial: its configuration, its outcome with proof, times and prediction, and its kernel, if
    it is in the file. `versions` are the toolchain's at the measurement; times of day are those of the
    database rows. A trial with a `source` was not measured: its measurement is that of this trial of another
    job. `proposer` chose the configuration.
    """

    job: Uuid
    number: Count
    config: AnyConfig
    outcome: Outcome
    begun_at: Moment
    ended_at: Moment
    compile_key: str | None = None
    versions: Mapping[str, str] | None = None
    measured_at: Moment | None = None
    predicted_at: Moment | None = None
    source: ReusedFrom | None = None
    proposer: str | None = None

    def __post_init__(self) -> None:
        if self.proposer is not None and re.fullmatch("[a-z0-9 _-]+", self.proposer[: _LONGEST_PROPOSER + 1]) is None:
            raise ValueError(f"proposer: expected a word or a few, got {self.proposer[:60]!r}")
        outcome = self.outcome
        check_numbers(outcome)
        if outcome.status is Status.MEASURED and outcome.kernel_hash is None:
            raise ValueError("outcome.kernel_hash: expected the kernel that was measured, got none")
        if outcome.acceptance is not None and outcome.kernel_hash is None:
            raise ValueError("outcome.acceptance: expected it with the kernel that was accepted, got none")
        if self.source is not None and outcome.status is not Status.MEASURED:
            raise ValueError(f"source: expected it of a measured trial, got one that is {outcome.status.value}")
        if (self.compile_key is None) != (outcome.kernel_hash is None):
            raise ValueError("compile_key: expected it with outcome.kernel_hash and only then")
        told = (
            (outcome.measurement, "measured_at"),
            (outcome.measurement, "versions"),
            (outcome.prediction, "predicted_at"),
        )
        for times, name in told:
            if (times is None) != (getattr(self, name) is None):
                raise ValueError(f"{name}: expected it with the times that it belongs to and only then")


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """A configuration to be measured, with its prediction."""

    problem: str
    device: str
    driver: str
    config: XeConfig
    prediction: Prediction

    def __post_init__(self) -> None:
        check_numbers(Outcome(Status.PREDICTED, prediction=self.prediction))


@dataclass(frozen=True, slots=True)
class TunerRecord:
    """A result of another tuner, under its globally unique id; `result` is what `POST /v1/records` takes."""

    id: Uuid
    created_at: Moment
    result: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class EndRecord:
    """Last line of a file, with the SHA-256 of all bytes before it."""

    sha256: Sha256


@dataclass(frozen=True, slots=True)
class BrokenRecord:
    """Last line in place of the end: why no more could be read after the file had begun to be sent."""

    error: str


Record = (
    Header
    | DeviceRecord
    | ProblemRecord
    | JobRecord
    | KernelRecord
    | TrialRecord
    | CandidateRecord
    | TunerRecord
    | EndRecord
    | BrokenRecord
)


def label_of(device: DeviceSpec) -> str:
    """Return the label of times measured on a device."""
    return EMULATED if device.emulates is not None and device.kind is DeviceKind.CPU else NATIVE


_DIVISORS = frozenset(
    {
        *("xe_cores", "eus_per_core", "grf_bytes", "block2d_pitch_multiple_bytes", "clock_mhz", "nominal_clock_mhz"),
        *("bandwidth_bytes_per_s", "measured_bandwidth_bytes_per_s", "cores", "cores_per_l2", "cores_per_l3"),
        *("threads_per_core", "vector_bytes", "vector_registers", "line_bytes", "l2_ways", "bf16_fma_per_clk_per_core"),
    }
)
"""Facts that are at least 1 where they are known; models and spaces divide by most of them."""


def _check_spec(spec: DeviceSpec) -> None:
    if spec.id.startswith(SIMULATED):
        raise ValueError(f"spec.id: expected a device that runs kernels; {spec.id} accepts them and has no results")
    for name, text in (("id", spec.id), ("name", spec.name), ("driver", spec.driver)):
        try:
            if text or name != "driver":
                check_name(text or "")
        except ValueError as error:
            raise ValueError(f"spec.{name}: {error}") from error
    for fact in spec.facts():
        least = 1 if fact.name in _DIVISORS else 0
        if isinstance(fact.value, int | float) and not least <= fact.value <= _LARGEST_FACT:
            raise ValueError(f"spec.{fact.name}: expected {least} to {_LARGEST_FACT}, got {fact.value}")
