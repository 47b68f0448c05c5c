"""A GEMM that is written for work-items, rewritten for a CPU and run on a CPU OpenCL device."""

from collections.abc import Iterator

import numpy as np
import pytest

from codegen import compile_module
from codegen.emulate import emulate
from codegen.xe.spirv import emit_spirv
from hal import Argument, Device, LaunchSpec, LaunchStep, list_devices, open_device, resolve_device
from hal.facts.xe import find
from tests.codegen.xe.modules.work_item_kernels import GEMM, GEMM_GRID, gemm_operands

pytestmark = pytest.mark.opencl


@pytest.fixture(scope="module")
def cpu() -> Iterator[Device]:
    device = open_device(resolve_device("opencl-cpu", "b580", among=list_devices()))
    yield device
    device.close()


def test_a_gemm_of_work_items_agrees_with_numpy(cpu: Device) -> None:
    a, b, c = gemm_operands()
    subgroups = 4
    spirv = emit_spirv(emulate(compile_module(GEMM, find("b580")).stage("llvm").data.decode()))
    launch = LaunchSpec(
        binary=spirv,
        arguments=(
            Argument("A", "input", "f16", a.nbytes),
            Argument("B", "input", "f16", b.nbytes),
            Argument("C", "output", "f32", c.nbytes),
        ),
        steps=(LaunchStep("gemm", (0, 1, 2), (GEMM_GRID[0] * subgroups, 1, 1), (subgroups, 1, 1)),),
        subgroup_size=16,
        build_options="",
    )
    out = cpu.run(launch, (a, b, c), None, 60).outputs[2]
    np.testing.assert_allclose(
        np.asarray(out, np.float64), a.astype(np.float64) @ b.astype(np.float64), rtol=1e-5, atol=1e-4
    )
