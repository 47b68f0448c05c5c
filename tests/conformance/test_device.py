"""Behaviour of every Device."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

from hal import Device, KernelBuildFailed, LaunchSpec, ListedDevice, Timing, list_devices, open_device, resolve_device
from tests.hal import kernels
from tests.hal.cpu import native_kernels
from tests.hal.kernels import N, expected, operands


def _opencl(device: ListedDevice) -> Device:
    from hal.opencl.device import OpenCLDevice

    assert device.address is not None
    return OpenCLDevice(device.spec, device.address)


def _native(device: ListedDevice) -> Device:
    from hal.cpu.device import NativeDevice

    return NativeDevice(device.spec)


@dataclass(frozen=True)
class Side:
    """A device by name, its factory, and kernels for it."""

    name: str
    open: Callable[[ListedDevice], Device]
    launch: Callable[..., LaunchSpec]
    two_steps: Callable[..., LaunchSpec]
    target: str | None = None


_ON_OPENCL = (kernels.launch, kernels.two_steps, "b60")
_ON_CPU = (native_kernels.launch, native_kernels.two_steps)
_SIDES = [
    pytest.param(Side("opencl-cpu", _opencl, *_ON_OPENCL), id="opencl", marks=pytest.mark.opencl),
    pytest.param(Side("opencl-cpu", open_device, *_ON_OPENCL), id="opencl process", marks=pytest.mark.opencl),
    pytest.param(Side("cpu", _native, *_ON_CPU), id="native"),
    pytest.param(Side("cpu", open_device, *_ON_CPU), id="native process"),
]


@pytest.fixture(scope="module")
def devices() -> list[ListedDevice]:
    return list_devices()


@pytest.fixture(scope="module", params=_SIDES)
def side(request: pytest.FixtureRequest) -> Side:
    return request.param


@pytest.fixture(scope="module")
def cpu(side: Side, devices: list[ListedDevice]) -> ListedDevice:
    return resolve_device(side.name, side.target, devices)


@pytest.fixture(scope="module")
def device(side: Side, cpu: ListedDevice) -> Iterator[Device]:
    device = side.open(cpu)
    yield device
    device.close()


class TestDevice:
    def test_it_tells_its_spec(self, device: Device, cpu: ListedDevice) -> None:
        assert device.spec == cpu.spec

    def test_a_kernel_runs_once_without_timing(self, side: Side, device: Device) -> None:
        report = device.run(side.launch(), operands(), None, 60)
        assert list(report.outputs) == [2]
        np.testing.assert_array_equal(report.outputs[2], expected())
        assert report.times_us == ()
        assert report.build_s > 0
        assert report.driver == device.spec.driver

    def test_the_callers_buffers_stay_as_they_are(self, side: Side, device: Device) -> None:
        a, b, c = operands()
        device.run(side.launch(), (a, b, c), None, 60)
        for buffer, before in zip((a, b, c), operands(), strict=True):
            np.testing.assert_array_equal(buffer, before)

    @pytest.mark.parametrize("rotate_bytes", [0, 10 * 3 * 4 * N])
    def test_timing_samples_and_keeps_the_outputs_of_the_first_run(
        self, side: Side, device: Device, rotate_bytes: int
    ) -> None:
        timing = Timing(warmup_s=0.0, min_samples=7, min_time_s=0, max_time_s=30, rotate_bytes=rotate_bytes)
        report = device.run(side.launch(), operands(), timing, 60)
        assert len(report.times_us) == 7
        assert all(time_us > 0 for time_us in report.times_us)
        assert not report.stopped_early
        np.testing.assert_array_equal(report.outputs[2], expected())

    def test_a_hopeless_kernel_is_given_up(self, side: Side, device: Device) -> None:
        timing = Timing(warmup_s=0.0, min_samples=100_000, min_time_s=0, max_time_s=30, hopeless_us=1e-3)
        report = device.run(side.launch(), operands(), timing, 60)
        assert report.stopped_early
        assert 4 <= len(report.times_us) < 100_000, "three samples, and those of a moment later"

    @pytest.mark.slow
    def test_a_kernel_is_built_once(self, side: Side, device: Device) -> None:
        device.close()
        first = device.run(side.launch(), operands(), None, 60)
        again_s = min(device.run(side.launch(), operands(), None, 60).build_s for _ in range(5))
        assert again_s < first.build_s / 5

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda whole: replace(whole, binary=b"not a kernel"), "is not (SPIR-V|an ELF object of x86-64)"),
            (
                lambda whole: replace(whole, steps=(replace(whole.steps[0], kernel="another"),)),
                "another|cannot be link",
            ),
        ],
    )
    def test_a_kernel_that_cannot_be_built_is_refused(
        self, side: Side, device: Device, change: Callable[[LaunchSpec], LaunchSpec], message: str
    ) -> None:
        with pytest.raises(KernelBuildFailed, match=message):
            device.run(change(side.launch()), operands(), None, 60)
        np.testing.assert_array_equal(device.run(side.launch(), operands(), None, 60).outputs[2], expected())

    def test_buffers_that_do_not_fit_the_launch_are_refused(self, side: Side, device: Device) -> None:
        a, b, c = operands()
        with pytest.raises(ValueError, match="takes 3 buffers, got 2"):
            device.run(side.launch(), (a, b), None, 60)
        with pytest.raises(ValueError, match="argument b of kernel kernel_under_test takes 16384 bytes, got 8192"):
            device.run(side.launch(), (a, b[: N // 2], c), None, 60)

    def test_steps_run_in_order_with_scratch_memory_and_numbers(self, side: Side, device: Device) -> None:
        report = device.run(side.two_steps(factor=3), operands(), None, 60)
        assert list(report.outputs) == [3]
        np.testing.assert_array_equal(report.outputs[3], expected(3))
        again = device.run(side.two_steps(factor=-2), operands(), None, 60)
        np.testing.assert_array_equal(again.outputs[3], expected(-2))

    @pytest.mark.parametrize("rotate_bytes", [0, 10 * 4 * 4 * N])
    def test_timing_steps_gives_what_the_first_launch_made_of_memory_that_they_update(
        self, side: Side, device: Device, rotate_bytes: int
    ) -> None:
        timing = Timing(warmup_s=0.0, min_samples=7, min_time_s=0, max_time_s=30, rotate_bytes=rotate_bytes)
        a, b, c = operands()
        report = device.run(side.two_steps(factor=3), (a, b, c), timing, 60)
        assert len(report.times_us) == 7
        assert all(time_us > 0 for time_us in report.times_us)
        np.testing.assert_array_equal(report.outputs[3], expected(3))
        np.testing.assert_array_equal(c, operands()[2])

    @pytest.mark.parametrize("rotate_bytes", [0, 10 * 4 * 4 * N])
    def test_a_step_that_is_run_once_comes_before_the_others(
        self, side: Side, device: Device, rotate_bytes: int
    ) -> None:
        timing = Timing(warmup_s=0.0, min_samples=7, min_time_s=0, max_time_s=30, rotate_bytes=rotate_bytes)
        report = device.run(side.two_steps(factor=3, once=True), operands(), timing, 60)
        assert len(report.times_us) == 7
        np.testing.assert_array_equal(report.outputs[3], expected(3))

    def test_scratch_memory_is_not_the_callers(self, side: Side, device: Device) -> None:
        a, b, c = operands()
        with pytest.raises(ValueError, match="kernels first, second takes 3 buffers, got 4"):
            device.run(side.two_steps(), (a, np.zeros_like(a), b, c), None, 60)

    @pytest.mark.slow
    def test_a_closed_device_opens_again(self, side: Side, device: Device) -> None:
        device.close()
        np.testing.assert_array_equal(device.run(side.launch(), operands(), None, 60).outputs[2], expected())
