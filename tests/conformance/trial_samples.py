"""Configurations, outcomes and kernels for tests of trial stores; nothing is compiled."""

import hashlib

from codegen import (
    Extent,
    GemmArtifact,
    GemmProblem,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    StageOutput,
    XeConfig,
    XeStrategy,
)
from hal import Argument, LaunchSpec, LaunchStep
from tests.hal.spirv_modules import spirv_module
from tuner.session.trial import (
    Acceptance,
    Measurement,
    Outcome,
    Prediction,
    Proof,
    ProofKind,
    ProofMethod,
    Status,
)

PROBLEM = GemmProblem(96, 64, 128, transpose_b=True)
_STEP = LaunchStep("gemm", (0,), (64, 2, 1), (64, 1, 1))
PROOF = Proof(ProofKind.OPENCL_CPU, 5, 6, 0.25, 0.5, ProofMethod.FREIVALDS)


def config(number: int) -> XeConfig:
    """Return a configuration that differs for each `number`."""
    prefetch = Prefetch(PrefetchLevels.L2_L1, number + 1, number + 3)
    matmul = MatmulConfig(Extent(2, 3, 1), Extent(32, 64, 16), Extent(8, 16, 32))
    return XeConfig(matmul, XeStrategy((4, 2), prefetch))


def artifact(number: int, problem: GemmProblem = PROBLEM, config_number: int | None = None) -> GemmArtifact:
    """Return a kernel of configuration `number`."""
    binary = spirv_module(extensions=(f"SPIR-V of {number}",))
    return GemmArtifact(
        key=hashlib.sha256(f"key {number}".encode()).hexdigest(),
        content_hash=hashlib.sha256(binary).hexdigest(),
        problem=problem,
        config=config(number if config_number is None else config_number),
        target="b580",
        stages=(
            StageOutput("xetile", "xetile.mlir", b"module {}", 1.5),
            StageOutput("llvm", "llvm.ll", b"; llvm", 2.5),
            StageOutput("spirv", "kernel.spv", binary, 0.5),
        ),
        launch=LaunchSpec(binary, (Argument("A", "input", "f16", 24576),), (_STEP,), 16, ""),
        toolchain={"llvm": "22.1"},
        kernels=(),
        memory_paths={},
    )


def measured(number: int, median_us: float = 12.0) -> Outcome:
    """Return the outcome of a measured trial of `artifact(number)`."""
    times = Measurement(
        median_us, median_us - 2, median_us - 1, median_us + 1, 30, "DPAS emulated", "2026.1", False, 0.97, 2850.0
    )
    return Outcome(
        Status.MEASURED,
        proof=PROOF,
        measurement=times,
        kernel_hash=artifact(number).content_hash,
        compile_s=0.125,
        verify_s=0.25,
        measure_s=0.5,
    )


def predicted(number: int, time_us: float = 12.0) -> Outcome:
    """Return the outcome of a predicted trial of `artifact(number)`."""
    times = Prediction(time_us, time_us - 1, time_us + 2, "model 3")
    proof = Proof(ProofKind.SIMULATOR, 6, 6, 0.0, 0.5)
    accepted = Acceptance("26.27.1", "bmg", "warning: recompiled" if number % 2 else None)
    return Outcome(
        Status.PREDICTED,
        proof=proof,
        prediction=times,
        acceptance=accepted,
        kernel_hash=artifact(number).content_hash,
    )
