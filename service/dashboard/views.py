"""What each page shows, as plain values; templates see nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from service.dashboard.chart import Chart
from service.dashboard.evidence import ProofFigure, TimeEvidence, TimeFigure
from service.dashboard.highlight import Listing
from service.dashboard.judged import JudgedChart
from service.launch import Launch

PAGE_SIZE = 100


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job in a list. `done` counts ended trials; the budget is both trials and seconds.

    `origin` is where it ran, if it was imported.
    """

    id: str
    status: str
    problem: str
    device: str
    best: TimeFigure | None
    done: int
    budget_trials: int
    budget_seconds: float
    created_at: datetime
    message: str | None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """One device. `present` means it can run work now, `targetable` that kernels can be compiled for it."""

    id: str
    name: str
    kind: str
    emulates: str | None
    present: bool
    targetable: bool
    note: str | None

    @property
    def times(self) -> TimeEvidence | None:
        """What a time for this device would be: no CPU has DPAS, so what one runs for GPUs alone is emulated."""
        if self.present:
            stands_in = self.kind == "cpu" and (self.emulates is not None or not self.targetable)
            return TimeEvidence.EMULATED if stands_in else TimeEvidence.MEASURED
        return TimeEvidence.PREDICTED if self.targetable else None


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """One schedule and when it fires next; None when it is paused."""

    id: str
    name: str
    cron: str
    time_zone: str
    enabled: bool
    next_run: datetime | None
    last_run: datetime | None


@dataclass(frozen=True, slots=True)
class Overview:
    """The first page."""

    jobs: tuple[JobRow, ...]
    total_jobs: int
    devices: tuple[DeviceRow, ...]
    schedules: tuple[ScheduleRow, ...]


@dataclass(frozen=True, slots=True)
class TrialRow:
    """One trial in the table. `rank` counts trials with the same evidence, fastest first."""

    number: int
    status: str
    config: str
    rank: int | None
    time: TimeFigure | None
    proof: ProofFigure
    reason: str | None
    kernel_id: str | None


@dataclass(frozen=True, slots=True)
class TrialPage:
    """One page of a job's trials, sorted by the server."""

    rows: tuple[TrialRow, ...]
    sort: str
    page: int
    pages: int
    total: int


@dataclass(frozen=True, slots=True)
class SpeedUp:
    """The best time against the default's (trial 0), both with the same evidence; `in_turns` if measured again.

    `beaten` is False when the default itself is the best.
    """

    factor: float
    default: TimeFigure
    in_turns: bool
    beaten: bool


@dataclass(frozen=True, slots=True)
class JobPage:
    """A job, its history and one page of its trials. All trials up to `last_seen` have ended; -1 for none.

    `best_launch` is how the best trial's kernel is launched; `judged` is None where nothing predicted was measured.
    `wall` says what the job's time went to; None before a run of it ended.
    """

    job: JobRow
    best_trial: TrialRow | None
    speed_up: SpeedUp | None
    counts: Mapping[str, int]
    chart: Chart
    judged: JudgedChart | None
    configs: Mapping[int, str]
    trials: TrialPage
    started_at: datetime | None
    finished_at: datetime | None
    last_seen: int
    problem_facts: tuple[tuple[str, str], ...]
    best_launch: Launch | None
    wall: str | None

    @property
    def live(self) -> bool:
        """Whether more may still happen."""
        return self.job.status in ("queued", "running", "cancelling")


@dataclass(frozen=True, slots=True)
class Stage:
    """One file of a kernel. `listing` is None for bytes, and for a text whose file is gone or damaged."""

    title: str
    file_name: str
    nbytes: int
    is_text: bool
    listing: Listing | None


@dataclass(frozen=True, slots=True)
class KernelPage:
    """A kernel: how to launch it, what it rests on, and every stage that made it."""

    id: str
    content_hash: str
    problem: str
    target: str
    problem_facts: tuple[tuple[str, str], ...]
    launch: Launch
    time: TimeFigure | None
    proof: ProofFigure
    status: str | None
    reason: str | None
    config: tuple[tuple[str, str], ...]
    toolchain: tuple[tuple[str, str], ...]
    stages: tuple[Stage, ...]
    job_id: str | None
    trial_number: int | None
    created_at: datetime
