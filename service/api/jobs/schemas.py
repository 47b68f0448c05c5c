"""Schemas of jobs and trials. Field names carry their units."""

from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from service.api.jobs.defaults import SECONDS, TRIALS
from service.api.jobs.status import JobStatus
from service.configurations import CONFIG_EXAMPLE, ConfigBody
from service.job_summary import ChoiceRule
from service.schemas import (
    EVIDENCE_EXAMPLE,
    MEASURED_EXAMPLE,
    TIME_EXAMPLE,
    DeviceChoice,
    Evidence,
    FiniteFloat,
    ProblemBody,
    SearchName,
    TimeEvidence,
)
from tuner.search.method import Method, Objective

MAX_SEED = 2**63 - 1
_PROBLEM = {"m": 512, "n": 384, "k": 1024, "dtype_a": "f16", "dtype_b": "f16"}
_BUDGET = {"trials": 20, "seconds": 300.0}


class JobKind(StrEnum):
    """Purpose of a job."""

    SEARCH = "search"
    MEASURE = "measure"
    SHAPE = "shape"
    IMPORT = "import"
    BINARY = "binary"


class TrialStatus(StrEnum):
    """Outcome of a trial."""

    PENDING = "pending"
    MEASURED = "measured"
    PREDICTED = "predicted"
    REJECTED = "rejected"
    COMPILE_FAILED = "compile_failed"
    WRONG_RESULT = "wrong_result"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"


class StopCriteria(BaseModel):
    """Limits that end a job besides its number of trials; the first one reached applies."""

    model_config = ConfigDict(extra="forbid")

    seconds: FiniteFloat = Field(
        default=SECONDS,
        description="Maximum wall time of all runs, in seconds, more than 0",
        examples=[300.0],
        json_schema_extra={"exclusiveMinimum": 0},
    )
    no_gain: StrictInt | None = Field(
        default=None,
        ge=1,
        le=2**31 - 1,
        description="Stop after this many consecutive trials that gained less than 1 %; null: never",
        examples=[30],
    )
    roofline: FiniteFloat | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Stop when the fastest reaches this fraction of the roofline: of the peak of the multiply units, "
        "or of moving every operand once; null: never",
        examples=[0.8],
    )


class BudgetBody(StopCriteria):
    """Budget of a job; the first limit reached applies."""

    trials: StrictInt = Field(
        default=TRIALS,
        description="Maximum number of configurations tried, at least 1",
        examples=[20],
        json_schema_extra={"minimum": 1},
    )


class SearchOptions(BaseModel):
    """Options of a job besides its problem, device and budget."""

    seed: StrictInt = Field(
        default=0,
        ge=0,
        le=MAX_SEED,
        description="Random seed; equal seeds select equal configurations",
        examples=[0],
    )
    reuse: StrictBool = Field(
        default=True,
        description="Reuse cached measurements of identical kernels; false: ignore cached measurements",
        examples=[True],
    )
    warm_start: StrictBool = Field(
        default=True,
        description="Warm start from the best configurations of the nearest problems and devices; false: none",
        examples=[True],
    )
    search: SearchName = Field(
        default=Method.PORTFOLIO.value,
        description="Search strategy: portfolio combines gp, tpe and a descent; tpe, cmaes, nsga2 (time and memory), "
        "gp (Gaussian process), model (among the best predicted), random, exhaustive; or a class of "
        "optuna.samplers; or package.module:Class, a sampler that XETUNE_SAMPLERS lists",
        examples=["portfolio"],
    )
    objective: Objective | None = Field(
        default=None,
        description="Objective to minimize: time; time-memory (beyond the operands) or time-energy (if the device "
        "reports it), both for nsga2; null: search default",
        examples=[None],
    )


class JobOptions(SearchOptions):
    """Options of a job besides its problem and device: the fields of its spec."""

    budget: BudgetBody = Field(default_factory=BudgetBody, description="When to stop", examples=[_BUDGET])


class JobBody(DeviceChoice, JobOptions):
    """A request to tune one problem on one device."""

    problem: ProblemBody = Field(description="What to compute", examples=[_PROBLEM])


