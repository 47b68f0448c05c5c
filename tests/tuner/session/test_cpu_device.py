"""Compiled kernels run on the CPU of this machine: proven between guards, timed over sets that rotate."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from codegen import CpuConfig, DType, Extent, GemmProblem, Packing
from codegen.cpu.compile import compile_cpu_gemm
from hal import Device, KernelBuildFailed, Timing, open_device, resolve_device
from hal.devices.listing import list_devices
from hal.facts.cpu import probe_cpu
from hal.probe.probe import (
    ProbeReport,
    Probes,
)
from tuner.session.trial import ProofKind
from tuner.space.cpu.heuristic import default_cpu_config
from tuner.verify.reference import Reference
from tuner.verify.verify import verify_on_device

PROBLEM = GemmProblem(45, 100, 77, dtype_a=DType.F32, dtype_b=DType.F32, ldb=104)
SPEC = probe_cpu()
TIMING = Timing(warmup_s=0.0, min_samples=9, min_time_s=0, max_time_s=30, rotate_bytes=10**6)
pytestmark = pytest.mark.skipif(SPEC.target is None or "avx2" not in (SPEC.isa or ()), reason="needs x86-64 with AVX2")


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    cpu = resolve_device("cpu", among=list_devices(Probes(ProbeReport(), ProbeReport())))
    device = open_device(cpu)
    yield device
    device.close()


def _config(threads: int = 1, **strategy: object) -> CpuConfig:
    config = default_cpu_config(PROBLEM, SPEC)
    matmul = replace(config.matmul, threads=Extent(threads, 1, 1))
    return replace(config, matmul=matmul, strategy=replace(config.strategy, **strategy))


@pytest.mark.parametrize("pack_b", [Packing.BLOCK, Packing.WHOLE, Packing.BEFOREHAND])
def test_a_kernel_is_proven_and_timed(device: Device, pack_b: Packing) -> None:
    artifact = compile_cpu_gemm(PROBLEM, _config(pack_b=pack_b), SPEC)
    assert any(step.once for step in artifact.launch.steps) == (pack_b is Packing.BEFOREHAND)
    proof, report = verify_on_device(device, artifact, Reference(PROBLEM, 3), TIMING, 60)
    assert (proof.kind, proof.checked) == (ProofKind.DEVICE, proof.total)
    assert len(report.times_us) == 9
    assert all(0 < time_us < 10**6 for time_us in report.times_us)


@pytest.mark.skipif((SPEC.cores or 1) < 2, reason="needs two cores")
def test_threads_of_the_pool_share_the_work(device: Device) -> None:
    artifact = compile_cpu_gemm(PROBLEM, _config(threads=2, pack_b=Packing.WHOLE), SPEC)
    proof, report = verify_on_device(device, artifact, Reference(PROBLEM, 3), TIMING, 60)
    assert proof.checked == proof.total
    assert len(report.times_us) == 9


def test_more_threads_than_this_machine_has_are_refused(device: Device) -> None:
    artifact = compile_cpu_gemm(PROBLEM, _config(threads=3), replace(SPEC, cores=3))
    launch = replace(artifact.launch, steps=tuple(replace(s, global_size=(500, 1, 1)) for s in artifact.launch.steps))
    with pytest.raises(KernelBuildFailed, match="needs 500 threads, this process may use"):
        device.run(launch, Reference(PROBLEM, 3).buffers(), None, 60)
