"""Execution of a claimed job: assembly of devices, compile workers, the tuner and the database."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from uuid import UUID

from sqlalchemy.orm import Session

from codegen import AnyArtifact, KernelConfig, XeConfig
from codegen.errors import OclocUnusable
from codegen.serialization import decode
from codegen.workers.cache import CacheUses
from db.errors import DatabaseError
from db.queries import (
    jobs,
    metrics,
)
from db.queries.cluster import leases
from db.schema.change import Tallied
from db.session import Database
from hal import DeviceSpec, ListedDevice, SimulatedDevice, UnknownDevice
from service.api.toolchain.driver import AcceptorFor
from service.api.toolchain.offline import NativeFor
from service.artifacts import ArtifactStore
from service.cluster.caching import CachingCompiler
from service.cluster.executor import (
    Executor,
    OpenedDevice,
)
from service.cluster.local import LocalExecutor
from service.jobs.device_rates import measure_again, measure_once, stored_rates
from service.jobs.job_runs import (
    ClaimedJob,
    JobEnd,
)
from service.jobs.measurement_reuse import known_of
from service.jobs.restrictions import restricted, restrictions_of, restrictions_to_json
from service.jobs.store import DbTrialStore
from service.jobs.warm_start import donors_for
from service.telemetry.loggers import Logger
from service.telemetry.traces import note_trial
from tuner.errors import NoRoofline
from tuner.measure.measure import Compiler
from tuner.measure.measure_configs import measure_given
from tuner.measure.measurement_reuse import KnownTimes
from tuner.model.roof import roof_us
from tuner.search.method import learns
from tuner.session.result import (
    Comparison,
    Event,
    SessionResult,
    Stop,
    TrialEnded,
    WallTime,
)
from tuner.session.session import run_session
from tuner.session.trial import (
    Outcome,
    ReusedFrom,
    Trial,
)
from tuner.space.xe.heuristic import default_config

Listener = Callable[[Event], None]
BuildBinary = Callable[[Database, UUID], None]
"""Build the native binary of a kernel, unless it is stored; raises OclocUnusable."""
_log = Logger(__name__)


@dataclass(frozen=True, slots=True)
class Tuning:
    """Environment for running jobs.

    `executor` compiles and runs kernels. `on_event` is called with each trial, `on_wait` with the user that a
    job waits for; `build_binary` builds the native binary of a kernel, `native_for` compiles kernels for their GPU, and
    `acceptor_for` opens the driver that accepts them.
    """

    database: Database
    artifacts: ArtifactStore
    cache: Path
    on_event: Listener = lambda _event: None
    executor: Executor = field(default_factory=LocalExecutor)
    native_for: NativeFor = lambda _spec: None
    acceptor_for: AcceptorFor = lambda _spec: None
    build_binary: BuildBinary | None = None
    on_wait: Callable[[str], None] = lambda _message: None

    def run(self, job: ClaimedJob, interrupt: threading.Event) -> JobEnd:
        """Tune until the budget is spent, the space is exhausted, or cancellation is requested.

        Raises:
            CodegenError, HalError, TunerError, StorageError: the job cannot produce a result.
            LeaseLost: another worker took the job.
            DatabaseError: the database does not answer; the job is unchanged.
        """
        with self.database.read() as session:
            kernel_id = jobs.binary_of(session, job.id)
        if kernel_id is not None:
            return self._build(kernel_id)
        store = self.store_of(job, interrupt)
        with self.opened(job.spec.device, store.cancelled, f"job {job.id}") as opened:
            return ended_by(interrupt) if opened is None else self._tune(job, *opened, store)

    def _build(self, kernel_id: UUID) -> JobEnd:
        if self.build_binary is None:
            raise OclocUnusable("this worker builds no native binaries: it was started without their compiler")
        self.build_binary(self.database, kernel_id)
        return JobEnd.SUCCEEDED

    def store_of(self, job: ClaimedJob, interrupt: threading.Event) -> "Interruptible":
        """Return the trial store of a claimed job, which the event cancels too."""
        return Interruptible(DbTrialStore(self.database, self.artifacts, job.id, job.worker), interrupt)

    @contextmanager
    def opened(
        self, asked: DeviceSpec, stopped: Callable[[], bool], user: str
    ) -> Generator[tuple[ListedDevice, OpenedDevice | None] | None]:
        """Open the requested device exclusively, and take its restrictions; the device is None if it is not in this
        machine.

        `user` is shown to other waiting processes; yields None if `stopped` returned true while waiting.

        Raises:
            HalError: it is unknown here, or cannot be opened.
            StorageError: its lock cannot be created.
        """
        listed = self.executor.resolve(asked.id)
        _check_same(asked, listed)
        if not listed.runnable:
            yield listed, None
            return
        with self.executor.opened(listed, stopped, user, self.on_wait) as device:
            if device is not None:
                measure_once(self.database, device, listed.spec)
            yield None if device is None else (self._restricted(listed), device)

    def _restricted(self, listed: ListedDevice) -> ListedDevice:
        with self.database.read() as session:
            return restricted(listed, restrictions_of(session, listed.spec))

    def note_restrictions(self, job: ClaimedJob, listed: ListedDevice) -> None:
        """Record and log the restrictions with which a job's run uses its device; does nothing for an absent one."""
        if not listed.runnable:
            return
        with self.database.write() as session:
            leases.check_own(session, job.id, job.worker)
            found = restrictions_to_json(restrictions_of(session, listed.spec))
            jobs.set_restrictions(session, job.id, found)
        for each in found:
            _log.info("device is restricted", device=listed.spec.id, **each)

    @contextmanager
    def compilers(self) -> Generator[CachingCompiler]:
        """Open compile workers with the cache; its hits are added to the database at the end."""
        with self.executor.compilers(self.cache) as pool:
            try:
                yield pool
            finally:
                self._add_uses(pool.uses)

    @contextmanager
    def accepting(self, spec: DeviceSpec, device: OpenedDevice | None) -> Generator[SimulatedDevice | None]:
        """Open the driver that accepts kernels for an absent GPU; None where the GPU is, or there is no driver."""
        with (self.acceptor_for(spec) if device is None else None) or nullcontext() as acceptor:
            yield acceptor

    def _add_uses(self, uses: CacheUses) -> None:
        try:
            with self.database.write() as session:
                metrics.count(
                    session, {Tallied.COMPILE_CACHE_HITS: uses.hits, Tallied.COMPILE_CACHE_MISSES: uses.misses}
                )
        except DatabaseError as error:  # statistics only: the error of the block takes precedence
            _log.warning("uses of the compile cache not counted", error=str(error))

    @contextmanager
    def listener(self, store: "Interruptible", device: OpenedDevice | None) -> Generator[Listener]:
        """Yield a listener that adds the wall times of a run to its job with the end of each trial, so that little is
        lost if it is killed, and the rest after the block.
        """
        before = 0 if device is None else device.restarts

        def heard(event: Event) -> None:
            nonlocal before
            if isinstance(event, WallTime):
                restarts = 0 if device is None else device.restarts
                store.store.spend(asdict(event) | {"device_restarts": restarts - before})
                before = restarts
            if isinstance(event, TrialEnded):
                note_trial(event.trial)
            self.on_event(event)

        try:
            yield heard
        except BaseException:
            try:
                store.store.flush()
            except DatabaseError as error:  # the error of the block takes precedence
                _log.warning("wall times not added", error=str(error))
            raise
        store.store.flush()

    def _tune(
        self, job: ClaimedJob, listed: ListedDevice, device: OpenedDevice | None, store: "Interruptible"
    ) -> JobEnd:
        given = self._given(job)
        self.note_restrictions(job, listed)
        with self.compilers() as pool:
            if given:
                return self._measure(job, listed, device, store, pool, given)
            with self.accepting(listed.spec, device) as acceptor, self.listener(store, device) as heard:
                result = run_session(
                    replace(job.spec, device=listed.spec),
                    device,
                    store,
                    pool,
                    heard,
                    self.native_for(listed.spec),
                    donors=self.warm_starts(job, listed),
                    known=self.known_times(job, listed),
                    acceptor=acceptor,
                    rates=stored_rates(self.database, listed.spec),
                )
        self._keep(job, result)
        if device is not None:
            self._check_rates(job, listed.spec, device, result)
        return JobEnd.SUCCEEDED if result.stop is not Stop.CANCELLED else ended_by(store.interrupt)

    def _check_rates(self, job: ClaimedJob, spec: DeviceSpec, device: OpenedDevice, result: SessionResult) -> None:
        """Measure the rates of a CPU again if the best kernel beats the roofline that follows from them."""
        rates = stored_rates(self.database, spec)
        best_us = None if rates is None or result.best is None else result.best.time_us
        if best_us is None:
            return
        try:
            beaten = best_us < roof_us(job.spec.problem, spec, rates)
        except NoRoofline:
            return
        if beaten:
            measure_again(self.database, device, spec)

    def warm_starts(self, job: ClaimedJob, listed: ListedDevice) -> list[KernelConfig]:
        """Return the warm starts of a search that measures and learns; one that predicts ranks its whole space."""
        if not job.spec.warm_start or not listed.runnable or not learns(job.spec.search):
            return []
        return donors_for(self.database, job.id, job.spec.problem, listed.spec)

    def known_times(self, job: ClaimedJob, listed: ListedDevice) -> KnownTimes | None:
        """Return earlier measurements of the problem on this device; None if the job measures everything, or
        nothing.
        """
        if not job.spec.reuse or not listed.runnable:
            return None
        return known_of(self.database, job.id, job.spec.problem, listed.spec)

    def _given(self, job: ClaimedJob) -> list[XeConfig]:
        with self.database.read() as session:
            return [decode(XeConfig, config) for config in jobs.candidates_of(session, job.id)]

    def _measure(
        self,
        job: ClaimedJob,
        listed: ListedDevice,
        device: OpenedDevice | None,
        store: "Interruptible",
        pool: Compiler,
        given: list[XeConfig],
    ) -> JobEnd:
        """Measure the given configurations of the job, without a search."""
        if device is None:
            raise UnknownDevice(f"{listed.spec.id} is not in this machine; run a worker where it is")
        problem, seconds, seed = job.spec.problem, job.spec.budget.seconds, job.spec.seed
        configs = [default_config(problem, listed.spec), *given]
        with self.listener(store, device) as heard:
            stop = measure_given(problem, listed.spec, device, store, pool, configs, seconds, seed, heard)
        with self.database.write() as session:
            leases.check_own(session, job.id, job.worker)
            jobs.set_stop(session, job.id, stop.value)
        return JobEnd.SUCCEEDED if stop is not Stop.CANCELLED else ended_by(store.interrupt)

    def _keep(self, job: ClaimedJob, result: SessionResult) -> None:
        """Record the searched space, and the winner of the re-measurement of default and best, interleaved."""
        with self.database.write() as session:
            leases.check_own(session, job.id, job.worker)
            jobs.set_stop(session, job.id, result.stop.value)
            if result.space_version is not None:
                jobs.set_space(session, job.id, result.space_version)
            keep_comparison(session, job.id, result.best, result.comparison)


