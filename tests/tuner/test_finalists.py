"""Trials that would lead are compiled for their GPU: the report is kept, and what it finds becomes their outcome."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from codegen import GemmArtifact, KernelConfig
from codegen.errors import CompileFailed, CompileTimedOut, MissingDpas, OclocUnusable, UnresolvedBuiltins
from codegen.isa import IsaReport, NativeCode
from hal import find
from tests.tuner.fakes import SMALL, FakeCompiler, FakeDevice, artifact_of, emulated
from tuner import session
from tuner.errors import NoValidMeasurement
from tuner.finalists import Native, examine
from tuner.heuristic import default_config
from tuner.memory_store import MemoryTrialStore
from tuner.session import Budget, run_session
from tuner.trial import Measurement, Outcome, Prediction, Status

SPEC = emulated()
GPU = find("b580")
DEFAULT = default_config(SMALL, SPEC)
ARTIFACT = artifact_of(SMALL, DEFAULT)
PREDICTED = Outcome(
    Status.PREDICTED, prediction=Prediction(10.0, 4.0, 30.0, "roofline"), kernel_hash=ARTIFACT.content_hash
)
MEASURED = Outcome(
    Status.MEASURED,
    measurement=Measurement(10.0, 9.0, 9.5, 11.0, 30, "native", "1"),
    kernel_hash=ARTIFACT.content_hash,
)


def code(spill_bytes: int = 0) -> NativeCode:
    """What a GPU runs for a kernel that spills so much."""
    return NativeCode("bmg", "26.27", "", "L0:\n", (IsaReport("gemm", 256, 4, spill_bytes, 0, 100, None),), 1.0)


def gives(spill_bytes: int) -> Native:
    """A compiler whose kernels all spill so much."""

    def native(_: GemmArtifact) -> NativeCode:
        return code(spill_bytes)

    return native


def fails(error: Exception) -> Native:
    """A compiler that fails."""

    def native(_: GemmArtifact) -> NativeCode:
        raise error

    return native


def names(artifact: GemmArtifact) -> list[str]:
    """Names of the files of a kernel."""
    return [stage.file_name for stage in artifact.stages]


def test_the_report_of_a_kernel_that_spills_nothing_is_kept() -> None:
    outcome, artifact = examine(gives(0), PREDICTED, ARTIFACT, is_last_chance=False)
    assert replace(outcome, compile_s=0.0) == PREDICTED
    assert names(artifact) == [*names(ARTIFACT), "isa.asm", "isa.json"]
    assert artifact.content_hash == ARTIFACT.content_hash


def test_a_predicted_time_of_a_kernel_that_spills_is_no_time() -> None:
    outcome, artifact = examine(gives(512), PREDICTED, ARTIFACT, is_last_chance=False)
    assert (outcome.status, outcome.time_us) == (Status.REJECTED, None)
    assert outcome.reason is not None
    assert outcome.reason.startswith("spill: kernel gemm spills 512 bytes of 256 registers on bmg")
    assert "isa.json" in names(artifact)


def test_it_is_one_where_nothing_else_is_left() -> None:
    outcome, artifact = examine(gives(512), PREDICTED, ARTIFACT, is_last_chance=True)
    assert outcome.status is Status.PREDICTED
    assert "isa.json" in names(artifact)


def test_a_measured_time_stands() -> None:
    assert examine(gives(512), MEASURED, ARTIFACT, is_last_chance=False)[0].time_us == 10.0
    outcome, artifact = examine(fails(MissingDpas("isa", "none")), MEASURED, ARTIFACT, is_last_chance=False)
    assert (outcome.time_us, artifact) == (10.0, ARTIFACT)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnresolvedBuiltins("isa", "calls f"), Status.COMPILE_FAILED),
        (MissingDpas("isa", "no dpas"), Status.COMPILE_FAILED),
        (CompileFailed("isa", "exit status 7"), Status.COMPILE_FAILED),
        (CompileTimedOut("isa", "60 s"), Status.TIMED_OUT),
    ],
)
def test_code_that_cannot_be_made_fails(error: Exception, status: Status) -> None:
    outcome, artifact = examine(fails(error), PREDICTED, ARTIFACT, is_last_chance=True)
    assert (outcome.status, outcome.time_us, artifact) == (status, None, ARTIFACT)
    assert outcome.reason is not None
    assert outcome.reason.endswith(str(error))


def test_a_compiler_that_is_gone_says_nothing_of_a_kernel() -> None:
    assert examine(fails(OclocUnusable("gone")), PREDICTED, ARTIFACT, is_last_chance=False) == (PREDICTED, ARTIFACT)


def test_the_default_and_whatever_leads_is_compiled_for_its_gpu_before_it_is_recorded() -> None:
    store, seen = MemoryTrialStore(), list[KernelConfig]()

    def native(artifact: GemmArtifact) -> NativeCode:
        seen.append(artifact.config)
        return code()

    device = FakeDevice(SMALL, SPEC)
    result = run_session(SMALL, SPEC, device, store, FakeCompiler(), Budget(12, 100), 4, native=native)
    leaders, best_us = list[KernelConfig](), float("inf")
    for trial in store.trials():
        assert trial.outcome is not None
        assert trial.outcome.time_us is not None
        if trial.outcome.time_us < best_us:
            best_us = trial.outcome.time_us
            leaders.append(trial.config)
            assert "isa.json" in names(store.artifacts[trial.number])
        else:
            assert "isa.json" not in names(store.artifacts[trial.number])
    assert seen == leaders
    assert result.best is not None
    assert leaders[0] == DEFAULT


@pytest.fixture
def predicting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials are compiled by the stand-in, and all have one predicted time."""

    def evaluate(_bench: object, config: KernelConfig, *_: object) -> tuple[Outcome, GemmArtifact]:
        artifact = artifact_of(SMALL, config)
        return replace(PREDICTED, kernel_hash=artifact.content_hash), artifact

    monkeypatch.setattr(session, "evaluate", evaluate)


def spilling(spills: Callable[[KernelConfig], bool]) -> Native:
    """A compiler that spills for some configurations."""
    return lambda artifact: code(64 if spills(artifact.config) else 0)


@pytest.mark.usefixtures("predicting")
def test_a_default_that_spills_is_passed_over() -> None:
    store = MemoryTrialStore()
    default = default_config(SMALL, GPU)
    native = spilling(lambda config: config == default)
    result = run_session(SMALL, GPU, None, store, FakeCompiler(), Budget(3, 100), 4, native=native)
    assert result.trials == {Status.REJECTED: 1, Status.PREDICTED: 2}
    assert result.best is not None
    assert (result.best.number, result.comparison) == (1, None)


@pytest.mark.usefixtures("predicting")
def test_where_all_spill_the_last_is_the_result() -> None:
    store = MemoryTrialStore()
    native = spilling(lambda _: True)
    result = run_session(SMALL, GPU, None, store, FakeCompiler(), Budget(3, 100), 4, native=native)
    assert result.trials == {Status.REJECTED: 2, Status.PREDICTED: 1}
    assert result.best is not None
    assert result.best.number == 2


@pytest.mark.usefixtures("predicting")
def test_a_job_whose_kernels_cannot_be_compiled_for_the_gpu_says_why() -> None:
    native = fails(UnresolvedBuiltins("isa", "the code for bmg calls f, which do not exist"))
    with pytest.raises(NoValidMeasurement, match="the code for bmg calls f, which do not exist"):
        run_session(SMALL, GPU, None, MemoryTrialStore(), FakeCompiler(), Budget(3, 100), 4, native=native)
