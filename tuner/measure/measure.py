"""Evaluation of one candidate: compile, verify, time. The one place where failures become Outcomes."""

import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np

from codegen import (
    AnyArtifact,
    CompileFailed,
    CompileTimedOut,
    GemmArtifact,
    GemmProblem,
    KernelConfig,
    Refused,
)
from codegen.simulate import (
    SimulationRefused,
    SimulationTimedOut,
)
from hal import Acceptor, Device, DeviceFailed, DeviceSpec, DeviceTimedOut, KernelBuildFailed, RunReport, Timing
from tuner.backend import tuning_for
from tuner.errors import ProofFailed
from tuner.measure.isa_check import (
    Compilation,
    Examining,
)
from tuner.session.evidence import (
    EMULATED,
    NATIVE,
)
from tuner.session.trial import (
    Acceptance,
    Measurement,
    Outcome,
    Prediction,
    Proof,
    ProofKind,
    Status,
)
from tuner.verify.memory_layout import Float64
from tuner.verify.reference import Reference
from tuner.verify.verify import (
    verify_by_simulation,
    verify_on_device,
)

# Factors over the best time so far: a kernel whose median is above the first, or whose least time is above the
# second, which is beyond the tolerance for finalists, is not timed to the end.
_HOPELESS, _BEHIND = 2.0, 1.3
_FIRST_PART = 10  # the first of that many samples is left out: unlocked clocks start high
ACCEPT_S = 20.0
"""Seconds for a driver to accept a kernel; a build takes less than one."""
_LOG_CHARACTERS = 2000
_EMULATED_TIMING = Timing(warmup_s=0.0, min_samples=7, min_time_s=0.2, max_time_s=1.5)


class Compiler(Protocol):
    """Begins compilations; `workers` run concurrently, and `busy_s` is the time so far with at least one running."""

    @property
    def workers(self) -> int: ...

    @property
    def busy_s(self) -> float: ...

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Compilation: ...


