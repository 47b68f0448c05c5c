"""The door to pyopencl: runs kernels on an OpenCL device.

Imported late and, except in tests, in a separate process.
"""

import os
import time
from dataclasses import replace

import numpy as np
import pyopencl as cl

from hal.buffer import Buffer
from hal.clocks import cpu_mhz, gpu_mhz
from hal.device import LaunchSpec, RunReport, Timing
from hal.energy import EnergyWindow, cpu_meter, gpu_meter
from hal.errors import DeviceFailed, UnknownDevice
from hal.facts.intel_attributes import (
    pci_address,
)
from hal.facts.spec import (
    DeviceSpec,
)
from hal.opencl.ahead import LaunchesAhead
from hal.opencl.buffers import (
    SCRATCH_POISON,
    given_buffers,
)
from hal.opencl.loader import query_of
from hal.opencl.offer import spirv_offer
from hal.opencl.probing import INTEL_PCI_VENDOR
from hal.opencl.programs import Programs, driver_of, enqueue
from hal.probe.icd import visible_runtimes
from hal.sampling import sample

_MAX_BUFFER_SETS = 1024


def gpus() -> list[cl.Device]:
    """Return the Intel GPUs that OpenCL offers."""
    return [device for platform in _platforms() for device in platform.get_devices() if _is_intel_gpu(device)]


def _platforms() -> list[cl.Platform]:
    with visible_runtimes():
        try:
            return cl.get_platforms()
        except cl.LogicError as error:
            if error.code != cl.status_code.PLATFORM_NOT_FOUND_KHR:
                raise
            return []


def _is_intel_gpu(device: cl.Device) -> bool:
    return bool(device.type & cl.device_type.GPU) and device.vendor_id == INTEL_PCI_VENDOR


class OpenCLDevice:
    """Device that runs kernels through OpenCL in this process; a kernel that hangs or crashes takes it down.

    Caches the last programs that it built, so that a check and a measurement of one launch build it once;
    `build_s` is the time spent building in that run. At most 1024 sets of buffers rotate. Steps go to one
    in-order queue; scratch memory is poisoned.
    """

    def __init__(self, spec: DeviceSpec, address: str) -> None:
        self._spec = spec
        self._device = _device_at(address)
        query = query_of(self._device.int_ptr)
        self._pci_address = pci_address(query)
        self._meter = gpu_meter(self._pci_address) if _is_intel_gpu(self._device) else cpu_meter()
        self._context = cl.Context([self._device])
        self._queue = cl.CommandQueue(self._context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        self._programs = Programs(self._context, self._device, spirv_offer(query))

    @property
    def spec(self) -> DeviceSpec:
        """Facts of the device."""
        return self._spec

    def run(
        self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
    ) -> RunReport:
        """Run a launch as Device.run does, but check `timeout_s` only between launches.

        Raises:
            ValueError: the buffers do not match the launch's arguments.
        """
        given = given_buffers(launch, buffers)
        started = time.monotonic()
        kernels = self._programs.kernels(launch)
        build_s = time.monotonic() - started
        try:
            outputs = self._run_once(kernels, launch, given)
            report = RunReport(outputs, (), build_s, driver_of(self._device))
            if timing is None:
                return report
            begun = time.monotonic()
            report = self._sampled(report, kernels, launch, given, timing, timeout_s - (begun - started))
        except cl.Error as error:
            raise DeviceFailed(f"{driver_of(self._device)} refused to run {launch.title}: {error}") from error
        return replace(report, sampling_s=time.monotonic() - begun)

    def close(self) -> None:
        """Drop the cached programs."""
        self._programs.clear()

    def _run_once(
        self, kernels: tuple[cl.Kernel, ...], launch: LaunchSpec, given: dict[int, Buffer]
    ) -> dict[int, Buffer]:
        held = self._upload(launch, given)
        enqueue(self._queue, kernels, launch, held, once=True)
        enqueue(self._queue, kernels, launch, held)[-1].wait()
        outputs: dict[int, Buffer] = {}
        for index, argument in enumerate(launch.arguments):
            if argument.role in ("output", "inout"):
                outputs[index] = np.empty_like(given[index], order="C")
                cl.enqueue_copy(self._queue, outputs[index], held[index])
        return outputs

    def _sampled(
        self,
        report: RunReport,
        kernels: tuple[cl.Kernel, ...],
        launch: LaunchSpec,
        given: dict[int, Buffer],
        timing: Timing,
        timeout_s: float,
    ) -> RunReport:
        """Return the report with times of launches over separate buffers, since each launch changes `inout` memory."""
        set_bytes = sum(argument.nbytes for argument in launch.arguments)
        count = min(max(1, -(-timing.rotate_bytes // set_bytes)), _MAX_BUFFER_SETS)
        sets = [self._upload(launch, given) for _ in range(count)]
        for held in sets:
            enqueue(self._queue, kernels, launch, held, once=True)
        self._queue.finish()

        def enqueue_next(number: int) -> tuple[cl.Event, ...]:
            return enqueue(self._queue, kernels, launch, sets[number % count])

        launches = LaunchesAhead(enqueue_next, alone=not _is_intel_gpu(self._device))
        energy = EnergyWindow(self._meter, lambda: launches.enqueued)
        try:
            times_us, stopped_early = sample(launches.launch_us, timing, timeout_s, warm=energy.begin)
        finally:
            launches.finish()
        energy_uj = energy.launch_uj()
        last = enqueue(self._queue, kernels, launch, sets[0])[-1]
        self._queue.flush()
        clock_mhz = self._clock_mhz()  # under load: an idle GPU reports no clock
        last.wait()
        return replace(report, times_us=times_us, stopped_early=stopped_early, clock_mhz=clock_mhz, energy_uj=energy_uj)

    def _clock_mhz(self) -> float | None:
        if _is_intel_gpu(self._device):
            return gpu_mhz(self._pci_address)
        return cpu_mhz(os.sched_getaffinity(0))

    def _upload(self, launch: LaunchSpec, given: dict[int, Buffer]) -> list[cl.Buffer]:
        """Return one buffer for each argument of the launch, poisoned where none is given."""
        access, copied = cl.mem_flags.READ_WRITE, cl.mem_flags.COPY_HOST_PTR
        held: list[cl.Buffer] = []
        for index, argument in enumerate(launch.arguments):
            if index in given:
                held.append(cl.Buffer(self._context, access | copied, hostbuf=np.ascontiguousarray(given[index])))
            else:
                held.append(cl.Buffer(self._context, access, size=argument.nbytes))
                cl.enqueue_fill_buffer(self._queue, held[-1], np.array(SCRATCH_POISON), 0, argument.nbytes)
        return held


def _device_at(address: str) -> cl.Device:
    _, platform, device = address.split(":")
    try:
        return _platforms()[int(platform)].get_devices()[int(device)]
    except IndexError:
        raise UnknownDevice(f"no OpenCL device is at {address} any more; list the devices again") from None
