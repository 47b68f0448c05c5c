"""Kernels are compiled to machine code: the report is stored and decides the outcome of predicted trials."""

import json
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import replace

import pytest

from codegen import AnyArtifact, GemmArtifact, KernelConfig, XeConfig
from codegen.errors import CompileFailed, CompileTimedOut, MissingDpas, OclocUnusable, UnresolvedBuiltins
from codegen.xe.isa import (
    Compiled,
    IsaReport,
    NativeCode,
)
from codegen.xe.isa.ocloc import Disassembly
from codegen.xe.isa.report import reports_of
from codegen.xe.machine.pipeline import rates_of
from hal import find
from tests.codegen.xe.isa.recordings import recorded
from tests.tuner.fakes import SMALL, FakeCompilation, FakeCompiler, FakeDevice, artifact_of, emulated
from tuner.errors import NoValidMeasurement
from tuner.measure.isa_check import (
    Examination,
    Examined,
    Native,
    examine,
)
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec
from tuner.session.memory_store import MemoryTrialStore
from tuner.session.session import run_session
from tuner.session.trial import (
    Proof,
    ProofKind,
    Status,
)
from tuner.space.xe.heuristic import default_config

SPEC = emulated()
GPU = find("b580")
DEFAULT = default_config(SMALL, SPEC)
ARTIFACT = artifact_of(SMALL, DEFAULT)


def code(spill_bytes: int = 0) -> NativeCode:
    """Return machine code that spills `spill_bytes`."""
    return NativeCode("bmg", "26.27", "", "L0:\n", (IsaReport("gemm", 256, 4, spill_bytes, 0, 100, None),), 1.0)


def gives(spill_bytes: int) -> Native:
    """Return a compiler whose kernels all spill `spill_bytes`."""

    def native(_: GemmArtifact, _until_s: float) -> NativeCode:
        return code(spill_bytes)

    return native


def fails(error: Exception) -> Native:
    """Return a compiler that fails."""

    def native(_: GemmArtifact, _until_s: float) -> NativeCode:
        raise error

    return native


def names(artifact: AnyArtifact) -> list[str]:
    """Return the names of a kernel's files."""
    return [stage.file_name for stage in artifact.stages]


def test_the_report_of_a_kernel_that_spills_nothing_is_kept() -> None:
    examined = examine(gives(0), ARTIFACT)
    assert examined.finding is None
    assert names(examined.artifact) == [*names(ARTIFACT), "isa.asm", "isa.json"]
    assert examined.artifact.content_hash == ARTIFACT.content_hash


def test_the_binary_that_the_proof_executes_comes_with_the_kernel() -> None:
    compiled = Compiled(b"elf", Disassembly("", {}), 64)
    assert examine(lambda _a, _s: replace(code(), compiled=compiled), ARTIFACT).compiled is compiled
    assert examine(gives(0), ARTIFACT).compiled is None


def test_spilled_registers_are_a_finding() -> None:
    examined = examine(gives(512), ARTIFACT)
    assert examined.finding is not None
    assert examined.finding.status is Status.REJECTED
    assert examined.finding.reason.startswith("spill: kernel gemm spills 512 bytes of 256 registers on bmg")
    assert "isa.json" in names(examined.artifact)


def with_a_hazard(chip: str = "pvc") -> NativeCode:
    """Return recorded machine code without the token of a load that its first dpas reads."""
    text = recorded("straight_pvc").assembly["gemm"].replace("Compacted,$2.dst", "Compacted", 1)
    wrong = Disassembly(recorded("straight_pvc").ze_info, {"gemm": text})
    return NativeCode(chip, "26.27", "", text, reports_of(wrong, rates_of(chip, 64)), 1.0)


