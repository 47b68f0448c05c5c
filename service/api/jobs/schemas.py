"""Jobs and trials on the wire. Field names carry their units."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from service.configurations import CONFIG_EXAMPLE, ConfigBody
from service.schemas import (
    EVIDENCE_EXAMPLE,
    MEASURED_EXAMPLE,
    TIME_EXAMPLE,
    DeviceChoice,
    Evidence,
    FiniteFloat,
    ProblemBody,
    TimeEvidence,
)
from tuner.search.method import Method
from tuner.search.objective import Objective

MAX_SEED = 2**63 - 1
_PROBLEM = {"m": 512, "n": 384, "k": 1024, "dtype_a": "f16", "dtype_b": "f16"}
_BUDGET = {"trials": 20, "seconds": 300.0}


class JobStatus(StrEnum):
    """Where a job is in its life."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        """Whether nothing more will happen."""
        return self not in (JobStatus.QUEUED, JobStatus.RUNNING)


class JobKind(StrEnum):
    """What a job is for."""

    SEARCH = "search"
    MEASURE = "measure"
    SHAPE = "shape"
    IMPORT = "import"


class TrialStatus(StrEnum):
    """What became of a trial."""

    PENDING = "pending"
    MEASURED = "measured"
    PREDICTED = "predicted"
    REJECTED = "rejected"
    COMPILE_FAILED = "compile_failed"
    WRONG_RESULT = "wrong_result"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"


class BudgetBody(BaseModel):
    """When a job ends at the latest; whichever comes first."""

    model_config = ConfigDict(extra="forbid")

    trials: StrictInt = Field(
        default=100,
        description="Most configurations tried, at least 1",
        examples=[20],
        json_schema_extra={"minimum": 1},
    )
    seconds: FiniteFloat = Field(
        default=600.0,
        description="Longest run, in seconds of wall time, more than 0",
        examples=[300.0],
        json_schema_extra={"exclusiveMinimum": 0},
    )
    no_gain: StrictInt | None = Field(
        default=None,
        ge=1,
        le=2**31 - 1,
        description="Stop when so many trials in a row gained less than 1 %; null to go on",
        examples=[30],
    )
    roofline: FiniteFloat | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Stop when the fastest reaches this fraction of what the GPU can do: of its multiply units, or of "
        "moving every operand once; null to go on",
        examples=[0.8],
    )


class JobOptions(BaseModel):
    """What may be said of a job beside its problem and device: the fields of its spec."""

    budget: BudgetBody = Field(default_factory=BudgetBody, description="When to stop", examples=[_BUDGET])
    seed: StrictInt = Field(
        default=0,
        ge=0,
        le=MAX_SEED,
        description="Start of the random choices; equal seeds draw equal configurations",
        examples=[0],
    )
    reuse: StrictBool = Field(
        default=True,
        description="Reuse cached measurements of identical kernels; false: ignore cached measurements",
        examples=[True],
    )
    warm_start: StrictBool = Field(
        default=True,
        description="Begin with what was best for the nearest problems and devices; false: know nothing of them",
        examples=[True],
    )
    search: Method = Field(
        default=Method.PORTFOLIO,
        description="How the space is searched: portfolio learns which of several ways pays; tpe, cmaes, nsga2 (time "
        "and memory), gp (Gaussian process), model (among the best predicted), random, exhaustive",
        examples=["portfolio"],
    )
    objective: Objective | None = Field(
        default=None,
        description="Objective to minimize: time; time-memory (beyond the operands) or time-energy (where the device "
        "tells it), which nsga2 weighs; null: what the search weighs anyway",
        examples=[None],
    )


class JobBody(DeviceChoice, JobOptions):
    """A request to tune one problem on one device."""

    problem: ProblemBody = Field(description="What to compute", examples=[_PROBLEM])


REUSED_EXAMPLE = {"job": "01970a3c-0000-7000-8000-000000000000", "trial": 7, "scale": 1.02}


class ReusedOut(BaseModel):
    """The trial of an earlier job whose measurement a trial took: of the same binary, launch, device and driver."""

    job: UUID = Field(description="The job that measured it", examples=["01970a3c-0000-7000-8000-000000000000"])
    trial: int = Field(description="Its number there", examples=[7])
    scale: float = Field(
        description="How long the default takes now over how long it took there; the time is judged times this",
        examples=[1.02],
    )


class TrialOut(BaseModel):
    """One configuration and what became of it. Number 0 is the baseline, the heuristic's choice."""

    number: int = Field(description="Counts from 0 within the job", examples=[3])
    status: TrialStatus = Field(
        description="pending, measured, predicted, rejected, compile_failed, wrong_result, timed_out or crashed",
        examples=["measured"],
    )
    reason: str | None = Field(
        default=None,
        description="The rule or finding, when it gave no time",
        examples=["refused by rule registers: ..."],
    )
    config: ConfigBody | dict[str, object] = Field(
        description="The configuration, canonical; as it was stored if this version cannot read it",
        examples=[CONFIG_EXAMPLE],
    )
    proposer: str | None = Field(
        default=None,
        description="Who chose it: default, donor, random, gp, tpe, descent, ...; null where that was not recorded",
        examples=["gp"],
    )
    evidence: Evidence = Field(description="Time and correctness", examples=[EVIDENCE_EXAMPLE])
    tflops: float | None = Field(
        default=None, description="2 M N K batch / time, in TFLOP/s; null without a time", examples=[1.25]
    )
    predicted: TimeEvidence | None = Field(
        default=None,
        description="What the model predicted of it; null where it does not predict",
        examples=[TIME_EXAMPLE],
    )
    measured: TimeEvidence | None = Field(
        default=None,
        description="What was measured of its configuration: in this trial, else by another job for the same problem "
        "and device; null if nothing was",
        examples=[MEASURED_EXAMPLE],
    )
    measured_by: UUID | None = Field(
        default=None,
        description="The job that measured it, if not this one",
        examples=["01970a3c-0000-7000-8000-000000000000"],
    )
    prediction_error: float | None = Field(
        default=None, description="Measured over predicted time; null without either", examples=[1.18]
    )
    kernel_id: UUID | None = Field(
        default=None, description="The kernel, if it compiled", examples=["01970a3c-0000-7000-8000-000000000000"]
    )
    reused: ReusedOut | None = Field(
        default=None,
        description="Where its measurement is from, if it was not measured in this job; null if it was",
        examples=[REUSED_EXAMPLE],
    )
    compile_s: float = Field(description="Wall time of compiling, in seconds", examples=[0.08])
    verify_s: float = Field(description="Wall time of checking the numbers, in seconds", examples=[0.3])
    measure_s: float = Field(description="Wall time of measuring, in seconds", examples=[0.9])
    begun_at: datetime = Field(description="When it began, UTC", examples=["2026-01-02T03:04:05Z"])
    ended_at: datetime | None = Field(default=None, description="When it ended, UTC", examples=["2026-01-02T03:04:06Z"])


