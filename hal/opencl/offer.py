"""Features that an OpenCL driver reports: extensions, versions of SPIR-V, and their extensions and capabilities.

Source: registry.khronos.org, OpenCL 3.0, clGetDeviceInfo; cl_khr_il_program; cl_khr_spirv_queries.
"""

import ctypes
import struct

from hal.facts.intel_attributes import Query
from hal.spirv.needs import SpirvOffer, capability_name

_EXTENSIONS = 0x1030
_IL_VERSION = 0x105B
_SPIRV_EXTENSIONS = 0x12BA
_SPIRV_CAPABILITIES = 0x12BB
_SPIRV = "SPIR-V_"


def spirv_offer(query: Query) -> SpirvOffer:
    """Return what the driver of a device offers to SPIR-V modules."""
    versions = frozenset(one.removeprefix(_SPIRV) for one in _words(query(_IL_VERSION)) if one.startswith(_SPIRV))
    pointers, numbers = query(_SPIRV_EXTENSIONS), query(_SPIRV_CAPABILITIES)
    return SpirvOffer(
        versions or None,
        frozenset(_words(query(_EXTENSIONS))),
        None if pointers is None else frozenset(map(_string_at, struct.unpack(f"{len(pointers) // 8}Q", pointers))),
        None if numbers is None else frozenset(map(capability_name, struct.unpack(f"{len(numbers) // 4}I", numbers))),
    )


def _words(raw: bytes | None) -> list[str]:
    return (raw or b"").rstrip(b"\0").decode().split()


def _string_at(address: int) -> str:
    return (ctypes.c_char_p(address).value or b"").decode()
