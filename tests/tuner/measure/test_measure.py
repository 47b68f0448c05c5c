"""Measurement of one candidate: every failure is an outcome with a reason, not an exception."""

from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest

import hal
from codegen import AnyArtifact, CodegenError, CompileCrashed, CompileFailed, CompileTimedOut, GemmArtifact, Refused
from codegen.pipeline import compile_gemm
from codegen.simulate import SimulationRefused
from hal import (
    Buffer,
    DeviceCrashed,
    DeviceFailed,
    DeviceKind,
    DeviceSpec,
    DeviceTimedOut,
    Fact,
    HalError,
    KernelBuildFailed,
    LaunchSpec,
    find,
)
from hal.facts.spec import spec_from_facts
from tests.tuner.fakes import SMALL, FakeCompilation, FakeDevice, emulated
from tuner.measure.isa_check import Unexamined
from tuner.measure.measure import (
    Bench,
    Limits,
    evaluate,
    foresee,
    median_us,
    timing_for,
)
from tuner.session.trial import (
    Acceptance,
    Outcome,
    Prediction,
    ProofKind,
    Status,
)
from tuner.space.xe.heuristic import default_config
from tuner.verify.reference import Reference

CONFIG = default_config(SMALL, emulated())
LIMITS = Limits(all_s=5, run_s=7)
PREDICTION = Prediction(10.0, 4.0, 30.0, "model 3")


def _bench(fault: HalError | None = None) -> tuple[Bench, FakeDevice]:
    device = FakeDevice(SMALL, emulated(), every=fault)
    return Bench(SMALL, device.spec, device, Reference(SMALL, 1)), device


def _outcome(error: CodegenError | None = None, fault: HalError | None = None) -> Outcome:
    outcome, artifact = evaluate(_bench(fault)[0], Unexamined(FakeCompilation(SMALL, CONFIG, error)), LIMITS)
    assert (artifact is None) == (outcome.kernel_hash is None)
    return outcome


def test_a_right_kernel_is_proven_and_measured() -> None:
    bench, device = _bench()
    outcome, artifact = evaluate(bench, Unexamined(FakeCompilation(SMALL, CONFIG)), LIMITS)
    assert artifact is not None
    assert outcome.status is Status.MEASURED
    assert outcome.kernel_hash == artifact.content_hash
    times = outcome.measurement
    assert times is not None
    assert times.min_us < times.p10_us < times.median_us < times.p90_us
    assert (times.samples, times.label, times.driver) == (5, "DPAS emulated", "fake 1")
    assert outcome.proof.kind is ProofKind.OPENCL_CPU
    assert outcome.proof.checked == outcome.proof.total
    assert [timed for _, _, timed in device.runs] == [True]  # the run that is proven is the one that is timed
    assert all(0 < timeout_s <= 7 for _, timeout_s, _ in device.runs)


def test_what_was_predicted_is_kept_beside_a_measurement_and_only_there() -> None:
    bench, device = _bench()
    outcome, _ = evaluate(bench, Unexamined(FakeCompilation(SMALL, CONFIG)), LIMITS, PREDICTION)
    assert outcome.measurement is not None
    assert (outcome.prediction, outcome.time_us) == (PREDICTION, outcome.measurement.median_us)
    device.every = DeviceCrashed("SIGSEGV")
    outcome, _ = evaluate(bench, Unexamined(FakeCompilation(SMALL, CONFIG)), LIMITS, PREDICTION)
    assert (outcome.status, outcome.prediction) == (Status.CRASHED, None)


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (Refused("registers", "too large"), Status.REJECTED, "rule registers: too large"),
        (CompileFailed("llvm", "no"), Status.COMPILE_FAILED, "stage llvm: no"),
        (CompileCrashed("worker", "SIGSEGV"), Status.COMPILE_FAILED, "SIGSEGV"),
        (CompileTimedOut("worker", "60 s"), Status.TIMED_OUT, "compilation: stage worker: 60 s"),
        (SimulationRefused("call", "unknown"), Status.REJECTED, "not verified: "),
    ],
)
def test_a_compilation_that_fails(error: CodegenError, status: Status, reason: str) -> None:
    outcome = _outcome(error=error)
    assert outcome.status is status
    assert reason in (outcome.reason or "")


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (KernelBuildFailed("refused"), Status.COMPILE_FAILED),
        (DeviceTimedOut("7 s"), Status.TIMED_OUT),
        (DeviceCrashed("SIGSEGV"), Status.CRASHED),
        (DeviceFailed("lost"), Status.CRASHED),
    ],
)
def test_a_run_that_fails(fault: HalError, status: Status) -> None:
    outcome = _outcome(fault=fault)
    assert outcome.status is status
    assert outcome.reason == str(fault)
    assert outcome.proof.kind is ProofKind.NONE


