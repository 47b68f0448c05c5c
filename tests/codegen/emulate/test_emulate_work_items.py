"""Kernels that are written for work-items, rewritten for a CPU and run on a CPU OpenCL device."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import compile_module
from codegen.emulate import emulate
from codegen.xe.dialects import parse
from codegen.xe.spirv import emit_spirv
from hal import Argument, Device, LaunchSpec, LaunchStep, list_devices, open_device, resolve_device
from hal.facts.xe import find
from tests.codegen.xe.modules.work_item_kernels import GEMM, GEMM_GRID, gemm_operands
from tests.codegen.xe.operations.arguments import arguments, signature
from tests.codegen.xe.operations.case import Case, Level, cases_of
from tests.oracle import interpret

pytestmark = pytest.mark.opencl

Array = NDArray[Any]

FORMS = [
    case
    for case in cases_of(Path(__file__).parents[1] / "xe/operations/xegpu_work_items.mlir")
    if "nbarrier" not in case.operation and all(t[:6] == "memref" for _, t in signature(case.sources[Level.WORK_ITEM]))
]


@pytest.fixture(scope="module")
def cpu() -> Iterator[Device]:
    device = open_device(resolve_device("opencl-cpu", "b580", among=list_devices()))
    yield device
    device.close()


def run(device: Device, source: str, buffers: Sequence[Array], groups: int, subgroups: int) -> list[Array]:
    """Compile a kernel, run it on the CPU, and return its arrays."""
    artifact = compile_module(source, find("b580"))
    (kernel,) = artifact.kernels
    used = [parameter.argument for parameter in kernel.parameters]
    launch = LaunchSpec(
        binary=emit_spirv(emulate(artifact.stage("llvm").data.decode())),
        arguments=tuple(Argument(f"a{i}", "output", kernel.arguments[i].element, buffers[i].nbytes) for i in used),
        steps=(LaunchStep(kernel.name, tuple(range(len(used))), (groups * subgroups, 1, 1), (subgroups, 1, 1)),),
        subgroup_size=16,
        build_options="",
    )
    outputs = device.run(launch, tuple(buffers[i] for i in used), None, 60).outputs
    out = list(buffers)
    for place, i in enumerate(used):
        out[i] = np.asarray(outputs[place]).view(buffers[i].dtype).reshape(buffers[i].shape)
    return out


@pytest.mark.slow
def test_a_gemm_of_work_items_agrees_with_numpy(cpu: Device) -> None:
    a, b, c = gemm_operands()
    out = run(cpu, GEMM, (a, b, c), GEMM_GRID[0], 4)
    np.testing.assert_allclose(out[2], a.astype(np.float64) @ b.astype(np.float64), rtol=1e-5, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("case", FORMS, ids=lambda case: case.name)
def test_every_form_gives_the_interpreters_numbers(cpu: Device, case: Case) -> None:
    source = case.sources[Level.WORK_ITEM]
    given = [np.asarray(array) for array in arguments(case, source)]
    expected = [array.copy() for array in given]
    interpret(parse(source), "k", (case.groups, 1, 1), expected, case.block(Level.WORK_ITEM))
    items = 16 * case.subgroups
    sized = source.replace(" kernel {", f" kernel attributes {{known_block_size = array<i32: {items}, 1, 1>}} {{")
    for wanted, got in zip(expected, run(cpu, sized, given, case.groups, case.subgroups), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=case.tolerance, atol=case.tolerance)
