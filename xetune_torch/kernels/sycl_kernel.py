"""Kernels for Intel GPUs on a SYCL queue of another program, by dpctl. It imports no torch."""

import ctypes
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import dpctl
import dpctl.memory
import dpctl.program
from dpctl.program import SyclProgramCompilationError

from xetune_torch.kernels.sycl_native import native_program

__all__ = ["SyclKernel", "SyclProgramCompilationError", "queue_at"]

_CAPSULE = b"SyclQueueRef"
_ALIGNMENT = 64


def queue_at(address: int) -> Any:
    """Return the SYCL queue at an address, such as `torch.xpu.current_stream().sycl_queue`.

    dpctl copies the queue, which must be of the SYCL runtime that dpctl has loaded.
    """
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    borrowed = ctypes.c_void_p(address)  # dpctl deletes what a capsule names, so it is given a copy
    return dpctl.SyclQueue(new(_copy(borrowed), _CAPSULE, None))


class SyclKernel:
    """A kernel of `kernel.spv` and `kernel.json`, built for the device of a queue, which must be in order.

    With `native`, the driver's code for the device, nothing is compiled if the driver takes it: `is_native` tells.

    Raises:
        dpctl.program.SyclProgramCompilationError: the driver refuses it.
        ValueError: the queue is not in order.
    """

    def __init__(self, manifest: Mapping[str, Any], binary: bytes, queue: Any, native: bytes | None = None) -> None:
        program = None if native is None else native_program(queue, native)
        self.is_native = program is not None
        if program is None:
            api = "opencl" if queue.backend == dpctl.backend_type.opencl else "level_zero"
            options = manifest.get("build_options", {}).get(api, "")
            program = dpctl.program.create_program_from_spirv(queue, binary, options)
        self._manifest, self._program = manifest, program
        self._use(queue)

    def on(self, queue: Any) -> "SyclKernel":
        """Return the same program on another queue of the same context, with memory of its own."""
        other = copy(self)
        other._use(queue)
        return other

    def _use(self, queue: Any) -> None:
        if not queue.is_in_order:
            raise ValueError("expected an in-order queue, as those of torch are: the steps of a launch run in order")
        manifest, program = self._manifest, self._program
        self._queue = queue
        self.alignment = int(manifest.get("pointer_alignment_bytes") or _ALIGNMENT)
        self._steps = [(program.get_sycl_kernel(step["kernel"]), step) for step in manifest["steps"]]
        self._operands = [argument["index"] for argument in manifest["arguments"] if argument["role"] != "scratch"]
        self._sizes = {argument["index"]: argument["bytes"] for argument in manifest["arguments"]}
        self._scratch = {
            index: dpctl.memory.MemoryUSMDevice(nbytes, alignment=_ALIGNMENT, queue=queue)
            for index, nbytes in self._sizes.items()
            if index not in self._operands
        }

    def launch(self, *addresses: int) -> None:
        """Enqueue all steps, with the addresses of the operands in the problem's order, and do not wait."""
        memory = dict(self._scratch)
        for index, address in zip(self._operands, addresses, strict=True):
            memory[index] = dpctl.memory.MemoryUSMDevice(_Usm(address, self._sizes[index], self._queue))
        for kernel, step in self._steps:
            parameters = [
                memory[p["argument"]] if p.get("argument") is not None else ctypes.c_int64(p["value"])
                for p in step["parameters"]
            ]
            self._queue.submit(
                kernel, parameters, _slowest_first(step["global_size"]), _slowest_first(step["local_size"])
            )


class _Usm:
    """Memory at an address, as dpctl is shown memory of others."""

    def __init__(self, address: int, nbytes: int, queue: Any) -> None:
        self.__sycl_usm_array_interface__ = {
            "data": (address, False),
            "shape": (nbytes,),
            "strides": None,
            "typestr": "|u1",
            "version": 1,
            "syclobj": queue,
        }


def _slowest_first(extents: Sequence[int]) -> list[int]:
    return list(reversed(extents))


def _copy(queue: ctypes.c_void_p) -> int:
    """Return a copy of a SYCL queue, which its new owner deletes."""
    from pathlib import Path

    interface = ctypes.CDLL(str(next(Path(dpctl.__file__).parent.glob("libDPCTLSyclInterface.so*"))))
    interface.DPCTLQueue_Copy.restype = ctypes.c_void_p
    interface.DPCTLQueue_Copy.argtypes = (ctypes.c_void_p,)
    return int(interface.DPCTLQueue_Copy(queue))
