"""Kernels of every kind that the builder makes run on a CPU OpenCL device, with the numbers that numpy has."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from codegen import GemmArtifact, GemmProblem, KernelConfig, Prefetch, Refused, compile_gemm
from codegen.errors import InvalidLaunch
from codegen.launch import launch_for
from codegen.rules import check
from hal import Device, DeviceSpec, list_devices, open_device, resolve_device
from tests.codegen.gemm.draws import DEVICES, draw
from tests.codegen.gemm.problems import other_sizes
from tuner.reference import Reference
from tuner.verify import verify_on_device

pytestmark = pytest.mark.opencl

FEW, MANY = range(12), range(12, 150)
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


def drawn(seed: int, specs: dict[str, DeviceSpec]) -> tuple[GemmProblem, KernelConfig, DeviceSpec]:
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
            yield replace(artifact, problem=other, launch=launch_for(artifact, other, spec))
        except InvalidLaunch:
            continue
        return


@pytest.mark.parametrize("seed", FEW)
def test_a_legal_gemm_is_right_where_it_is_emulated(cpu: Device, specs: dict[str, DeviceSpec], seed: int) -> None:
    verify(cpu, seed, specs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_more_legal_gemms_are_right_where_they_are_emulated(
    cpu: Device, specs: dict[str, DeviceSpec], seed: int
) -> None:
    verify(cpu, seed, specs)