def test_hazards_of_the_scoreboard_are_a_finding_where_its_rules_are_public() -> None:
    examined = examine(lambda _a, _s: with_a_hazard(), ARTIFACT)
    assert examined.finding is not None
    assert examined.finding.status is Status.COMPILE_FAILED
    assert examined.finding.reason.startswith("stage isa: scoreboard: kernel gemm for pvc: read after write of r2-r5: ")
    report = json.loads(examined.artifact.stage("isa-report").data)["kernels"][0]["scoreboard"]
    assert (report["verdict"], report["rules_are_public"]) == (f"{len(report['hazards'])} hazards", True)

    examined = examine(lambda _a, _s: with_a_hazard("ptl-h"), ARTIFACT)
    assert examined.finding is None
    report = json.loads(examined.artifact.stage("isa-report").data)["kernels"][0]["scoreboard"]
    assert report["verdict"] == f"{len(report['hazards'])} hazards by inferred rules"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnresolvedBuiltins("isa", "calls f"), Status.COMPILE_FAILED),
        (MissingDpas("isa", "no dpas"), Status.COMPILE_FAILED),
        (CompileFailed("isa", "exit status 7"), Status.COMPILE_FAILED),
        (CompileTimedOut("isa", "60 s"), Status.TIMED_OUT),
    ],
)
def test_code_that_cannot_be_made_is_a_finding(error: Exception, status: Status) -> None:
    examined = examine(fails(error), ARTIFACT)
    assert examined.artifact is ARTIFACT
    assert examined.finding is not None
    assert examined.finding.status is status
    assert examined.finding.reason.endswith(str(error))


def test_a_compiler_that_is_gone_says_nothing_of_a_kernel() -> None:
    assert examine(fails(OclocUnusable("gone")), ARTIFACT) == Examined(ARTIFACT)


def test_a_kernel_is_examined_in_a_thread_and_its_compilation_can_be_stopped() -> None:
    with ThreadPoolExecutor(1) as threads:
        compilation = FakeCompilation(SMALL, DEFAULT)
        examination = Examination(compilation, gives(0), threads)
        assert "isa.json" in names(examination.result().artifact)
        hangs = FakeCompilation(SMALL, DEFAULT, hangs=True)
        examination = Examination(hangs, gives(0), threads)
        examination.cancel()
        with pytest.raises(CancelledError):
            examination.result()
        broken = FakeCompilation(SMALL, DEFAULT, CompileFailed("llvm", "broken"))
        with pytest.raises(CompileFailed, match="broken"):
            Examination(broken, gives(0), threads).result()


def test_with_a_device_the_default_and_whatever_leads_is_compiled_for_its_gpu() -> None:
    store, seen = MemoryTrialStore(), list[XeConfig]()

    def native(artifact: GemmArtifact, _: float) -> NativeCode:
        seen.append(artifact.config)
        return code()

    device = FakeDevice(SMALL, SPEC)
    result = run_session(
        JobSpec(problem=SMALL, device=SPEC, budget=Budget(12, 100), seed=4),
        device,
        store,
        FakeCompiler(),
        native=native,
    )
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


@pytest.mark.parametrize("native", [gives(512), fails(MissingDpas("isa", "none"))])
def test_a_measured_time_stands_whatever_its_code_is_like(native: Native) -> None:
    store = MemoryTrialStore()
    result = run_session(
        JobSpec(problem=SMALL, device=SPEC, budget=Budget(5, 100), seed=4),
        FakeDevice(SMALL, SPEC),
        store,
        FakeCompiler(),
        native=native,
    )
    assert result.trials == {Status.MEASURED: 5}


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> list[XeConfig]:
    """Make the simulator accept all kernels; return the configurations that it verified."""
    proven: list[XeConfig] = []

    def verify(artifact: GemmArtifact, **_: object) -> Proof:
        proven.append(artifact.config)
        return Proof(ProofKind.SIMULATOR, 9, 9, 0.0, 1.0)

    monkeypatch.setattr("tuner.measure.measure.verify_by_simulation", verify)
    return proven


