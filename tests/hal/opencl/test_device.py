"""OpenCL devices rotate through sets of buffers, scratch included, while they time a kernel."""

from dataclasses import replace

import pytest

from hal import KernelBuildFailed, LaunchSpec, Timing, list_devices, resolve_device
from tests.hal.kernels import N, launch, operands, two_steps
from tests.hal.spirv_modules import spirv_module

pytestmark = pytest.mark.opencl


@pytest.fixture
def uploads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    from hal.opencl.device import OpenCLDevice

    counted: list[int] = []
    upload = OpenCLDevice._upload
    monkeypatch.setattr(OpenCLDevice, "_upload", lambda self, *given: counted.append(1) or upload(self, *given))
    return counted


@pytest.mark.parametrize(("rotate_bytes", "sets"), [(0, 1), (12 * N, 1), (12 * N + 1, 2), (100 * N, 9), (10**10, 1024)])
@pytest.mark.slow
def test_enough_sets_of_buffers_rotate(uploads: list[int], rotate_bytes: int, sets: int) -> None:
    from hal.opencl.device import OpenCLDevice

    cpu = resolve_device("opencl-cpu", among=list_devices())
    device = OpenCLDevice(cpu.spec, cpu.address or "")
    device.run(launch(), operands(), Timing(warmup_s=0.0, min_samples=1, min_time_s=0, rotate_bytes=rotate_bytes), 60)
    assert len(uploads) == 1 + sets  # the first run, whose outputs count, has a set of its own


def test_scratch_counts_among_what_rotates(uploads: list[int]) -> None:
    from hal.opencl.device import OpenCLDevice

    cpu = resolve_device("opencl-cpu", among=list_devices())
    device = OpenCLDevice(cpu.spec, cpu.address or "")
    device.run(two_steps(), operands(), Timing(warmup_s=0.0, min_samples=1, min_time_s=0, rotate_bytes=16 * N), 60)
    assert len(uploads) == 1 + 1


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (replace(launch(), build_options="--no-such-option"), "no-such-option"),
        (
            replace(launch(), binary=spirv_module(capabilities=(6, 9999), imports=("sub_group_2d_block_read",))),
            "lacks cl_intel_subgroup_2d_block_io, capability 9999, which kernel kernel_under_test needs: install",
        ),
        (replace(launch(), steps=(replace(launch().steps[0], kernel="another"),)), "refused kernel another"),
        (
            replace(launch(), steps=(replace(launch().steps[0], parameters=(0, 1)),)),
            "kernel kernel_under_test takes 3 arguments, the launch gives it 2",
        ),
        (
            replace(two_steps(), steps=(two_steps().steps[0], replace(two_steps().steps[1], parameters=(3,)))),
            "kernel second takes 3 arguments, the launch gives it 1",
        ),
    ],
)
def test_what_the_driver_refuses_is_named(broken: LaunchSpec, message: str) -> None:
    from hal.opencl.device import OpenCLDevice

    cpu = resolve_device("opencl-cpu", among=list_devices())
    device = OpenCLDevice(cpu.spec, cpu.address or "")
    buffers = operands()
    with pytest.raises(KernelBuildFailed, match=message):
        device.run(broken, buffers, None, 60)