@dataclass(frozen=True, slots=True)
class Bench:
    """State shared by a job's candidates. Without a device, times are predicted for `spec`.

    The `acceptor`, if any, accepts kernels for a GPU that is absent.
    """

    problem: GemmProblem
    spec: DeviceSpec
    device: Device | None
    reference: Reference
    acceptor: Acceptor | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one candidate: seconds in total, at most `run_s` of them for its run, and the best time so far."""

    all_s: float
    run_s: float
    best_us: float | None = None

    def run_after_s(self, waited_s: float) -> float:
        """Return the seconds for the run of a kernel after waiting for it.

        Raises:
            CancelledError: none are left.
        """
        if waited_s >= self.all_s:
            raise CancelledError
        return min(self.run_s, self.all_s - waited_s)


@runtime_checkable
class StartingDevice(Protocol):
    """A device whose process may take long to start: at its first run, and after a loss."""

    def start(self, timeout_s: float) -> None:
        """Start it unless it is running; raises DeviceTimedOut after `timeout_s`."""
        ...


@dataclass(slots=True)
class _Progress:
    """Progress of a candidate: the parts of an Outcome that are recorded however it ends."""

    artifact: AnyArtifact | None = None
    proof: Proof = field(default_factory=lambda: Proof(ProofKind.NONE))
    acceptance: Acceptance | None = None
    compile_s: float = 0.0
    verify_s: float = 0.0
    measure_s: float = 0.0


def evaluate(
    bench: Bench,
    candidate: Examining,
    limits: Limits,
    prediction: Prediction | None = None,
    known: Callable[[AnyArtifact], Outcome | None] = lambda _: None,
) -> tuple[Outcome, AnyArtifact | None]:
    """Wait for the kernel, verify it, and measure its time; the prediction is stored with the measurement.

    A `known` outcome of the kernel replaces verification and measurement.
    """
    progress = _Progress()

    def measure() -> Outcome:
        with _stopwatch(progress, "compile_s"), _time_limit(candidate, limits.all_s):
            progress.artifact = candidate.result().artifact
        if (outcome := known(progress.artifact)) is not None:
            progress.proof = outcome.proof
            return outcome
        return _timed(bench, progress.artifact, limits, progress, prediction)

    return _ended(measure, limits, progress)


def foresee(
    bench: Bench,
    candidate: Examining,
    limits: Limits,
    prediction: Prediction,
    *,
    prove: bool,
    keep_spilling: Callable[[], bool],
) -> tuple[Outcome, AnyArtifact | None]:
    """Wait for the kernel of a predicted time; if `prove` is true, let the driver accept it and verify it by its
    machine code, or in the simulator.

    Findings about its code are checked before verification and reject its time, except that a kernel that
    only spills is accepted if `keep_spilling`, called at that point, returns true.
    """
    progress = _Progress()

    def expect() -> Outcome:
        with _stopwatch(progress, "compile_s"), _time_limit(candidate, limits.all_s):
            examined = candidate.result()
            progress.artifact = examined.artifact
        finding = examined.finding
        if finding is not None and not (finding.status is Status.REJECTED and keep_spilling()):
            return Outcome(finding.status, finding.reason)
        if prove:
            assert isinstance(progress.artifact, GemmArtifact)  # only times of GPUs are predicted
            with _stopwatch(progress, "verify_s"):
                begun_s = time.perf_counter()
                limit_s = limits.run_after_s(progress.compile_s)
                progress.acceptance = _accepted(bench, progress.artifact, limit_s)
                limit_s = limits.run_after_s(progress.compile_s + time.perf_counter() - begun_s)
                progress.proof = verify_by_simulation(
                    progress.artifact, reference=bench.reference, time_limit_s=limit_s, compiled=examined.compiled
                )
        return Outcome(Status.PREDICTED, prediction=prediction)

    return _ended(expect, limits, progress)


def _accepted(bench: Bench, artifact: GemmArtifact, limit_s: float) -> Acceptance | None:
    """Return the evidence that the driver accepts a kernel; None without a driver, or if it gives no answer.

    Raises:
        KernelBuildFailed: the driver refuses the kernel or its launch.
    """
    if bench.acceptor is None:
        return None
    try:
        told = bench.acceptor.accept(artifact.launch, min(limit_s, ACCEPT_S))
    except KernelBuildFailed:
        raise
    except DeviceFailed:
        return None
    return Acceptance(told.driver, told.chip, told.log[:_LOG_CHARACTERS] or None)


def _ended(work: Callable[[], Outcome], limits: Limits, progress: _Progress) -> tuple[Outcome, AnyArtifact | None]:
    try:
        outcome = work()
    except Refused as refusal:
        outcome = Outcome(Status.REJECTED, f"rule {refusal.rule}: {refusal.message}")
    except CancelledError as ended:
        progress.artifact = None  # a kernel that came too late did not run: the device is not to blame
        what = str(ended) or "compilation"
        outcome = Outcome(Status.TIMED_OUT, f"{what}: stopped after {limits.all_s:.1f} s, when the job ends")
    except CompileTimedOut as failure:
        outcome = Outcome(Status.TIMED_OUT, f"compilation: {failure}")
    except CompileFailed as failure:
        outcome = Outcome(Status.COMPILE_FAILED, str(failure))
    except SimulationTimedOut as failure:
        outcome = Outcome(Status.TIMED_OUT, str(failure))
    except SimulationRefused as refusal:
        outcome = Outcome(Status.REJECTED, f"not verified: {refusal}")
    except ProofFailed as failure:
        progress.proof = failure.proof
        outcome = Outcome(Status.WRONG_RESULT, str(failure))
    except DeviceFailed as failure:
        outcome = Outcome(_status_of(failure), str(failure))
    finished = replace(
        outcome,
        proof=progress.proof,
        acceptance=progress.acceptance,
        kernel_hash=progress.artifact.content_hash if progress.artifact is not None else None,
        compile_s=progress.compile_s,
        verify_s=progress.verify_s,
        measure_s=progress.measure_s,
    )
    return finished, progress.artifact


def timing_for(spec: DeviceSpec, best_us: float | None) -> Timing:
    """Return the timing settings for a device: buffers exceed twice its last-level caches; fewer samples
    under emulation.
    """
    if spec.emulates is not None:
        plain = _EMULATED_TIMING
    else:
        tuning = tuning_for(spec)
        plain = replace(tuning.timing, rotate_bytes=2 * tuning.caches_bytes(spec) + 1)
    if best_us is None:
        return plain
    return replace(plain, hopeless_us=_HOPELESS * best_us, behind_us=_BEHIND * best_us)


def median_us(
    bench: Bench, kernel: AnyArtifact | Compilation, limits: Limits, kernel_hash: str | None = None
) -> float | None:
    """Time a verified kernel once more; None if that gives no time within the limits of the candidate or its run.

    `kernel_hash` is that of the kernel that was verified: another one, of another version, is not run.
    """
    assert bench.device is not None
    if limits.all_s <= 0:
        return None
    begun_s = time.perf_counter()
    try:
        if isinstance(kernel, AnyArtifact):
            artifact = kernel
        else:
            with _time_limit(kernel, limits.all_s):
                artifact = kernel.result()
        if kernel_hash not in (None, artifact.content_hash):
            return None
        _start(bench.device, limits.all_s - (time.perf_counter() - begun_s))
        limit_s = limits.run_after_s(time.perf_counter() - begun_s)
        report = bench.device.run(artifact.launch, bench.reference.buffers(), timing_for(bench.spec, None), limit_s)
    except (Refused, CompileFailed, DeviceFailed, CancelledError):
        return None
    return float(np.median(_settled(report))) if report.times_us else None


def _timed(
    bench: Bench, artifact: AnyArtifact, limits: Limits, progress: _Progress, prediction: Prediction | None
) -> Outcome:
    """Run once: the first launch gives the outputs to compare, the others the times."""
    assert bench.device is not None
    timing, left_s = timing_for(bench.spec, limits.best_us), limits.all_s - progress.compile_s
    begun_s = time.perf_counter()
    with _stopwatch(progress, "verify_s"):
        limits.run_after_s(progress.compile_s)
        try:
            _start(bench.device, left_s)
        except DeviceTimedOut:
            if time.perf_counter() - begun_s >= left_s:  # the job's time limit, not the device's own
                raise CancelledError("opening the device") from None
            raise
        limit_s = limits.run_after_s(progress.compile_s + time.perf_counter() - begun_s)
        progress.proof, report = verify_on_device(bench.device, artifact, bench.reference, timing, limit_s)
    progress.measure_s = report.sampling_s
    progress.verify_s = max(progress.verify_s - report.sampling_s, 0.0)
    return _measured(report, bench.spec, prediction)


def _start(device: Device, timeout_s: float) -> None:
    if isinstance(device, StartingDevice):
        device.start(timeout_s)


def _measured(report: RunReport, spec: DeviceSpec, prediction: Prediction | None) -> Outcome:
    times = _settled(report)
    if not len(times) or times.min() <= 0:
        return Outcome(Status.REJECTED, f"the device's clock gave {len(times)} times, the least {times.min(initial=0)}")
    p10, median, p90 = (float(value) for value in np.percentile(times, (10, 50, 90)))
    label = NATIVE if spec.emulates is None else EMULATED
    measurement = Measurement(
        median,
        float(times.min()),
        p10,
        p90,
        len(times),
        label,
        report.driver,
        stopped_early=report.stopped_early,
        first_ratio=report.times_us[0] / median,
        clock_mhz=report.clock_mhz,
        energy_uj=report.energy_uj,
    )
    return Outcome(Status.MEASURED, measurement=measurement, prediction=prediction)


def _settled(report: RunReport) -> Float64:
    """Return the times without the first ones, in microseconds."""
    return np.array(report.times_us[len(report.times_us) // _FIRST_PART :], np.float64)


def _status_of(failure: DeviceFailed) -> Status:
    if isinstance(failure, KernelBuildFailed):
        return Status.COMPILE_FAILED
    if isinstance(failure, DeviceTimedOut):
        return Status.TIMED_OUT
    return Status.CRASHED


@contextmanager
def _stopwatch(progress: _Progress, phase: str) -> Generator[None]:
    begun = time.perf_counter()
    try:
        yield
    finally:
        setattr(progress, phase, time.perf_counter() - begun)


@contextmanager
def _time_limit(compilation: Compilation | Examining, seconds: float) -> Generator[None]:
    timer = threading.Timer(max(seconds, 0.0), compilation.cancel)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