def test_a_wrong_result_has_no_time() -> None:
    def spoil(c: Buffer) -> None:
        c[3, 5] = 9

    bench, device = _bench()
    device.every = spoil
    outcome, _ = evaluate(bench, Unexamined(FakeCompilation(SMALL, CONFIG)), LIMITS)
    assert outcome.status is Status.WRONG_RESULT
    assert "C[3, 5] is 9, expected" in (outcome.reason or "")
    assert outcome.proof.tolerance is not None
    assert outcome.proof.max_error is not None
    assert outcome.proof.max_error > 7 > outcome.proof.tolerance
    assert len(device.runs) == 1


def test_a_hanging_compilation_ends_with_the_job() -> None:
    compilation = FakeCompilation(SMALL, CONFIG, hangs=True)
    outcome, _ = evaluate(_bench()[0], Unexamined(compilation), Limits(all_s=0.05, run_s=7))
    assert outcome.status is Status.TIMED_OUT
    assert 0.04 < outcome.compile_s < 5


@dataclass
class _Slow(FakeCompilation):
    """A compilation that takes some of the clock's seconds."""

    takes_s: float = 0.0
    clock: list[float] = field(default_factory=lambda: [1000.0])

    def result(self) -> AnyArtifact:
        self.clock[0] += self.takes_s
        return super().result()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Replace the clock of candidates: only compiling takes time."""
    now = [1000.0]
    monkeypatch.setattr("tuner.measure.measure.time.perf_counter", lambda: now[0])
    return now


@pytest.mark.parametrize(("takes_s", "run_s"), [(0.5, 7.0), (4.0, 6.0), (9.5, 0.5)])
def test_what_a_candidate_waited_for_its_kernel_it_may_not_run(
    clock: list[float], takes_s: float, run_s: float
) -> None:
    bench, device = _bench()
    slow = _Slow(SMALL, CONFIG, takes_s=takes_s, clock=clock)
    outcome, _ = evaluate(bench, Unexamined(slow), Limits(all_s=10, run_s=7))
    assert (outcome.status, outcome.compile_s) == (Status.MEASURED, takes_s)
    assert [timeout_s for _, timeout_s, _ in device.runs] == [run_s]
    median_us(bench, slow, Limits(10, 10))
    assert device.runs[-1][1] == 10 - takes_s


def test_a_kernel_that_comes_when_the_job_is_over_does_not_run(clock: list[float]) -> None:
    bench, device = _bench()
    slow = _Slow(SMALL, CONFIG, takes_s=10.5, clock=clock)
    outcome, artifact = evaluate(bench, Unexamined(slow), Limits(all_s=10, run_s=7))
    assert (outcome.status, outcome.kernel_hash, artifact) == (Status.TIMED_OUT, None, None)
    assert outcome.reason == "compilation: stopped after 10.0 s, when the job ends"
    outcome, _ = foresee(
        Bench(SMALL, find("b580"), None, Reference(SMALL, 1)),
        Unexamined(slow),
        Limits(all_s=10, run_s=7),
        PREDICTION,
        prove=True,
        keep_spilling=lambda: False,
    )
    assert outcome.status is Status.TIMED_OUT
    assert median_us(bench, slow, Limits(10, 10)) is None
    assert not device.runs


@dataclass
class _Starting(FakeDevice):
    """A device whose process takes some of the clock's seconds to start, or reaches the caller's time limit."""

    takes_s: float = 0.0
    clock: list[float] = field(default_factory=lambda: [1000.0])

    def start(self, timeout_s: float) -> None:
        self.clock[0] += min(self.takes_s, timeout_s)
        if self.takes_s > timeout_s:
            raise DeviceTimedOut(f"opening fake: no answer within {timeout_s:g} s")


def _starting(clock: list[float], takes_s: float) -> tuple[Bench, _Starting]:
    device = _Starting(SMALL, emulated(), takes_s=takes_s, clock=clock)
    return Bench(SMALL, device.spec, device, Reference(SMALL, 1)), device


def test_starting_the_device_takes_of_the_job_and_not_of_the_run(clock: list[float]) -> None:
    bench, device = _starting(clock, 25.0)
    limits = Limits(all_s=60, run_s=20)
    assert median_us(bench, FakeCompilation(SMALL, CONFIG), limits) is not None
    assert evaluate(bench, Unexamined(FakeCompilation(SMALL, CONFIG)), limits)[0].status is Status.MEASURED
    assert [timeout_s for _, timeout_s, _ in device.runs] == [20.0, 20.0]


def test_a_start_that_the_end_of_the_job_cuts_off_is_not_the_devices_failure(clock: list[float]) -> None:
    bench, device = _starting(clock, 25.0)
    outcome, artifact = evaluate(bench, Unexamined(FakeCompilation(SMALL, CONFIG)), Limits(all_s=2, run_s=2))
    assert (outcome.status, outcome.kernel_hash, artifact) == (Status.TIMED_OUT, None, None)
    assert outcome.reason == "opening the device: stopped after 2.0 s, when the job ends"
    assert not device.runs


def test_the_first_tenth_of_the_samples_does_not_count() -> None:
    bench, device = _bench()
    # A GPU that boosts at first: by 10 % for two launches of twenty.
    device.times_us = (90.0, 91.0, *(100.0 + number for number in range(18)))
    outcome, _ = evaluate(bench, Unexamined(FakeCompilation(SMALL, CONFIG)), LIMITS)
    times = outcome.measurement
    assert times is not None
    assert (times.samples, times.min_us, times.median_us) == (18, 100.0, 108.5)
    assert times.first_ratio == pytest.approx(90 / 108.5)
    assert median_us(bench, FakeCompilation(SMALL, CONFIG), LIMITS) == 108.5


def test_conditions_are_kept_with_the_times() -> None:
    bench, device = _bench()
    outcome, _ = evaluate(bench, Unexamined(FakeCompilation(SMALL, CONFIG)), LIMITS)
    assert outcome.measurement is not None
    assert (outcome.measurement.stopped_early, outcome.measurement.clock_mhz) == (False, None)
    assert outcome.measurement.energy_uj is None
    device.report = {"stopped_early": True, "clock_mhz": 2850.0, "sampling_s": 0.25, "energy_uj": 5120.0}
    outcome, _ = evaluate(bench, Unexamined(FakeCompilation(SMALL, CONFIG)), LIMITS)
    assert outcome.measurement is not None
    assert (outcome.measurement.stopped_early, outcome.measurement.clock_mhz) == (True, 2850.0)
    assert outcome.measurement.energy_uj == 5120.0
    assert outcome.measure_s == 0.25


def test_a_clock_that_stands_still_gives_no_measurement() -> None:
    bench, device = _bench()
    device.time_us = lambda _: 0.0
    outcome, _ = evaluate(bench, Unexamined(FakeCompilation(SMALL, CONFIG)), LIMITS)
    assert outcome.status is Status.REJECTED
    assert "clock" in (outcome.reason or "")


@cache
def _for_b580() -> GemmArtifact:
    return compile_gemm(SMALL, default_config(SMALL, find("b580")), find("b580"))


class _Ready(FakeCompilation):
    """A kernel for an absent GPU that is compiled already."""

    def result(self) -> GemmArtifact:
        return _for_b580()


@dataclass
class _Acceptor:
    """A driver that answers as told; `seen` are the launches that it was given."""

    answer: Exception | str
    seen: list[LaunchSpec] = field(default_factory=list[LaunchSpec])

    def accept(self, launch: LaunchSpec, timeout_s: float) -> hal.Acceptance:
        assert 0 < timeout_s <= 20
        self.seen.append(launch)
        if isinstance(self.answer, Exception):
            raise self.answer
        return hal.Acceptance("26.27.1", "bmg", self.answer, ())


def _foreseen(acceptor: _Acceptor | None, prove: bool = True) -> Outcome:
    spec = find("b580")
    bench = Bench(SMALL, spec, None, Reference(SMALL, 1), acceptor)
    candidate = Unexamined(_Ready(SMALL, _for_b580().config))
    return foresee(bench, candidate, LIMITS, PREDICTION, prove=prove, keep_spilling=lambda: False)[0]


@pytest.mark.parametrize(("log", "kept"), [("", None), ("w" * 5000, "w" * 2000)])
def test_a_kernel_that_is_verified_is_accepted_by_the_driver_too(log: str, kept: str | None) -> None:
    acceptor = _Acceptor(log)
    outcome = _foreseen(acceptor)
    assert (outcome.status, outcome.acceptance) == (Status.PREDICTED, Acceptance("26.27.1", "bmg", kept))
    assert outcome.proof.kind is ProofKind.SIMULATOR
    assert acceptor.seen == [_for_b580().launch]
    assert (_foreseen(acceptor, prove=False).acceptance, len(acceptor.seen)) == (None, 1)
    assert _foreseen(None).acceptance is None


def test_a_kernel_that_the_driver_refuses_has_no_time_and_is_not_verified() -> None:
    outcome = _foreseen(_Acceptor(KernelBuildFailed("26.27.1 refused gemm: INVALID_WORK_GROUP_SIZE")))
    assert (outcome.status, outcome.acceptance, outcome.proof.kind) == (Status.COMPILE_FAILED, None, ProofKind.NONE)
    assert "INVALID_WORK_GROUP_SIZE" in (outcome.reason or "")


@pytest.mark.parametrize("failure", [DeviceCrashed("was ended by SIGABRT"), DeviceTimedOut("no answer")])
def test_a_driver_that_gives_no_answer_says_nothing_about_the_kernel(failure: Exception) -> None:
    outcome = _foreseen(_Acceptor(failure))
    assert (outcome.status, outcome.acceptance) == (Status.PREDICTED, None)
    assert outcome.proof.kind is ProofKind.SIMULATOR


def test_a_kernel_for_an_absent_gpu_is_simulated_and_predicted() -> None:
    outcome = _foreseen(None)
    assert outcome.status is Status.PREDICTED
    assert outcome.proof.kind is ProofKind.SIMULATOR
    assert outcome.proof.checked == outcome.proof.total > 0
    assert outcome.measurement is None


def test_timing_rotates_beyond_the_cache_of_a_gpu() -> None:
    spec = find("b580")
    assert spec.l2_bytes is not None
    assert timing_for(spec, None).rotate_bytes > 2 * spec.l2_bytes
    assert (timing_for(spec, 10.0).hopeless_us, timing_for(spec, 10.0).behind_us) == (20.0, 13.0)
    assert (timing_for(spec, None).hopeless_us, timing_for(spec, None).behind_us) == (None, None)
    assert timing_for(emulated(), None).rotate_bytes == 0
    b65, lunar_lake = find("b65"), find("lunar-lake")
    assert b65.xe_cores is not None
    assert timing_for(b65, None).rotate_bytes > 2 * b65.xe_cores * 2**20  # of an L2 of any plausible size
    assert timing_for(lunar_lake, None).rotate_bytes > 2 * (8 + 8) * 2**20  # with the cache beside memory


def test_timing_rotates_beyond_all_last_caches_of_a_cpu() -> None:
    facts = {"cores": 24, "l2_bytes": 2 << 20, "cores_per_l2": 1, "l3_bytes": 32 << 20, "cores_per_l3": 8}
    assert timing_for(_cpu(**facts), None).rotate_bytes > 2 * 3 * (32 << 20)
    assert timing_for(_cpu(**facts | {"l3_bytes": None}), 10.0).rotate_bytes > 2 * 24 * (2 << 20)
    assert timing_for(_cpu(**facts), 10.0).hopeless_us == 20.0


def test_a_cpu_that_runs_its_own_kernels_is_the_device_of_proof_and_times() -> None:
    device = FakeDevice(SMALL, _cpu(cores=2, l2_bytes=1 << 20))
    bench = Bench(SMALL, device.spec, device, Reference(SMALL, 1))
    outcome, _ = evaluate(bench, Unexamined(FakeCompilation(SMALL, CONFIG)), LIMITS)
    assert outcome.measurement is not None
    assert (outcome.measurement.label, outcome.proof.kind) == ("native", ProofKind.DEVICE)


def _cpu(**values: int | None) -> DeviceSpec:
    facts = [Fact(name, value, "probed") for name, value in values.items()]
    return spec_from_facts("cpu-fake-2c", "Fake CPU", DeviceKind.CPU, facts)


def test_a_finalist_that_fails_gives_no_time() -> None:
    bench, device = _bench()
    assert median_us(bench, FakeCompilation(SMALL, CONFIG), LIMITS) == pytest.approx(
        np.median([device.time_us(run[0]) * 1.02 for run in device.runs])
    )
    assert median_us(_bench(DeviceCrashed("x"))[0], FakeCompilation(SMALL, CONFIG), LIMITS) is None
    assert median_us(bench, FakeCompilation(SMALL, CONFIG, CompileFailed("llvm", "x")), LIMITS) is None
