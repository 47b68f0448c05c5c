"""Lines of an exchange file as values, validated on construction.

A file begins with its Header. Devices, problems, jobs and kernels come before the lines that refer to them.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID

from codegen import GemmProblem, KernelConfig, XeConfig
from codegen.backend import backend_of
from hal import DeviceKind, DeviceSpec
from tuner.session.evidence import (
    EMULATED,
    LONGEST_US,
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
MOST = 2**31 - 1  # largest count that a database can store
_LONGEST_S = 1e9
LEAST_US = 1e-6
"""No clock tells less."""
_LONGEST_NAME = 200
_LARGEST_FACT = 2**53
_LARGEST_SCALE = 1e12
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
    origin: str
    program: str
    written_at: str

    def __post_init__(self) -> None:
        check_name("origin", self.origin)
        _check_moment("written_at", self.written_at)


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

    total_s: float
    propose_s: float
    compile_s: float
    wait_s: float
    verify_s: float
    measure_s: float
    compare_s: float
    device_restarts: int

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if not 0 <= getattr(self, name) < _LONGEST_S:
                raise ValueError(f"effort.{name}: expected 0 to {_LONGEST_S}, got {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class DonorRecord:
    """An initial configuration of a job: from trial `number` of a job (its id) or of a recording (its digest).

    `definition` and `device` (an id) are the problem and device that it was tuned for; `distance` is in doublings
    of sizes.
    """

    number: int
    definition: GemmProblem
    device: str
    config: KernelConfig
    distance: float
    job: str | None = None
    recording: str | None = None

    def __post_init__(self) -> None:
        if (self.job is None) == (self.recording is None):
            raise ValueError(f"donors: expected one of job and recording, got {self.job!r} and {self.recording!r}")
        if self.job is not None:
            _check_uuid("donors.job", self.job)
        if self.recording is not None:
            check_sha256("donors.recording", self.recording)
        _check_count("donors.number", self.number, 0)
        check_name("donors.device", self.device)
        if not 0 <= self.distance <= _LARGEST_SCALE:
            raise ValueError(f"donors.distance: expected 0 to {_LARGEST_SCALE}, got {self.distance}")


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A finished tuning run, under its globally unique id.

    `best` is the number of its best trial. `origin` names where it ran, if that differs from the header's.
    `stop` is why its search ended, if recorded. `donors` are its initial configurations, best first.
    """

    id: str
    problem: str
    device: str
    driver: str
    status: Ended
    options: JobOptions
    created_at: str
    started_at: str
    finished_at: str
    space: str | None = None
    best: int | None = None
    compared_default_us: float | None = None
    compared_best_us: float | None = None
    error: str | None = None
    origin: str | None = None
    effort: Effort | None = None
    stop: Stop | None = None
    donors: tuple[DonorRecord, ...] = ()

    def __post_init__(self) -> None:
        _check_uuid("id", self.id)
        if len(self.donors) > _MOST_DONORS:
            raise ValueError(f"donors: expected at most {_MOST_DONORS}, got {len(self.donors)}")
        if self.stop is Stop.PAUSED:
            raise ValueError(f"stop: expected what ended the job's search, got {self.stop}")
        _check_options(self.options)
        if self.best is not None:
            _check_count("best", self.best, 0)
        for name in ("created_at", "started_at", "finished_at"):
            _check_moment(name, getattr(self, name))
        if (self.status is Ended.FAILED) != bool(self.error):
            raise ValueError(f"error: expected one of a failed job and only that, got {self.error!r}")
        compared = self.compared_default_us, self.compared_best_us
        if any(value is not None for value in compared):
            for name, value in zip(("compared_default_us", "compared_best_us"), compared, strict=True):
                if value is None or not LEAST_US <= value < math.inf:
                    raise ValueError(f"{name}: expected both comparisons as times above 0, got {value}")
        if self.origin is not None:
            check_name("origin", self.origin)


