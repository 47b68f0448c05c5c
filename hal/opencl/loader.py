"""The OpenCL loader of pyopencl, called by ctypes: platforms, devices and what they report.

Nothing here imports pyopencl, which brings numpy and takes four times as long as the drivers take to answer.
"""

import ctypes
import os
from collections.abc import Callable
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

from hal.errors import DeviceFailed
from hal.facts.intel_attributes import Query

_ALL_DEVICES = 0xFFFFFFFF
_DEVICE_NOT_FOUND, _PLATFORM_NOT_FOUND = -1, -1001
_NONE = (_DEVICE_NOT_FOUND, _PLATFORM_NOT_FOUND)

Handle = ctypes.c_void_p
"""A platform or a device."""


@cache
def loader() -> ctypes.CDLL:
    """Return the OpenCL loader that pyopencl's extension links: that of its wheel, or the system's.

    Raises:
        ImportError: pyopencl is not installed, or its extension cannot be loaded.
    """
    package = find_spec("pyopencl")
    if package is None:
        raise ModuleNotFoundError("No module named 'pyopencl'")
    extension = PathFinder.find_spec("_cl", package.submodule_search_locations)
    if extension is None or extension.origin is None:
        raise ImportError("pyopencl has no extension _cl")
    # As its package does: the loader of the wheel reads it without a check.
    os.environ["PYOPENCL_HOME"] = str(Path(extension.origin).parent)
    try:
        ctypes.CDLL(extension.origin)  # it brings its loader; nothing of the extension is run
    except OSError as error:
        raise ImportError(str(error)) from error
    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return ctypes.CDLL(next(line.split()[-1] for line in lines if "/libOpenCL" in line))


def platforms() -> list[Handle]:
    """Return the platforms; the first call of a process reads which drivers there are.

    Raises:
        DeviceFailed: the loader refuses.
    """
    return _listed("clGetPlatformIDs", loader().clGetPlatformIDs)


def devices_of(platform: Handle) -> list[Handle]:
    """Return the devices of a platform; raises as `platforms`."""

    def ask(count: int, devices: object, found: object) -> int:
        return loader().clGetDeviceIDs(platform, ctypes.c_uint64(_ALL_DEVICES), count, devices, found)

    return _listed("clGetDeviceIDs", ask)


def query_of(device: int) -> Query:
    """Return clGetDeviceInfo of a device, whose handle is a number as pyopencl's `int_ptr`."""
    return _query(loader().clGetDeviceInfo, Handle(device))


def query_of_platform(platform: Handle) -> Query:
    """Return clGetPlatformInfo of a platform."""
    return _query(loader().clGetPlatformInfo, platform)


def _query(ask: Callable[..., int], handle: Handle) -> Query:
    size = ctypes.c_size_t()

    def query(parameter: int) -> bytes | None:
        if ask(handle, parameter, ctypes.c_size_t(0), None, ctypes.byref(size)) != 0 or size.value == 0:
            return None
        answer = ctypes.create_string_buffer(size.value)
        return answer.raw if ask(handle, parameter, size, answer, None) == 0 else None

    return query


def _listed(name: str, ask: Callable[..., int]) -> list[Handle]:
    count = ctypes.c_uint32()
    status = ask(0, None, ctypes.byref(count))
    if status in _NONE or count.value == 0:
        return []
    found = (Handle * count.value)()
    status = status or ask(count.value, found, None)
    if status != 0:
        raise DeviceFailed(f"{name} failed with status {status}")
    return [Handle(handle) for handle in found]
