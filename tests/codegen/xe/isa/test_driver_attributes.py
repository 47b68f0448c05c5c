"""The driver sees a kernel as the report on its machine code does, and requires what its launch gives."""

from dataclasses import replace

import pytest

from codegen import GemmProblem
from codegen.pipeline import compile_gemm
from codegen.target import LARGE_GRF_OPENCL, target_of
from codegen.xe.isa import compile_native
from hal import SimulatedDevice, find
from hal.driver.simulated_gpus import SIMULATED_GPUS, SimulatedGpu
from tests.codegen.xe.isa.fake_ocloc import real_ocloc
from tests.hal.driver.real_driver import real_driver
from tuner.space.xe.heuristic import default_config

WITH_BLOCK2D, NARROW = SIMULATED_GPUS[:4], SIMULATED_GPUS[4:]
STATELESS = "-cl-intel-greater-than-4GB-buffer-required"
"""Memory by 64-bit addresses. Else GPUs with sub-groups of 8 address buffers through surfaces, of which the simulation
has another kind than the offline compiler."""
SPILLS = GemmProblem(1024, 768, 1024)
SPLIT = GemmProblem(64, 96, 4096)  # two kernels on some GPUs


def check(gpu: SimulatedGpu, problem: GemmProblem, options: str) -> int:
    """Compare each kernel of the default with its report; return the spilled bytes of all."""
    spec = find(gpu.row)
    artifact = compile_gemm(problem, default_config(problem, spec), spec)
    launch = replace(artifact.launch, build_options=options)
    reports = compile_native(real_ocloc(), launch.binary, target_of(spec), options).reports
    with SimulatedDevice(real_driver(), gpu) as device:
        accepted = {kernel.kernel: kernel for kernel in device.accept(launch, 60).kernels}
    assert accepted.keys() == {report.kernel for report in reports}
    for report in reports:
        kernel = accepted[report.kernel]
        assert (kernel.spill_bytes, kernel.slm_bytes) == (report.spill_bytes, report.slm_bytes)
        assert kernel.private_bytes == 0
        assert kernel.max_local_size == (1024 if report.grf_count < 256 else 512)
    for step in launch.steps:
        assert accepted[step.kernel].local_size == step.local_size
        assert accepted[step.kernel].subgroup_size == launch.subgroup_size
    return sum(report.spill_bytes for report in reports)


@pytest.mark.slow
def test_a_kernel_that_spills_with_128_registers_and_not_with_256() -> None:
    assert check(SIMULATED_GPUS[0], SPILLS, "") == 2560
    assert check(SIMULATED_GPUS[0], SPILLS, LARGE_GRF_OPENCL) == 0


@pytest.mark.slow
@pytest.mark.parametrize("options", ["", LARGE_GRF_OPENCL])
@pytest.mark.parametrize("problem", [SPILLS, SPLIT, GemmProblem(512, 384, 1024, transpose_a=True, transpose_b=True)])
@pytest.mark.parametrize("gpu", [pytest.param(gpu, id=gpu.row) for gpu in WITH_BLOCK2D])
def test_spills_shared_memory_and_sizes_are_those_of_the_report(
    gpu: SimulatedGpu, problem: GemmProblem, options: str
) -> None:
    check(gpu, problem, options)


@pytest.mark.slow
@pytest.mark.parametrize("options", [STATELESS, f"{LARGE_GRF_OPENCL} {STATELESS}"])
@pytest.mark.parametrize("problem", [SPILLS, GemmProblem(512, 384, 1024, transpose_a=True)], ids=str)
@pytest.mark.parametrize("gpu", [pytest.param(gpu, id=gpu.row) for gpu in NARROW])
def test_without_surfaces_spills_of_sub_groups_of_8_are_those_of_the_report(
    gpu: SimulatedGpu, problem: GemmProblem, options: str
) -> None:
    check(gpu, problem, options)


@pytest.mark.slow
@pytest.mark.parametrize("gpu", [pytest.param(gpu, id=gpu.row) for gpu in NARROW])
def test_kernels_of_sub_groups_of_8_are_accepted(gpu: SimulatedGpu) -> None:
    spec = find(gpu.row)
    artifact = compile_gemm(SPILLS, default_config(SPILLS, spec), spec)
    with SimulatedDevice(real_driver(), gpu) as device:
        kernels = device.accept(artifact.launch, 60).kernels
    assert {kernel.subgroup_size for kernel in kernels} == {8}
    assert [kernel.local_size for kernel in kernels] == [step.local_size for step in artifact.launch.steps]
    assert kernels[0].slm_bytes > 0
