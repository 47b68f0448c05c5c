"""Measurement of one problem of a kit, as a job whose records go to a file of results."""

import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

from codegen import AnyArtifact, GemmProblem, KernelConfig, XeConfig
from hal import Device, DeviceSpec
from tuner.errors import DeviceUnusable, NoValidMeasurement
from tuner.exchange.kernel_record import KernelRecord
from tuner.exchange.records import Effort, Ended, JobRecord, Record, TrialRecord
from tuner.kit.contents import StoredKernels
from tuner.measure.measure_configs import measure_given
from tuner.session.best import best_of
from tuner.session.budget import Budget
from tuner.session.job_spec import JobOptions
from tuner.session.memory_store import MemoryTrialStore
from tuner.session.result import NOTHING, Event, Stop, TrialEnded, WallTime
from tuner.session.trial import Outcome, Trial

_SEED = 0


def _now() -> datetime:
    return datetime.now(UTC)


def _new_id() -> UUID:
    """Return a UUID that sorts by time, as those of other jobs. Source: RFC 9562, section 5.7 (version 7)."""
    bits = (time.time_ns() // 1_000_000 << 80) | secrets.randbits(80)
    bits = (bits & ~(0xF << 76)) | (7 << 76)
    return UUID(int=(bits & ~(0x3 << 62)) | (2 << 62))


class TimedTrials(MemoryTrialStore):
    """Trials in memory, with the moments at which they began and ended."""

    def __init__(self) -> None:
        super().__init__()
        self.moments: dict[int, tuple[datetime, datetime]] = {}

    def begin(self, number: int, config: KernelConfig, proposer: str | None = None) -> None:
        """Record that a trial begins; see MemoryTrialStore.begin."""
        super().begin(number, config, proposer)
        self.moments[number] = _now(), _now()

    def end(self, number: int, outcome: Outcome, artifact: AnyArtifact | None, following: Trial | None = None) -> bool:
        """Record the outcome of a trial; see MemoryTrialStore.end."""
        is_begun = super().end(number, outcome, artifact, following)
        self.moments[number] = self.moments[number][0], _now()
        if following is not None and is_begun:
            self.moments[following.number] = _now(), _now()
        return is_begun


@dataclass
class KitJob:
    """The measurement of the kernels of a problem, the default's first. `stop` or `error` say how it ended."""

    problem: GemmProblem
    kernels: tuple[KernelRecord, ...]
    seconds: float
    trials: TimedTrials = field(default_factory=TimedTrials)
    wall: WallTime = NOTHING
    stop: Stop | None = None
    error: str | None = None
    started: datetime = field(default_factory=_now)
    id: UUID = field(default_factory=_new_id)

    @property
    def done(self) -> list[Trial]:
        """Trials that ended."""
        return [trial for trial in self.trials.trials() if trial.outcome is not None]

    def run(self, device: Device, on_trial: Callable[[Trial], None]) -> None:
        """Verify and measure each kernel; what ended is kept, however the run ends.

        Raises:
            NothingExecuted: the driver runs no kernels.
            DeviceUnusable: the device failed repeatedly.
            TooLargeToProve, Refused: this machine cannot measure the problem.
        """

        def heard(event: Event) -> None:
            if isinstance(event, WallTime):
                self.wall = WallTime(*(getattr(self.wall, f.name) + getattr(event, f.name) for f in fields(WallTime)))
            if isinstance(event, TrialEnded):
                on_trial(event.trial)

        configs = [kernel.config for kernel in self.kernels if isinstance(kernel.config, XeConfig)]
        pool = StoredKernels(self.kernels)
        try:
            self.stop = measure_given(
                self.problem, device.spec, device, self.trials, pool, configs, self.seconds, _SEED, heard
            )
        except (NoValidMeasurement, DeviceUnusable) as error:
            self.error = str(error)
            if isinstance(error, DeviceUnusable):
                raise

    def records(self, spec: DeviceSpec) -> Iterator[Record]:
        """Yield the job on a device, the kernels that have a time, and the trials that ended."""
        yield self._job(spec)
        kernels = {kernel.config: kernel for kernel in self.kernels}
        for trial in self.done:
            assert trial.outcome is not None  # it ended
            begun, ended = (moment.isoformat() for moment in self.trials.moments[trial.number])
            record = partial(TrialRecord, str(self.id), trial.number, trial.config)
            if trial.outcome.measurement is None:
                yield record(replace(trial.outcome, kernel_hash=None), begun, ended)
                continue
            kernel = kernels[trial.config]
            yield kernel
            yield record(
                trial.outcome,
                begun,
                ended,
                compile_key=kernel.compile_key,
                versions=dict(kernel.toolchain),
                measured_at=ended,
                predicted_at=None if trial.outcome.prediction is None else ended,
            )

    def _job(self, spec: DeviceSpec) -> JobRecord:
        status = Ended.SUCCEEDED if self.stop is not None else Ended.FAILED if self.error is not None else None
        best, wall = best_of(self.done), {f.name: getattr(self.wall, f.name) for f in fields(WallTime)}
        return JobRecord(
            id=str(self.id),
            problem=self.problem.key,
            device=spec.id,
            driver=spec.driver or "",
            status=status or Ended.CANCELLED,
            options=JobOptions(budget=Budget(len(self.kernels), self.seconds), seed=_SEED),
            created_at=self.started.isoformat(),
            started_at=self.started.isoformat(),
            finished_at=_now().isoformat(),
            best=None if best is None else best.number,
            error=self.error,
            effort=Effort(**wall, device_restarts=0),
            stop=self.stop,
        )
