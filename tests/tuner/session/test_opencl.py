"""A tuning run with the real compiler on the real CPU OpenCL device."""

import pytest

from codegen import GemmProblem
from codegen.workers.pool import CompilePool
from hal import open_device, resolve_device
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec
from tuner.session.memory_store import MemoryTrialStore
from tuner.session.session import run_session
from tuner.session.trial import ProofKind


@pytest.mark.opencl
@pytest.mark.slow
def test_a_real_run_measures_proven_kernels() -> None:
    device = open_device(listed := resolve_device("opencl-cpu"))
    store = MemoryTrialStore()
    try:
        with CompilePool(workers=1, timeout_s=60, cache=None) as pool:
            result = run_session(
                JobSpec(
                    problem=GemmProblem(72, 104, 136), device=listed.spec, budget=Budget(trials=3, seconds=90), seed=1
                ),
                device,
                store,
                pool,
            )
    finally:
        device.close()
    assert result.best is not None
    assert result.best.outcome is not None
    assert result.best.outcome.measurement is not None
    assert result.best.outcome.measurement.label == "DPAS emulated"
    assert result.best.outcome.proof.kind is ProofKind.OPENCL_CPU
    assert set(store.artifacts) >= {0, result.best.number}
