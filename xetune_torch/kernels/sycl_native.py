"""Native binaries (zebin) as SYCL programs. dpctl loads SPIR-V only; the SYCL runtime takes a module of Level Zero."""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dpctl
import dpctl.program

_BUNDLE = "_ZN4sycl3_V16detail18make_kernel_bundleEmRKNS0_7contextEbNS0_12bundle_stateENS0_7backendE"
_OF_CONTEXT, _OF_DEVICE = "_ZNK4sycl3_V17context9getNativeEv", "_ZNK4sycl3_V16device9getNativeEv"
_NEW = "_Znwm"
_LEVEL_ZERO, _EXECUTABLE = ctypes.c_char(2), ctypes.c_char(2)
_BUNDLE_BYTES = 16  # a kernel_bundle is one shared pointer
_MODULE_DESCRIPTION, _NATIVE = 0x1B, 1  # ze_structure_type_t and ze_module_format_t of Level Zero 1.0


class _Description(ctypes.Structure):
    """ze_module_desc_t."""

    _fields_ = [
        ("stype", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("format", ctypes.c_int),
        ("size", ctypes.c_size_t),
        ("data", ctypes.c_char_p),
        ("flags", ctypes.c_char_p),
        ("constants", ctypes.c_void_p),
    ]


def native_program(queue: Any, binary: bytes) -> Any | None:
    """Return the program of a native binary for the device of a queue; None if the driver does not take it.

    It is also None where the queue is not of Level Zero, or where the SYCL runtime lacks what this calls.
    """
    if queue.backend != dpctl.backend_type.level_zero:
        return None
    try:
        sycl, loader = _loaded("libsycl.so"), _loaded("libze_loader.so")
        bundle = sycl[_BUNDLE]
        context = _native(sycl, _OF_CONTEXT, queue.sycl_context)
        device = _native(sycl, _OF_DEVICE, queue.sycl_device)
        create, new = loader.zeModuleCreate, sycl[_NEW]
    except (OSError, AttributeError, StopIteration):
        return None
    module = ctypes.c_void_p()
    said = _Description(_MODULE_DESCRIPTION, None, _NATIVE, len(binary), binary, b"", None)
    if create(ctypes.c_void_p(context), ctypes.c_void_p(device), ctypes.byref(said), ctypes.byref(module), None):
        return None
    new.restype, new.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    made = new(_BUNDLE_BYTES)  # what the program deletes, as C++ does
    # C++ returns a shared pointer at the address that is its first argument.
    bundle.restype = None
    where = ctypes.c_void_p(queue.sycl_context.addressof_ref())
    bundle(
        ctypes.c_void_p(made), ctypes.c_uint64(module.value or 0), where, ctypes.c_bool(False), _EXECUTABLE, _LEVEL_ZERO
    )
    return _maker()(made)


def _loaded(name: str) -> ctypes.CDLL:
    """Return a library that this process has loaded."""
    with Path("/proc/self/maps").open() as maps:
        return ctypes.CDLL(next(line.split()[-1] for line in maps if f"/{name}" in line))


def _native(sycl: ctypes.CDLL, symbol: str, of: Any) -> int:
    function = sycl[symbol]
    function.restype, function.argtypes = ctypes.c_uint64, (ctypes.c_void_p,)
    return int(function(of.addressof_ref()))


def _maker() -> Callable[[int], Any]:
    capsule: Any = dpctl.program._program.__pyx_capi__["SyclProgram_Make"]
    name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(pointer(capsule, name(capsule)))
