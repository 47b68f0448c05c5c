"""Compiled kernels of several steps are proven in the simulator, whole and by samples; broken launches are not."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from codegen import (
    Axis,
    DType,
    EpilogueKind,
    EpilogueStep,
    Extent,
    GemmArtifact,
    GemmProblem,
    MatmulConfig,
    SplitK,
    XeConfig,
    XeStrategy,
)
from codegen.pipeline import compile_gemm
from hal import find
from tests.few import few
from tuner.errors import ProofFailed
from tuner.verify.verify import verify_by_simulation

SMALL, LARGER = (72, 104, 136), (264, 328, 136)
BLOCK = (32, 64)
BIAS = EpilogueStep(EpilogueKind.BIAS, axis=Axis.COLUMN)
RELU = EpilogueStep(EpilogueKind.RELU)
ROWS, COLUMNS = (EpilogueStep(EpilogueKind.REDUCE, axis=axis) for axis in (Axis.ROW, Axis.COLUMN))


@dataclass(frozen=True, slots=True)
class Case:
    """A problem in tiles of 32 x 64, `changed` in fields, its work-groups over M and N, and the splits of K."""

    changed: dict[str, Any] = field(default_factory=dict[str, Any])
    threads: tuple[int, int] | None = None
    splits: int = 1
    split_k: SplitK = SplitK.NONE
    raster_group: int = 1

    def artifact(self, size: tuple[int, int, int]) -> GemmArtifact:
        m, n, k = size
        problem = GemmProblem(m, n, k, **self.changed)
        tiles = -(-m // BLOCK[0]), -(-n // BLOCK[1])
        step, wide = (64, 32) if problem.dtype_a.is_integer else (32, 16)
        matmul = MatmulConfig(Extent(*(self.threads or tiles), self.splits), Extent(*BLOCK, step), Extent(8, 16, wide))
        strategy = XeStrategy((2, 2), split_k=self.split_k, raster_group=self.raster_group)
        return compile_gemm(problem, XeConfig(matmul, strategy), find("b580"))


CASES = {
    "plain": Case(),
    "batch": Case({"batch": 3, "batch_stride_b": 0, "transpose_b": True}),
    "integers": Case({"dtype_a": DType.S8, "dtype_b": DType.S8, "dtype_c": DType.S8, "epilogue": (BIAS, RELU)}),
    "updated": Case({"epilogue": (EpilogueStep(EpilogueKind.BETA, value=0.5), BIAS)}),
    "sums": Case({"batch": 2, "epilogue": (ROWS, RELU, COLUMNS)}),
    "persistent": Case(threads=(2, 1)),
    "rasters": Case(raster_group=2),
    "partial-sums": Case({"batch": 2, "epilogue": (BIAS,)}, splits=2, split_k=SplitK.PARTIAL_SUMS),
    "atomic": Case({"batch": 2}, splits=2, split_k=SplitK.ATOMIC),
}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=name, marks=() if name in ("integers", "sums", "partial-sums") else pytest.mark.slow)
        for name, case in CASES.items()
    ],
)
def test_a_compiled_kernel_is_proven_whole(case: Case) -> None:
    proof = verify_by_simulation(case.artifact(SMALL))
    assert proof.checked == proof.total > 0


@pytest.mark.parametrize("name", few(["persistent", "plain", "sums", "atomic", "partial-sums", "rasters"], 3))
def test_a_sample_of_a_large_problem_is_proven(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("SIMULATED_WHOLE", "SIMULATED_SAMPLE"):
        monkeypatch.setattr(f"tuner.verify.simulated_tiles.{limit}", 2**16)
    proof = verify_by_simulation(CASES[name].artifact(LARGER))
    assert 0 < proof.checked < proof.total


@pytest.mark.parametrize(
    ("name", "dropped", "message"),
    [
        ("partial-sums", "finish", r"C\[0, 0, 0\] is not written"),
        ("atomic", "clear", r"C\[0, 0, 0\] is n"),  # NaN plus a sum
        ("sums", "sum_0", r"reduce\[0, 0\] is not written"),
    ],
)
def test_a_launch_without_one_of_its_steps_is_wrong(name: str, dropped: str, message: str) -> None:
    artifact = CASES[name].artifact(SMALL)
    left = tuple(step for step in artifact.launch.steps if step.kernel != dropped)
    assert len(left) < len(artifact.launch.steps)
    broken = replace(artifact, launch=replace(artifact.launch, steps=left))
    with pytest.raises(ProofFailed, match=message):
        verify_by_simulation(broken)


def test_a_launch_of_too_few_work_groups_is_wrong() -> None:
    artifact = CASES["plain"].artifact(SMALL)
    (step,) = artifact.launch.steps
    x, y, z = step.global_size
    fewer = replace(step, global_size=(x, y - 1, z))
    with pytest.raises(ProofFailed, match=r"C\[64, 0\] is not written"):
        verify_by_simulation(replace(artifact, launch=replace(artifact.launch, steps=(fewer,))))