def spilling(spills: Callable[[XeConfig], bool]) -> Native:
    """Return a compiler that spills for some configurations."""
    return lambda artifact, _: code(64 if spills(artifact.config) else 0)


def test_a_default_that_spills_is_passed_over_before_it_is_proven(proofs: list[XeConfig]) -> None:
    store = MemoryTrialStore()
    default = default_config(SMALL, GPU)
    native = spilling(lambda config: config == default)
    result = run_session(
        JobSpec(problem=SMALL, device=GPU, budget=Budget(3, 100), seed=4), None, store, FakeCompiler(), native=native
    )
    assert result.trials == {Status.REJECTED: 1, Status.PREDICTED: 2}
    assert result.best is not None
    assert (result.best.config in proofs, result.comparison) == (True, None)
    assert default not in proofs
    assert proofs == [trial.config for trial in store.trials()[1:]]
    assert "isa.json" in names(store.artifacts[0])


def test_a_default_with_a_hazard_is_not_proven(proofs: list[XeConfig]) -> None:
    store = MemoryTrialStore()
    default = default_config(SMALL, GPU)
    spec = JobSpec(problem=SMALL, device=GPU, budget=Budget(3, 100), seed=4)
    wrong = with_a_hazard()
    result = run_session(
        spec, None, store, FakeCompiler(), native=lambda a, _: wrong if a.config == default else code()
    )
    outcome = store.trials()[0].outcome
    assert outcome is not None
    assert (outcome.status, outcome.proof.kind) == (Status.COMPILE_FAILED, ProofKind.NONE)
    assert "scoreboard: kernel gemm for pvc: read after write" in str(outcome.reason)
    assert result.trials == {Status.COMPILE_FAILED: 1, Status.PREDICTED: 2}
    assert default not in proofs


def test_where_all_spill_the_last_is_the_result(proofs: list[XeConfig]) -> None:
    store = MemoryTrialStore()
    native = spilling(lambda _: True)
    result = run_session(
        JobSpec(problem=SMALL, device=GPU, budget=Budget(3, 100), seed=4), None, store, FakeCompiler(), native=native
    )
    assert result.trials == {Status.REJECTED: 2, Status.PREDICTED: 1}
    assert result.best is not None
    assert result.best.number == 2
    assert proofs == [result.best.config]


def test_a_job_whose_kernels_cannot_be_compiled_for_the_gpu_says_why(proofs: list[XeConfig]) -> None:
    native = fails(UnresolvedBuiltins("isa", "the code for bmg calls f, which do not exist"))
    with pytest.raises(NoValidMeasurement, match="the code for bmg calls f, which do not exist"):
        run_session(
            JobSpec(problem=SMALL, device=GPU, budget=Budget(3, 100), seed=4),
            None,
            MemoryTrialStore(),
            FakeCompiler(),
            native=native,
        )
    assert proofs == []


def test_examinations_end_when_the_job_does(proofs: list[XeConfig]) -> None:
    limits: list[float] = []

    def native(_: GemmArtifact, until_s: float) -> NativeCode:
        limits.append(until_s - begun_s)
        if len(limits) > 1:
            raise CompileTimedOut("isa", "ocloc compile: no result within 1 s, all that was left; it was ended")
        return code()

    begun_s, store = time.monotonic(), MemoryTrialStore()
    result = run_session(
        JobSpec(problem=SMALL, device=GPU, budget=Budget(7, 100), seed=4), None, store, FakeCompiler(), native=native
    )
    # More than show that a device is unusable: here there is none.
    assert result.trials == {Status.PREDICTED: 1, Status.TIMED_OUT: 6}
    assert len(limits) == 7
    assert all(100 <= limit < 105 for limit in limits)  # the job's seconds, and what a candidate may overrun them by
    outcome = store.trials()[1].outcome
    assert outcome is not None
    assert "all that was left" in str(outcome.reason)
    assert proofs == [default_config(SMALL, GPU)]