class Comparison(BaseModel):
    """The default configuration against the best, re-measured, interleaved, at the end of the job."""

    default_us: float = Field(description="Median of trial 0, in us", examples=[930.2])
    best_us: float = Field(description="Median of the best trial, in us", examples=[412.5])
    speedup: float = Field(description="How many times as fast the best is", examples=[2.26])


class WallTimeOut(BaseModel):
    """Seconds of wall time of a job's runs, by what was done; a run that was killed is not in it.

    In `compile_s` something was being compiled beside the rest, so that all parts may be more than the total.
    """

    total_s: float = Field(description="All of it", examples=[52.3])
    propose_s: float = Field(description="Choosing configurations", examples=[1.2])
    compile_s: float = Field(description="With at least one compilation under way, beside the rest", examples=[24.8])
    wait_s: float = Field(description="Waiting for a kernel to be compiled", examples=[5.6])
    verify_s: float = Field(description="Running and checking for correctness", examples=[8.1])
    measure_s: float = Field(description="Warming up and taking times", examples=[30.2])
    compare_s: float = Field(description="Measuring finalists and the default, interleaved", examples=[4.4])
    device_restarts: int = Field(description="How often the device's process was lost", examples=[0])


WALL_EXAMPLE = {
    "total_s": 52.3,
    "propose_s": 1.2,
    "compile_s": 24.8,
    "wait_s": 5.6,
    "verify_s": 8.1,
    "measure_s": 30.2,
    "compare_s": 4.4,
    "device_restarts": 0,
}


class JobLinks(BaseModel):
    """Where to go on."""

    self: str = Field(description="This job", examples=["/v1/jobs/01970a3c-0000-7000-8000-000000000000"])
    trials: str = Field(description="Its trials", examples=["/v1/jobs/01970a3c-0000-7000-8000-000000000000/trials"])
    events: str = Field(
        description="Its event stream", examples=["/v1/jobs/01970a3c-0000-7000-8000-000000000000/events"]
    )
    cancel: str = Field(
        description="POST here to stop it", examples=["/v1/jobs/01970a3c-0000-7000-8000-000000000000/cancel"]
    )
    retry: str = Field(
        description="POST here to do it anew, when it failed or was cancelled",
        examples=["/v1/jobs/01970a3c-0000-7000-8000-000000000000/retry"],
    )


_DONOR = {
    "job": "01970a3c-0000-7000-8000-000000000000",
    "trial": 7,
    "problem": _PROBLEM,
    "device": "b580",
    "distance": 1.0,
}