FIELD_OF_FILE = {"kernel.spv": "spirv", "kernel.o": "object_code", "kernel.h": "header"}
"""Field of a `KernelRecord` that holds each file of the kernel."""


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """A kernel: kernel.json as `manifest`, and in base64 SPIR-V, or for a CPU object code with its C `header`.

    Object code contains its own name, which differs between versions. `code_hash` is the hash without it, by
    which jobs recognize a known time; None if not recorded.
    """

    compile_key: str
    content_hash: str
    target: str
    problem: str
    config: KernelConfig
    manifest: Mapping[str, object]
    toolchain: Mapping[str, str]
    spirv: str | None = None
    object_code: str | None = None
    header: str | None = None
    code_hash: str | None = None

    def __post_init__(self) -> None:
        check_name("target", self.target)
        for name in ("compile_key", "content_hash"):
            check_sha256(name, getattr(self, name))
        said = self.manifest.get("compile_key"), self.manifest.get("content_hash")
        expected = self.compile_key, f"sha256:{self.content_hash}"
        if said != expected:
            raise ValueError(f"manifest: expected compile_key and content_hash {expected}, got {said}")
        backend = backend_of(self.config)
        given = [name for name in FIELD_OF_FILE.values() if getattr(self, name) is not None]
        needed = [FIELD_OF_FILE[name] for name in backend.files]
        if given != needed:
            raise ValueError(
                f"expected {' and '.join(needed)} of {backend.device}'s kernel, got {' and '.join(given) or 'none'}"
            )
        if self.code_hash is not None:
            check_sha256("code_hash", self.code_hash)
            if not backend.names_code:
                raise ValueError(
                    f"code_hash: expected none of {backend.device}'s kernel, which its content_hash names, got one"
                )


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """A finished trial: its configuration, its outcome with proof, times and prediction, and its kernel, if
    it is in the file. `versions` are the toolchain's at the measurement; times of day are those of the
    database rows. A trial with a `source` was not measured: its measurement is that of this trial of another
    job. `proposer` chose the configuration.
    """

    job: str
    number: int
    config: KernelConfig
    outcome: Outcome
    begun_at: str
    ended_at: str
    compile_key: str | None = None
    versions: Mapping[str, str] | None = None
    measured_at: str | None = None
    predicted_at: str | None = None
    source: ReusedFrom | None = None
    proposer: str | None = None

    def __post_init__(self) -> None:
        _check_uuid("job", self.job)
        if self.proposer is not None and re.fullmatch("[a-z0-9 _-]+", self.proposer[: _LONGEST_PROPOSER + 1]) is None:
            raise ValueError(f"proposer: expected a word or a few, got {self.proposer[:60]!r}")
        _check_count("number", self.number, 0)
        outcome = self.outcome
        check_numbers(outcome)
        _check_small(outcome)
        if outcome.status is Status.MEASURED and outcome.kernel_hash is None:
            raise ValueError("outcome.kernel_hash: expected the kernel that was measured, got none")
        if self.source is not None:
            _check_source(self.source, outcome)
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
        for name in ("begun_at", "ended_at", "measured_at", "predicted_at"):
            if getattr(self, name) is not None:
                _check_moment(name, getattr(self, name))


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """A configuration to be measured, with its prediction."""

    problem: str
    device: str
    driver: str
    config: XeConfig
    prediction: Prediction

    def __post_init__(self) -> None:
        outcome = Outcome(Status.PREDICTED, prediction=self.prediction)
        check_numbers(outcome)
        _check_small(outcome)


Record = Header | DeviceRecord | ProblemRecord | JobRecord | KernelRecord | TrialRecord | CandidateRecord


def label_of(device: DeviceSpec) -> str:
    """Return the label of times measured on a device."""
    return EMULATED if device.emulates is not None and device.kind is DeviceKind.CPU else NATIVE


def check_name(field: str, text: str) -> None:
    """Check that a text can be shown as a name.

    Raises:
        ValueError: it is empty, long, or contains characters that are not printable.
    """
    if not 0 < len(text) <= _LONGEST_NAME or not text.isprintable():
        raise ValueError(f"{field}: expected 1 to {_LONGEST_NAME} printable characters, got {text[:60]!r}")


def check_sha256(field: str, text: str) -> None:
    """Check that a text is a SHA-256 in hex.

    Raises:
        ValueError: it is not.
    """
    if re.fullmatch("[0-9a-f]{64}", text) is None:
        raise ValueError(f"{field}: expected a SHA-256 in hex, got {text[:80]!r}")


