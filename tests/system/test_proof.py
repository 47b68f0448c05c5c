"""Random kernels, compiled and run in the simulator and, for CPU stand-ins, on the CPU OpenCL device.

`pytest tests/system/test_proof.py -s` prints what each execution found.
"""

import random
from collections.abc import Iterator

import numpy as np
import pytest

from codegen import DType, GemmProblem, Refused, XeConfig
from codegen.pipeline import compile_gemm
from codegen.xe.rules import check_problem
from hal import Device, ListedDevice, find, list_devices, open_device, resolve_device
from tuner.space.xe.space import xe_space
from tuner.verify.memory_layout import (
    decode,
    matrices,
)
from tuner.verify.reference import Reference
from tuner.verify.verify import (
    verify_by_simulation,
    verify_on_device,
)

pytestmark = pytest.mark.slow
TARGETS = ("b580", "max1550", "lunar-lake", "panther-lake-12xe")


def draw(seed: int, largest: int) -> tuple[GemmProblem, str]:
    """Return a problem of three different sizes, mostly ragged, and a GPU to compile it for."""
    rng = random.Random(seed)
    while True:
        m, n, k = rng.randrange(1, largest), 2 * rng.randrange(16, largest // 2), 2 * rng.randrange(16, largest // 2)
        dtype = rng.choice([DType.F16, DType.BF16])
        out = rng.choice([DType.F32, dtype])
        lda, ldb = -(-k // 8) * 8 + rng.choice([0, 16]), -(-n // 8) * 8
        problem = GemmProblem(m, n, k, dtype_a=dtype, dtype_b=dtype, dtype_c=out, lda=lda, ldb=ldb, ldc=ldb)
        target = rng.choice(TARGETS)
        try:
            check_problem(problem, find(target))
        except Refused:
            continue
        if len({m, n, k}) == 3:
            return problem, target


@pytest.fixture(scope="module")
def listed() -> list[ListedDevice]:
    """Return the devices of this machine."""
    return list_devices()


@pytest.fixture(scope="module")
def device(listed: list[ListedDevice]) -> Iterator[Device]:
    opened = open_device(resolve_device("opencl-cpu", among=listed))
    yield opened
    opened.close()


@pytest.mark.opencl
@pytest.mark.parametrize("seed", range(20))
def test_simulator_and_opencl_agree_with_numpy(seed: int, device: Device, listed: list[ListedDevice]) -> None:
    problem, target = draw(seed, 400)
    spec = resolve_device(f"opencl-cpu-as-{target}", among=listed).spec
    space = xe_space(problem, spec)
    config: XeConfig = space.config(random.Random(seed).randrange(len(space)))
    artifact = compile_gemm(problem, config, spec)
    reference = Reference(problem, seed)
    simulated = verify_by_simulation(artifact, reference=reference)
    executed, report = verify_on_device(device, artifact, reference, None, 60.0)
    assert simulated.checked == simulated.total == executed.checked
    ours = decode(matrices(report.outputs[2], problem.c, problem.batch), problem.dtype_c)
    assert np.isfinite(ours).all()
    print(
        f"{problem!s:36} {target:18} {str(config)[:60]:60} "
        f"simulator {simulated.max_error:.2e}, opencl_cpu {executed.max_error:.2e}, tolerance {executed.tolerance:.2e}"
    )


@pytest.mark.parametrize("seed", range(20))
def test_kernels_for_gpus_that_are_not_here_are_right(seed: int) -> None:
    problem, target = draw(1000 + seed, 640)
    space = xe_space(problem, find(target))
    config = space.config(random.Random(seed).randrange(len(space)))
    proof = verify_by_simulation(compile_gemm(problem, config, find(target)), seed=seed)
    assert proof.checked == proof.total
    print(
        f"{problem!s:36} {target:18} {str(config)[:60]:60} simulator {proof.checked} of {proof.total}, "
        f"error {proof.max_error:.2e}, tolerance {proof.tolerance:.2e}"
    )
