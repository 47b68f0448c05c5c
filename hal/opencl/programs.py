"""Programs of an OpenCL device: built once, and their kernels enqueued as a launch says."""

import hashlib
import warnings
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import pyopencl as cl

from hal.device import LaunchSpec, Scalar
from hal.errors import KernelBuildFailed
from hal.spirv.needs import SpirvOffer, spirv_needs

_ELF = b"\x7fELF"
_KEPT_PROGRAMS = 8


def driver_of(device: cl.Device) -> str:
    """Return the name of a device's platform and the version of its driver."""
    return f"{device.platform.name} {device.driver_version}"


class Programs:
    """Programs of one device, built when first used; the last few are kept."""

    def __init__(self, context: cl.Context, device: cl.Device, offer: SpirvOffer) -> None:
        self._context, self._device, self._offer = context, device, offer
        self._built: OrderedDict[tuple[str, str], tuple[cl.Program, dict[str, cl.Kernel]]] = OrderedDict()

    def clear(self) -> None:
        """Drop the programs."""
        self._built.clear()

    def kernels(self, launch: LaunchSpec) -> tuple[cl.Kernel, ...]:
        """Return the kernel of each step.

        Raises:
            KernelBuildFailed: the driver lacks what the binary needs, or refuses it or a kernel, or one takes other
                parameters.
        """
        key = (hashlib.sha256(launch.binary).hexdigest(), launch.build_options)
        if key not in self._built:
            self._built[key] = self._program(launch), {}
            if len(self._built) > _KEPT_PROGRAMS:
                self._built.popitem(last=False)
        self._built.move_to_end(key)
        program, known = self._built[key]
        for step in launch.steps:
            if step.kernel not in known:
                known[step.kernel] = self._kernel(program, step.kernel)
            takes = known[step.kernel].num_args
            if takes != len(step.parameters):
                raise KernelBuildFailed(
                    f"kernel {step.kernel} takes {takes} arguments, the launch gives it {len(step.parameters)}"
                )
        return tuple(known[step.kernel] for step in launch.steps)

    def _program(self, launch: LaunchSpec) -> cl.Program:
        if launch.binary.startswith(_ELF):
            return self._native(launch)
        try:
            lacks = self._offer.lacks(spirv_needs(launch.binary))
        except ValueError as error:
            raise KernelBuildFailed(f"the binary of {launch.title} is not SPIR-V: {error}") from error
        if lacks:
            needed = f"which {launch.title} needs: install a newer driver, or compile for a device that has it"
            raise KernelBuildFailed(f"{driver_of(self._device)} lacks {', '.join(lacks)}, {needed}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", cl.CompilerWarning)
                return cl.Program(self._context, launch.binary).build(launch.build_options)
        except cl.Error as error:
            raise KernelBuildFailed(
                f"{driver_of(self._device)} refused {launch.title} (options {launch.build_options!r}): {error}"
            ) from error

    def _native(self, launch: LaunchSpec) -> cl.Program:
        """Build the program of Intel's native binary, which this driver's compiler made; nothing is compiled."""
        try:
            return cl.Program(self._context, [self._device], [launch.binary]).build(launch.build_options)
        except cl.Error as error:
            message = f"{driver_of(self._device)} refused the native binary of {launch.title}: {error}"
            raise KernelBuildFailed(f"{message}; it must be of this driver and chip") from error

    def _kernel(self, program: cl.Program, name: str) -> cl.Kernel:
        try:
            return cl.Kernel(program, name)
        except cl.Error as error:
            raise KernelBuildFailed(f"{driver_of(self._device)} refused kernel {name}: {error}") from error


def enqueue(
    queue: cl.CommandQueue,
    kernels: Sequence[cl.Kernel],
    launch: LaunchSpec,
    held: Sequence[cl.Buffer],
    *,
    once: bool = False,
) -> tuple[cl.Event, ...]:
    """Enqueue the `once` steps, or the others; the queue is in order, so each sees the writes of earlier ones."""
    events: list[cl.Event] = []
    for kernel, step in zip(kernels, launch.steps, strict=True):
        if step.once is not once:
            continue
        for place, parameter in enumerate(step.parameters):
            value = np.int64(parameter.value) if isinstance(parameter, Scalar) else held[parameter]
            kernel.set_arg(place, value)
        events.append(cl.enqueue_nd_range_kernel(queue, kernel, step.global_size, step.local_size))
    return tuple(events)
