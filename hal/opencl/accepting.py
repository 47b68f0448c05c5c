"""Acceptance of launches by the GPU that the driver simulates; runs in a process under that driver.

Nothing is read back and no time is asked for: the driver executes nothing.
"""

import ctypes
from functools import cache

import pyopencl as cl

from hal.device import LaunchSpec
from hal.driver.acceptance import Acceptance, KernelAttributes
from hal.errors import DeviceFailed, KernelBuildFailed
from hal.opencl.device import gpus
from hal.opencl.loader import loader, query_of
from hal.opencl.offer import spirv_offer
from hal.opencl.programs import Programs, driver_of, enqueue

_SPILL_MEM_SIZE = 0x4109  # cl_intel_required_subgroup_size
_COMPILE_SUB_GROUP_SIZE = 0x410A


class _Gpu:
    """The simulated GPU: its context, queue and programs.

    Raises:
        DeviceFailed: the driver shows no GPU.
    """

    def __init__(self) -> None:
        found = gpus()
        if not found:
            raise DeviceFailed("the driver shows no GPU: expected it in its simulation mode")
        self.device = found[0]
        self.context = cl.Context([self.device])
        self.queue = cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        self.programs = Programs(self.context, self.device, spirv_offer(query_of(self.device.int_ptr)))


gpu = cache(_Gpu)


def build(launch: LaunchSpec, chip: str) -> Acceptance:
    """Build the program of a launch and create its kernels; the driver simulates `chip`.

    Raises:
        KernelBuildFailed: the driver refuses the program or a kernel.
    """
    here = gpu()
    kernels = here.programs.kernels(launch)
    attributes = tuple(_attributes(kernel, here.device) for kernel in kernels)
    log = str(kernels[0].program.get_build_info(here.device, cl.program_build_info.LOG)).strip("\0\n ")
    return Acceptance(here.device.driver_version, chip, log, attributes)


def enqueue_all(launch: LaunchSpec) -> None:
    """Enqueue the steps of a launch, once each, on buffers of its sizes.

    Raises:
        KernelBuildFailed: the driver refuses a step.
    """
    here = gpu()
    kernels = here.programs.kernels(launch)
    try:
        # Kept until the queue is empty: the driver ends the process over a launch whose buffers were freed.
        held = [cl.Buffer(here.context, cl.mem_flags.READ_WRITE, size=a.nbytes) for a in launch.arguments]
        enqueue(here.queue, kernels, launch, held, once=True)
        enqueue(here.queue, kernels, launch, held)
        here.queue.finish()
    except cl.Error as error:
        raise KernelBuildFailed(f"{driver_of(here.device)} refused to launch {launch.title}: {error}") from error


def _attributes(kernel: cl.Kernel, device: cl.Device) -> KernelAttributes:
    info, ask = cl.kernel_work_group_info, kernel.get_work_group_info
    x, y, z = ask(info.COMPILE_WORK_GROUP_SIZE, device)
    return KernelAttributes(
        kernel=kernel.function_name,
        private_bytes=ask(info.PRIVATE_MEM_SIZE, device),
        spill_bytes=_spilled(kernel, device),
        slm_bytes=ask(info.LOCAL_MEM_SIZE, device),
        local_size=(x, y, z) if x else None,
        subgroup_size=_subgroup_size(kernel, device),
        max_local_size=ask(info.WORK_GROUP_SIZE, device),
    )


def _spilled(kernel: cl.Kernel, device: cl.Device) -> int | None:
    value = ctypes.c_uint64()
    size = ctypes.c_size_t(ctypes.sizeof(value))
    ask = loader().clGetKernelWorkGroupInfo
    status = ask(*_handles(kernel, device), _SPILL_MEM_SIZE, size, ctypes.byref(value), None)
    return None if status else value.value


def _subgroup_size(kernel: cl.Kernel, device: cl.Device) -> int | None:
    value, nothing = ctypes.c_size_t(), ctypes.c_size_t(0)
    size = ctypes.c_size_t(ctypes.sizeof(value))
    ask = loader().clGetKernelSubGroupInfo
    status = ask(*_handles(kernel, device), _COMPILE_SUB_GROUP_SIZE, nothing, None, size, ctypes.byref(value), None)
    return None if status else value.value or None


def _handles(kernel: cl.Kernel, device: cl.Device) -> tuple[ctypes.c_void_p, ctypes.c_void_p]:
    return ctypes.c_void_p(kernel.int_ptr), ctypes.c_void_p(device.int_ptr)