def _check_spec(spec: DeviceSpec) -> None:
    check_name("spec.id", spec.id)
    check_name("spec.name", spec.name)
    if spec.driver:
        check_name("spec.driver", spec.driver)
    for fact in spec.facts():
        numbers = [fact.value] if isinstance(fact.value, int | float) else []
        if not all(0 <= number <= _LARGEST_FACT for number in numbers):
            raise ValueError(f"spec.{fact.name}: expected 0 to {_LARGEST_FACT}, got {fact.value}")


def _check_source(source: ReusedFrom, outcome: Outcome) -> None:
    _check_uuid("source.job", source.job)
    _check_count("source.number", source.number, 0)
    if not 0 < source.scale < _LARGEST_SCALE:
        raise ValueError(f"source.scale: expected more than 0, less than {_LARGEST_SCALE}, got {source.scale}")
    if outcome.status is not Status.MEASURED:
        raise ValueError(f"source: expected it of a measured trial, got one that is {outcome.status.value}")


def _check_small(outcome: Outcome) -> None:
    """Check that numbers fit into a database, and that times are plausible."""
    for name in ("compile_s", "verify_s", "measure_s"):
        if not 0 <= getattr(outcome, name) < _LONGEST_S:
            raise ValueError(f"outcome.{name}: expected 0 to {_LONGEST_S}, got {getattr(outcome, name)}")
    for name in ("max_error", "tolerance"):
        value = getattr(outcome.proof, name)
        if value is not None and value < 0:
            raise ValueError(f"outcome.proof.{name}: expected at least 0, got {value}")
    _check_count("outcome.proof.total", outcome.proof.total, 0)
    if outcome.reason is not None and not outcome.reason:
        raise ValueError("outcome.reason: expected a text, got none")
    if outcome.measurement is not None:
        _check_count("outcome.measurement.samples", outcome.measurement.samples, 1)
        for name, most in (("first_ratio", _LONGEST_S), ("clock_mhz", _LONGEST_S), ("energy_uj", LONGEST_US)):
            value = getattr(outcome.measurement, name)
            if value is not None and not 0 < value < most:
                raise ValueError(f"outcome.measurement.{name}: expected more than 0, less than {most}, got {value}")
    if outcome.prediction is not None:
        check_name("outcome.prediction.model_version", outcome.prediction.model_version)
    least = [t.min_us for t in (outcome.measurement,) if t] + [t.low_us for t in (outcome.prediction,) if t]
    if least and min(least) < LEAST_US:
        raise ValueError(f"outcome: expected times of at least {LEAST_US} us, got {min(least)}")
    if outcome.kernel_hash is not None:
        check_sha256("outcome.kernel_hash", outcome.kernel_hash)


def _check_options(options: JobOptions) -> None:
    budget = options.budget
    _check_count("options.budget.trials", budget.trials, 1)
    if budget.seconds >= _LONGEST_S:
        raise ValueError(f"options.budget.seconds: expected less than {_LONGEST_S}, got {budget.seconds}")
    if budget.no_gain is not None:
        _check_count("options.budget.no_gain", budget.no_gain, 1)
    if not 0 <= options.seed < 2**63:
        raise ValueError(f"options.seed: expected 0 to {2**63 - 1}, got {options.seed}")


def _check_count(field: str, value: int, least: int) -> None:
    if not least <= value <= MOST:
        raise ValueError(f"{field}: expected {least} to {MOST}, got {value}")


def _check_uuid(field: str, text: str) -> None:
    try:
        known = str(UUID(text))
    except ValueError:
        known = None
    if text != known:
        raise ValueError(f"{field}: expected a UUID in lower case with dashes, got {text[:80]!r}")


def _check_moment(field: str, text: str) -> None:
    try:
        moment = datetime.fromisoformat(text)
        known = moment.tzinfo is not None and moment.astimezone(UTC)
    except (ValueError, OverflowError):
        known = False
    if not known:
        raise ValueError(f"{field}: expected a moment with its time zone, as ISO 8601 has it, got {text[:80]!r}")