REUSED_EXAMPLE = {"job": "01970a3c-0000-7000-8000-000000000000", "trial": 7, "scale": 1.02}


class ReusedOut(BaseModel):
    """Trial of an earlier job whose measurement is reused: the same binary, launch, device and driver."""

    job: UUID = Field(description="The job that measured it", examples=["01970a3c-0000-7000-8000-000000000000"])
    trial: int = Field(description="Its number there", examples=[7])
    scale: float = Field(
        description="Time of the default now over its time in that job; the reused time is scaled by this",
        examples=[1.02],
    )


class TrialOut(BaseModel):
    """One configuration and its outcome. Number 0 is the baseline, chosen by the heuristic."""

    number: int = Field(description="Counts from 0 within the job", examples=[3])
    status: TrialStatus = Field(
        description="pending, measured, predicted, rejected, compile_failed, wrong_result, timed_out or crashed",
        examples=["measured"],
    )
    reason: str | None = Field(
        default=None,
        description="The rule or finding, if it has no time",
        examples=["refused by rule registers: ..."],
    )
    config: ConfigBody | dict[str, object] = Field(
        description="The configuration, canonical; as stored if this version cannot read it",
        examples=[CONFIG_EXAMPLE],
    )
    proposer: str | None = Field(
        default=None,
        description="Source of the configuration: default, alternative, donor, random, gp, ...; null if not recorded",
        examples=["gp"],
    )
    evidence: Evidence = Field(description="Time and correctness", examples=[EVIDENCE_EXAMPLE])
    tflops: float | None = Field(
        default=None,
        description="2 M N K batch / time, twice that if gated, in TFLOP/s; null without a time",
        examples=[1.25],
    )
    predicted: TimeEvidence | None = Field(
        default=None,
        description="Prediction of the model; null if it makes none",
        examples=[TIME_EXAMPLE],
    )
    measured: TimeEvidence | None = Field(
        default=None,
        description="Measurement of its configuration: in this trial, or by another job for the same problem and "
        "device; null if there is none",
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
        description="Source of a reused measurement; null if measured in this job",
        examples=[REUSED_EXAMPLE],
    )
    compile_s: float = Field(description="Wall time of compiling, in seconds", examples=[0.08])
    verify_s: float = Field(description="Wall time of verifying the results, in seconds", examples=[0.3])
    measure_s: float = Field(description="Wall time of measuring, in seconds", examples=[0.9])
    begun_at: datetime = Field(description="When it began, UTC", examples=["2026-01-02T03:04:05Z"])
    ended_at: datetime | None = Field(default=None, description="When it ended, UTC", examples=["2026-01-02T03:04:06Z"])


class Comparison(BaseModel):
    """The default configuration against the best, re-measured, interleaved, at the end of the job."""

    default_us: float = Field(description="Median of trial 0, in us", examples=[930.2])
    best_us: float = Field(description="Median of the best trial, in us", examples=[412.5])
    speedup: float = Field(description="Speedup of the best", examples=[2.26])


class StoredBest(BaseModel):
    """The best result stored for the problem and device of a job whose own best is clearly slower."""

    job: UUID = Field(description="The job that found it", examples=["01970a3c-0000-7000-8000-000000000000"])
    kernel_id: UUID = Field(description="Its kernel", examples=["01970a3c-0000-7000-8000-000000000000"])
    time_us: float = Field(description="Its time, in us", examples=[411.2])
    basis: Literal["interleaved", "single"] = Field(description="Basis of that time", examples=["interleaved"])
    slowdown: float = Field(description="Time of this job's best over that time", examples=[4.4])


class ChoiceOut(BaseModel):
    """Selection of the best trial of several whose predicted times the model does not tell apart."""

    rule: ChoiceRule = Field(
        description="default: the default wins a tie; burden: the best of occupancy, prefetch and messages",
        examples=["default"],
    )
    trials: int = Field(description="Verified trials within the resolution of the least time", examples=[4])
    fastest: int = Field(description="Number of the trial with the least predicted time", examples=[3])
    least_us: float = Field(description="Its predicted time, in us", examples=[411.2])
    gain: float = Field(description="Predicted time of the best over the least", examples=[1.003])
    resolution: float = Field(
        description="Ratio of predicted times up to which they do not tell which is faster", examples=[1.07]
    )
    sentence: str = Field(
        description="The rule in words",
        examples=["the default is kept: trial 3 gains 0.3% by prediction, within the resolution of the model, 7%"],
    )