@dataclass(frozen=True, slots=True)
class Interruptible:
    """A TrialStore that an event cancels too."""

    store: DbTrialStore
    interrupt: threading.Event

    def trials(self) -> list[Trial]:
        return self.store.trials()

    def begin(self, number: int, config: KernelConfig, proposer: str | None = None) -> None:
        self.store.begin(number, config, proposer)

    def end(self, number: int, outcome: Outcome, artifact: AnyArtifact | None, following: Trial | None = None) -> bool:
        return self.store.end(number, outcome, artifact, None if self.interrupt.is_set() else following)

    def reuse(self, number: int, outcome: Outcome, source: ReusedFrom, artifact: AnyArtifact | None) -> None:
        self.store.reuse(number, outcome, source, artifact)

    def spent_s(self) -> float:
        return self.store.spent_s()

    def cancelled(self) -> bool:
        return self.interrupt.is_set() or self.store.cancelled()


def keep_comparison(session: Session, job_id: UUID, best: Trial | None, compared: Comparison | None) -> None:
    """Record the winner of a job's re-measurement of default and best, if there was one."""
    if best is not None and compared is not None and compared.remeasured:
        jobs.set_best(session, job_id, best.number)
        jobs.set_comparison(session, job_id, default_us=compared.default_us, best_us=compared.best_us)


def ended_by(interrupt: threading.Event) -> JobEnd:
    """Return the end of a stopped job: interrupted with this process, or cancelled."""
    return JobEnd.INTERRUPTED if interrupt.is_set() else JobEnd.CANCELLED


def _check_same(asked: DeviceSpec, here: ListedDevice) -> None:
    """Check that the requested device is the local one: a job for a real device must not fall back to
    predictions.
    """
    if asked.driver is not None and not here.runnable:
        raise UnknownDevice(
            f"the job was asked for {asked.id} with driver {asked.driver}, which is not in this machine; "
            "run a worker where it is"
        )