class DonorOut(BaseModel):
    """A configuration that was good elsewhere, which a job began with."""

    job: UUID | None = Field(
        default=None,
        description="The job that found it; null if a file of another format brought it",
        examples=["01970a3c-0000-7000-8000-000000000000"],
    )
    recording: UUID | None = Field(
        default=None,
        description="The recording that has it; null if a job found it, or if it is not here",
        examples=[None],
    )
    trial: int = Field(description="Its number there", examples=[7])
    problem: ProblemBody | dict[str, object] = Field(
        description="The problem it is good for; as it was stored if this version cannot read it", examples=[_PROBLEM]
    )
    device: str = Field(description="Id of the device it is good on", examples=["b580"])
    distance: float = Field(
        description="How far that problem is: root of the squared doublings of M, N, K and batch", examples=[1.0]
    )


class JobOut(JobOptions):
    """A job: its request, its progress, and the best so far. One of kind `measure` searches nothing."""

    id: UUID = Field(description="Sorts by time of creation", examples=["01970a3c-0000-7000-8000-000000000000"])
    status: JobStatus = Field(description="queued, running, succeeded, failed or cancelled", examples=["running"])
    kind: JobKind = Field(
        description="search: finds the fastest; measure: measures what it was given; shape: one of a set of shapes; "
        "import: ran elsewhere",
        examples=["search"],
    )
    retry_of: UUID | None = Field(default=None, description="The job that it does anew; null if none", examples=[None])
    problem: ProblemBody = Field(description="What is computed, whole", examples=[_PROBLEM])
    device: str = Field(description="Id of the device", examples=["b580"])
    origin: str | None = Field(
        default=None, description="Where it ran, if it was imported; null if here", examples=["the lab"]
    )
    cancel_requested: bool = Field(description="Someone asked it to stop", examples=[False])
    attempts: int = Field(description="How often a worker took it up", examples=[1])
    error: str | None = Field(
        default=None, description='"code: message" when it failed', examples=["device-crashed: ..."]
    )
    stop: str | None = Field(
        default=None,
        description="What ended its search: trials, seconds, exhausted, no_gain, roofline or cancelled; null before, "
        "of a job that failed, and where it was not recorded",
        examples=["trials"],
    )
    counts: dict[str, int] = Field(description="Trials by status", examples=[{"measured": 12, "rejected": 1}])
    done: int = Field(description="Trials that ended", examples=[13])
    best: TrialOut | None = Field(
        default=None,
        description="The fastest proven trial so far; in the end the winner of the re-measured finalists. Of a "
        "job that only predicted it is corrected when others measure its configurations",
        examples=[None],
    )
    basis: str | None = Field(
        default=None,
        description="What the time of `best` rests on: in_turns, measured interleaved with the default and the other "
        "finalists; single, the least of single measurements, which may have been the luckiest; predicted by a model. "
        "null without a time",
        examples=["in_turns"],
    )
    comparison: Comparison | None = Field(
        None,
        description="Speed-up over the default configuration, interleaved: where it is not null its two times stand "
        "for the job, and those of `best` and of trial 0 are single measurements",
        examples=[None],
    )
    wall: WallTimeOut | None = Field(
        default=None, description="What its time went to; null before a run ended", examples=[WALL_EXAMPLE]
    )
    created_at: datetime = Field(description="When it was asked for, UTC", examples=["2026-01-02T03:04:05Z"])
    started_at: datetime | None = Field(
        default=None, description="When it first ran, UTC", examples=["2026-01-02T03:04:06Z"]
    )
    finished_at: datetime | None = Field(
        default=None, description="When it ended, UTC", examples=["2026-01-02T03:09:06Z"]
    )
    donors: list[DonorOut] = Field(
        description="What it began with, best first; empty of one that has not begun, or found nothing",
        examples=[[_DONOR]],
    )
    links: JobLinks = Field(
        description="Where to go on",
        examples=[
            {
                "self": "/v1/jobs/...",
                "trials": "/v1/jobs/.../trials",
                "events": "/v1/jobs/.../events",
                "cancel": "/v1/jobs/.../cancel",
                "retry": "/v1/jobs/.../retry",
            }
        ],
    )


class JobPage(BaseModel):
    """Some jobs, newest first."""

    jobs: list[JobOut] = Field(description="This page", examples=[[]])
    next_before: UUID | None = Field(
        default=None,
        description="Pass as `before` for the next page; null on the last",
        examples=["01970a3c-0000-7000-8000-000000000000"],
    )


class TrialPage(BaseModel):
    """Some trials of a job, in order of number."""

    trials: list[TrialOut] = Field(description="This page", examples=[[]])
    next_after: int | None = Field(
        default=None, description="Pass as `after` for the next page; null on the last", examples=[99]
    )