CHOICE_EXAMPLE = {
    "rule": "default",
    "trials": 4,
    "fastest": 3,
    "least_us": 411.2,
    "gain": 1.003,
    "resolution": 1.07,
    "sentence": "the default is kept: trial 3 gains 0.3% by prediction, within the resolution of the model, 7%",
}


class WallTimeOut(BaseModel):
    """Wall time of a job's runs by phase, in seconds; a run that was killed is not included.

    `compile_s` overlaps the other phases, so the sum of all may exceed the total.
    """

    total_s: float = Field(description="All of it", examples=[52.3])
    propose_s: float = Field(description="Choosing configurations", examples=[1.2])
    compile_s: float = Field(
        description="With at least one compilation running, overlapping other phases", examples=[24.8]
    )
    wait_s: float = Field(description="Waiting for a kernel to be compiled", examples=[5.6])
    verify_s: float = Field(description="Running and checking for correctness", examples=[8.1])
    measure_s: float = Field(description="Warm-up and measurement", examples=[30.2])
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
    """Links of a job."""

    self: str = Field(description="This job", examples=["/v1/jobs/01970a3c-0000-7000-8000-000000000000"])
    trials: str = Field(description="Its trials", examples=["/v1/jobs/01970a3c-0000-7000-8000-000000000000/trials"])
    events: str = Field(
        description="Its event stream", examples=["/v1/jobs/01970a3c-0000-7000-8000-000000000000/events"]
    )
    cancel: str = Field(
        description="POST here to cancel it", examples=["/v1/jobs/01970a3c-0000-7000-8000-000000000000/cancel"]
    )
    retry: str = Field(
        description="POST here to resubmit it if it failed or was cancelled",
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
    """A good configuration of a similar problem or device, used as a warm start."""

    job: UUID | None = Field(
        default=None,
        description="The job that found it; null if a file of another format did",
        examples=["01970a3c-0000-7000-8000-000000000000"],
    )
    recording: UUID | None = Field(
        default=None,
        description="The recording that contains it; null if a job found it, or if the recording is not stored here",
        examples=[None],
    )
    trial: int = Field(description="Its number there", examples=[7])
    problem: ProblemBody | dict[str, object] = Field(
        union_mode="left_to_right",  # else JSON stays a dict, which matches exactly
        description="The problem it is good for; as stored if this version cannot read it",
        examples=[_PROBLEM],
    )
    device: str = Field(description="Id of the device it is good on", examples=["b580"])
    distance: float = Field(
        description="Distance of that problem: Euclidean norm of the log2 ratios of M, N, K and batch", examples=[1.0]
    )


class RestrictionOut(BaseModel):
    """A feature that a job's device does without, because a kernel of `xetune doctor` with it failed there."""

    name: str = Field(description="Name of the restriction", examples=["no-grf-256"])
    effect: str = Field(description="Effect on its kernels", examples=["128 registers only"])
    check: str = Field(description="The check whose kernel failed", examples=["gemm-registers-256"])
    reason: str = Field(description="Failure, in words", examples=["f16 to f32, 256 registers: crashed, ..."])


class JobOut(JobOptions):
    """A job: its request, its progress, and the best so far. A job of kind `measure` does no search."""

    id: UUID = Field(description="Sorts by time of creation", examples=["01970a3c-0000-7000-8000-000000000000"])
    status: JobStatus = Field(description="queued, running, succeeded, failed or cancelled", examples=["running"])
    kind: JobKind = Field(
        description="search: finds the fastest; measure: measures given configurations; shape: one of a set of shapes; "
        "import: ran elsewhere; binary: builds the native binary of a kernel",
        examples=["search"],
    )
    builds: UUID | None = Field(
        default=None,
        description="Kernel whose native binary a job of kind binary builds; null for others",
        examples=[None],
    )
    retry_of: UUID | None = Field(default=None, description="The job that it resubmits; null if none", examples=[None])
    problem: ProblemBody = Field(description="The complete problem", examples=[_PROBLEM])
    device: str = Field(description="Id of the device", examples=["b580"])
    origin: str | None = Field(
        default=None, description="Host where it ran, if imported; null if here", examples=["the lab"]
    )
    cancel_requested: bool = Field(description="Whether cancellation was requested", examples=[False])
    attempts: int = Field(description="Number of times a worker started it", examples=[1])
    error: str | None = Field(
        default=None, description='"code: message" when it failed', examples=["device-crashed: ..."]
    )
    stop: str | None = Field(
        default=None,
        description="Stop reason of the search: trials, seconds, exhausted, no_gain, roofline or cancelled; null "
        "until it ends, for a failed job, and if not recorded",
        examples=["trials"],
    )
    counts: dict[str, int] = Field(description="Trials by status", examples=[{"measured": 12, "rejected": 1}])
    done: int = Field(description="Trials that ended", examples=[13])
    best: TrialOut | None = Field(
        default=None,
        description="The fastest verified trial so far; at the end the winner of the re-measured finalists. For a job "
        "that only predicted it is updated when other jobs measure its configurations",
        examples=[None],
    )
    basis: str | None = Field(
        default=None,
        description="Evidence for the time of `best`: interleaved, re-measured with the default and the other "
        "finalists; single, the least of single measurements, which are biased to the fast side; predicted by a model. "
        "null without a time",
        examples=["interleaved"],
    )
    time_us: float | None = Field(
        default=None,
        description="Reported time of the best, in us, as `basis` says: re-measured against the default, interleaved, "
        "where that was done; null without a best",
        examples=[412.5],
    )
    roof_us: float | None = Field(
        default=None,
        description="Time that the device's multiply units and memory allow at the least, in us; null where they are "
        "not known: for emulated GPUs, GPUs that lack a fact, and CPUs whose rates were not measured",
        examples=[328.0],
    )
    comparison: Comparison | None = Field(
        None,
        description="Speedup over the default configuration, re-measured, interleaved: if not null, use its two "
        "times; those of `best` and of trial 0 are single measurements",
        examples=[None],
    )
    stored_best: StoredBest | None = Field(
        default=None,
        description="The best result stored for this problem and device, if the best of this job is more than "
        "1.15 times slower: another job found a faster kernel, or the machine was busy; else null",
        examples=[None],
    )
    choice: ChoiceOut | None = Field(
        default=None,
        description="Selection of `best` of predicted trials that the model does not tell apart; null if its time is "
        "measured, or if no other is within the resolution",
        examples=[CHOICE_EXAMPLE],
    )
    wall: WallTimeOut | None = Field(
        default=None, description="Wall time by phase; null until a run ended", examples=[WALL_EXAMPLE]
    )
    created_at: datetime = Field(description="Creation time, UTC", examples=["2026-01-02T03:04:05Z"])
    started_at: datetime | None = Field(
        default=None, description="Start of the first run, UTC", examples=["2026-01-02T03:04:06Z"]
    )
    finished_at: datetime | None = Field(
        default=None, description="When it ended, UTC", examples=["2026-01-02T03:09:06Z"]
    )
    donors: list[DonorOut] = Field(
        description="Warm starts, best first; empty if the job has not begun, or found none",
        examples=[[_DONOR]],
    )
    restrictions: list[RestrictionOut] = Field(
        default=[],
        description="Restrictions of its device at its last run; empty if there are none, and before it began",
        examples=[[]],
    )
    links: JobLinks = Field(
        description="Links",
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
    """A page of jobs, newest first."""

    jobs: list[JobOut] = Field(description="This page", examples=[[]])
    next_before: UUID | None = Field(
        default=None,
        description="Pass as `before` for the next page; null on the last",
        examples=["01970a3c-0000-7000-8000-000000000000"],
    )


class TrialPage(BaseModel):
    """A page of trials of a job, in order of number."""

    trials: list[TrialOut] = Field(description="This page", examples=[[]])
    next_after: int | None = Field(
        default=None, description="Pass as `after` for the next page; null on the last", examples=[99]
    )
