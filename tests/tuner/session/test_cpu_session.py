"""A tuning run on a CPU: its own default and space, measured natively, never predicted or simulated."""

from dataclasses import replace

import pytest

from codegen import CpuConfig, DType, GemmProblem, Refused
from codegen.backend import CPU
from hal import Buffer, DeviceKind
from tests.tuner.fakes import FakeCompiler, FakeDevice, binary_of, cpu_spec
from tests.tuner.space.cpu.cpus import RAPIDS, cpu
from tuner.backend import prediction_if_known, tuning_for
from tuner.errors import NotOnThisCpu
from tuner.search.problem_search import (
    search_for,
)
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec
from tuner.session.memory_store import MemoryTrialStore
from tuner.session.session import run_session
from tuner.session.trial import (
    ProofKind,
    Status,
)
from tuner.space.cpu.heuristic import default_cpu_config

PROBLEM = GemmProblem(40, 96, 72, dtype_a=DType.BF16, dtype_b=DType.BF16)
SPEC = cpu_spec()
DEFAULT = default_cpu_config(PROBLEM, SPEC)


def test_a_cpu_is_tuned_from_its_default_by_measured_trials() -> None:
    store, pool = MemoryTrialStore(), FakeCompiler()
    result = run_session(
        JobSpec(problem=PROBLEM, device=SPEC, budget=Budget(9, 100.0), seed=3), FakeDevice(PROBLEM, SPEC), store, pool
    )
    found = store.trials()
    assert found[0].config == DEFAULT
    assert all(isinstance(trial.config, CpuConfig) for trial in found)
    assert result.trials == {Status.MEASURED: 9}
    outcomes = [trial.outcome for trial in found if trial.outcome is not None]
    assert all(o.prediction is None and o.measurement is not None for o in outcomes)
    assert {o.measurement.label for o in outcomes if o.measurement is not None} == {"native"}
    assert result.comparison is not None
    assert result.comparison.remeasured


def test_a_wrong_element_of_a_cpu_kernel_is_an_outcome() -> None:
    def spoil(c: Buffer) -> None:
        c[39, 95] = 77

    device = FakeDevice(PROBLEM, SPEC, faults={binary_of(DEFAULT): spoil})
    store = MemoryTrialStore()
    run_session(JobSpec(problem=PROBLEM, device=SPEC, budget=Budget(2, 100.0), seed=3), device, store, FakeCompiler())
    first, second = (trial.outcome for trial in store.trials())
    assert first is not None
    assert first.status is Status.WRONG_RESULT
    assert "C[39, 95]" in (first.reason or "")
    assert second is not None
    assert second.proof.kind in (ProofKind.DEVICE, ProofKind.OPENCL_CPU)


def test_each_block_of_a_cpu_kernel_is_a_tile_of_its_own() -> None:
    config = replace(DEFAULT, matmul=replace(DEFAULT.matmul, block=replace(DEFAULT.matmul.block, m=20, n=32)))
    grid = CPU.workgroup_tiles(PROBLEM, config)
    assert (grid.tiles, grid.count) == ((2, 3), 6)
    assert len(grid.computed_with([(0, 1, 2)])) == 1


def test_a_job_for_another_cpu_is_refused_with_what_to_do() -> None:
    with pytest.raises(NotOnThisCpu, match=r"cpu-fake-2c .* tune there; `xetune compile`"):
        run_session(
            JobSpec(problem=PROBLEM, device=SPEC, budget=Budget(2, 100.0), seed=3),
            None,
            MemoryTrialStore(),
            FakeCompiler(),
        )


def test_a_problem_that_no_cpu_kernel_can_be_is_refused_before_anything_compiles() -> None:
    pool = FakeCompiler()
    dynamic = replace(PROBLEM, dynamic=True)
    with pytest.raises(Refused, match="dynamic"):
        run_session(
            JobSpec(problem=dynamic, device=SPEC, budget=Budget(2, 100.0), seed=3), None, MemoryTrialStore(), pool
        )
    assert pool.begun == []


def test_the_default_of_other_instructions_is_tried_after_the_default() -> None:
    spec, store = cpu(RAPIDS.isa), MemoryTrialStore()
    problem = GemmProblem(640, 512, 768, dtype_a=DType.F32, dtype_b=DType.F32)
    job = JobSpec(problem=problem, device=spec, budget=Budget(2, 100.0), seed=3)
    run_session(job, FakeDevice(problem, spec), store, FakeCompiler())
    tuning = tuning_for(spec)
    configs = [trial.config for trial in store.trials()]
    assert configs == [tuning.default(problem, spec), *tuning.alternatives(problem, spec)]
    assert store.trials()[1].proposer == "alternative"


def test_the_search_follows_the_device() -> None:
    assert tuning_for(SPEC).default(PROBLEM, SPEC) == DEFAULT
    assert SPEC.kind is DeviceKind.CPU
    search = search_for(PROBLEM, SPEC, 1, measured=True)
    assert prediction_if_known(PROBLEM, DEFAULT, SPEC) is None
    assert search.size > 100
    proposal = search.ask()
    assert proposal is not None
    assert isinstance(proposal.config, CpuConfig)
