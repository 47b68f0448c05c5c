"""What every Device does, whichever runs the kernel."""

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from hal import Device, KernelBuildFailed, ListedDevice, Timing, list_devices, open_device, resolve_device
from tests.hal.kernels import N, expected, launch, operands, two_steps

pytestmark = pytest.mark.opencl


def _in_process(device: ListedDevice) -> Device:
    from hal.opencl import OpenCLDevice

    assert device.address is not None
    return OpenCLDevice(device.spec, device.address)


@pytest.fixture(scope="module")
def cpu() -> ListedDevice:
    return resolve_device("opencl-cpu", "b60", among=list_devices())


@pytest.fixture(scope="module", params=[_in_process, open_device], ids=["opencl", "process"])
def device(request: pytest.FixtureRequest, cpu: ListedDevice) -> Iterator[Device]:
    opened: Callable[[ListedDevice], Device] = request.param
    device = opened(cpu)
    yield device
    device.close()


class TestDevice:
    def test_it_tells_its_spec(self, device: Device, cpu: ListedDevice) -> None:
        assert device.spec == cpu.spec
        assert device.spec.emulates == "b60"

    def test_a_kernel_runs_once_without_timing(self, device: Device) -> None:
        report = device.run(launch(), operands(), None, 60)
        assert list(report.outputs) == [2]
        np.testing.assert_array_equal(report.outputs[2], expected())
        assert report.times_us == ()
        assert report.build_s > 0
        assert "OpenCL" in report.driver

    def test_the_callers_buffers_stay_as_they_are(self, device: Device) -> None:
        a, b, c = operands()
        device.run(launch(), (a, b, c), None, 60)
        for buffer, before in zip((a, b, c), operands(), strict=True):
            np.testing.assert_array_equal(buffer, before)

    @pytest.mark.parametrize("rotate_bytes", [0, 10 * 3 * 4 * N])
    def test_timing_samples_and_keeps_the_outputs_of_the_first_run(self, device: Device, rotate_bytes: int) -> None:
        timing = Timing(warmup=2, min_samples=7, min_time_s=0, max_time_s=30, rotate_bytes=rotate_bytes)
        report = device.run(launch(), operands(), timing, 60)
        assert len(report.times_us) == 7
        assert all(time_us > 0 for time_us in report.times_us)
        assert not report.stopped_early
        np.testing.assert_array_equal(report.outputs[2], expected())

    def test_a_hopeless_kernel_is_given_up(self, device: Device) -> None:
        timing = Timing(warmup=0, min_samples=1000, min_time_s=0, max_time_s=30, hopeless_us=1e-3)
        report = device.run(launch(), operands(), timing, 60)
        assert report.stopped_early
        assert len(report.times_us) == 3

    def test_a_kernel_is_built_once(self, device: Device) -> None:
        other = launch(options="-cl-fast-relaxed-math")
        first = device.run(other, operands(), None, 60)
        again = device.run(other, operands(), None, 60)
        assert again.build_s < first.build_s / 5

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"binary": b"not a kernel"}, "is not SPIR-V"),
            ({"steps": (dataclasses.replace(launch().steps[0], kernel="another"),)}, "refused kernel another"),
            ({"build_options": "--no-such-option"}, "no-such-option"),
            (
                {"steps": (dataclasses.replace(launch().steps[0], parameters=(0, 1)),)},
                "kernel kernel_under_test takes 3 arguments, the launch gives it 2",
            ),
            (
                {"steps": (two_steps().steps[0], dataclasses.replace(two_steps().steps[1], parameters=(3,)))}
                | {"binary": two_steps().binary, "arguments": two_steps().arguments},
                "kernel second takes 3 arguments, the launch gives it 1",
            ),
        ],
    )
    def test_a_kernel_that_cannot_be_built_is_refused(
        self, device: Device, change: dict[str, object], message: str
    ) -> None:
        broken = dataclasses.replace(launch(), **change)
        with pytest.raises(KernelBuildFailed, match=message):
            device.run(broken, operands(), None, 60)
        np.testing.assert_array_equal(device.run(launch(), operands(), None, 60).outputs[2], expected())

    def test_buffers_that_do_not_fit_the_launch_are_refused(self, device: Device) -> None:
        a, b, c = operands()
        with pytest.raises(ValueError, match="takes 3 buffers, got 2"):
            device.run(launch(), (a, b), None, 60)
        with pytest.raises(ValueError, match="argument b of kernel kernel_under_test takes 16384 bytes, got 8192"):
            device.run(launch(), (a, b[: N // 2], c), None, 60)

    def test_steps_run_in_order_with_scratch_memory_and_numbers(self, device: Device) -> None:
        report = device.run(two_steps(factor=3), operands(), None, 60)
        assert list(report.outputs) == [3]
        np.testing.assert_array_equal(report.outputs[3], expected(3))
        again = device.run(two_steps(factor=-2), operands(), None, 60)
        np.testing.assert_array_equal(again.outputs[3], expected(-2))

    @pytest.mark.parametrize("rotate_bytes", [0, 10 * 4 * 4 * N])
    def test_timing_steps_gives_what_the_first_launch_made_of_memory_that_they_update(
        self, device: Device, rotate_bytes: int
    ) -> None:
        timing = Timing(warmup=2, min_samples=7, min_time_s=0, max_time_s=30, rotate_bytes=rotate_bytes)
        a, b, c = operands()
        report = device.run(two_steps(factor=3), (a, b, c), timing, 60)
        assert len(report.times_us) == 7
        assert all(time_us > 0 for time_us in report.times_us)
        np.testing.assert_array_equal(report.outputs[3], expected(3))
        np.testing.assert_array_equal(c, operands()[2])

    def test_scratch_memory_is_not_the_callers(self, device: Device) -> None:
        a, b, c = operands()
        with pytest.raises(ValueError, match="kernels first, second takes 3 buffers, got 4"):
            device.run(two_steps(), (a, np.zeros_like(a), b, c), None, 60)

    def test_a_closed_device_opens_again(self, device: Device) -> None:
        device.close()
        np.testing.assert_array_equal(device.run(launch(), operands(), None, 60).outputs[2], expected())
