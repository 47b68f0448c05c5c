"""Kernels of every kind that the builder makes run on a CPU OpenCL device, with the numbers that numpy has."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from codegen import (
    Axis,
    EpilogueKind,
    EpilogueStep,
    Extent,
    GemmArtifact,
    GemmProblem,
    MatmulConfig,
    Prefetch,
    Refused,
    SplitK,
    XeConfig,
    XeStrategy,
    compile_gemm,
)
from codegen.artifact.launch import kernel_for
from codegen.errors import InvalidLaunch
from codegen.workers.cache import CompileCache
from codegen.xe.rules import check
from hal import Device, DeviceSpec, list_devices, open_device, resolve_device
from tests.codegen.xe.build.draws import DEVICES, draw
from tests.codegen.xe.build.problems import other_sizes
from tests.few import few
from tuner.space.xe.relaunch import code_of, relaunched
from tuner.verify.reference import Reference
from tuner.verify.verify import (
    verify_by_simulation,
    verify_on_device,
)

pytestmark = pytest.mark.opencl

FEW, MANY = range(1), range(1, 150)
_LIMIT_S = 60
_TRIES = 20  # sizes


@pytest.fixture(scope="module")
def cpu() -> Iterator[Device]:
    device = open_device(resolve_device("opencl-cpu", DEVICES[0], among=list_devices()))
    yield device
    device.close()


@pytest.fixture(scope="module")
def specs() -> dict[str, DeviceSpec]:
    devices = list_devices()
    return {name: resolve_device("opencl-cpu", name, among=devices).spec for name in DEVICES}


def drawn(seed: int, specs: dict[str, DeviceSpec]) -> tuple[GemmProblem, XeConfig, DeviceSpec]:
    """The first draw from a seed on that is legal there; prefetches have no effect, and are left out."""
    while True:
        found = draw(seed, small=True)
        config = replace(found.config, strategy=replace(found.config.strategy, prefetch=Prefetch()))
        try:
            check(found.problem, config, specs[found.device])
        except Refused:
            seed += 1000
            continue
        return found.problem, config, specs[found.device]


def verify(cpu: Device, seed: int, specs: dict[str, DeviceSpec]) -> None:
    problem, config, spec = drawn(seed, specs)
    artifact = compile_gemm(problem, config, spec)
    verify_on_device(cpu, artifact, Reference(problem, seed), None, _LIMIT_S)
    for launched in launched_for_other_sizes(artifact, seed, spec):
        verify_on_device(cpu, launched, Reference(launched.problem, seed), None, _LIMIT_S)


def launched_for_other_sizes(artifact: GemmArtifact, seed: int, spec: DeviceSpec) -> Iterator[GemmArtifact]:
    """One more launch of a dynamic kernel, if sizes are found on which it may rely."""
    rng = Random(seed)
    for _ in range(_TRIES if artifact.problem.dynamic else 0):
        other = other_sizes(rng, artifact.problem)
        try:
            yield kernel_for(artifact, other, spec)
        except InvalidLaunch:
            continue
        return


TUNED = GemmProblem(72, 104, 136, dynamic=True, epilogue=(EpilogueStep(EpilogueKind.BIAS, axis=Axis.COLUMN),))
SIZES = ((25, 200, 96, None, None), (136, 40, 48, 64, 56), (1, 72, 328, None, 80))  # M, N, K, and rows of A and C apart
A_TILE_EACH = XeConfig(MatmulConfig(Extent(3, 2, 1), Extent(32, 64, 32), Extent(16, 32, 32)), XeStrategy((2, 2)))
LOOPS = replace(
    A_TILE_EACH,
    matmul=replace(A_TILE_EACH.matmul, threads=Extent(2, 3, 1), block=Extent(16, 16, 16), innermost=Extent(8, 16, 16)),
    strategy=XeStrategy((1, 1)),
)
SPLIT = replace(
    A_TILE_EACH,
    matmul=replace(A_TILE_EACH.matmul, threads=Extent(3, 2, 3)),
    strategy=XeStrategy((2, 2), split_k=SplitK.PARTIAL_SUMS),
)


@pytest.mark.parametrize("config", few([SPLIT, A_TILE_EACH, LOOPS], 3), ids=["split", "a tile each", "loops"])
@pytest.mark.slow
def test_one_binary_is_right_at_each_size_and_writes_nothing_else(
    cpu: Device, specs: dict[str, DeviceSpec], config: XeConfig, tmp_path: Path
) -> None:
    spec, cache = specs["b580"], CompileCache(tmp_path)
    made, code = compile_gemm(TUNED, config, spec), code_of(config, TUNED, spec)
    cache.put(made, spec)
    assert code is not None
    for m, n, k, lda, ldc in SIZES:
        problem = GemmProblem(m, n, k, lda=lda, ldc=ldc, dynamic=True, epilogue=TUNED.epilogue)
        found = cache.get(problem, relaunched(config, code, problem, spec), spec)
        assert isinstance(found, GemmArtifact)
        assert found.launch.binary == made.launch.binary
        for proof in (
            verify_on_device(cpu, found, Reference(problem, seed=m), None, _LIMIT_S)[0],
            verify_by_simulation(found, seed=m),
        ):
            assert proof.checked == proof.total


@pytest.mark.parametrize("seed", FEW)
def test_a_legal_gemm_is_right_where_it_is_emulated(cpu: Device, specs: dict[str, DeviceSpec], seed: int) -> None:
    verify(cpu, seed, specs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_more_legal_gemms_are_right_where_they_are_emulated(
    cpu: Device, specs: dict[str, DeviceSpec], seed: int
) -> None:
    verify(cpu, seed, specs)
