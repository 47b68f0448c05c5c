"""Device code inside of files: binaries for one GPU, SPIR-V modules, libraries with either, and archives of those.

A library holds device code in sections or as data of its own, in bundles or archives of many binaries. All are found
by the magic number of the innermost file, whose header is then checked. SYCL may compress images (zstd).
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from codegen.xe.xray.archives import ar_members
from codegen.xe.xray.refusal import XrayRefused
from codegen.xe.xray.zstd import is_installed, zstd_frame

_ELF, _INTEL_GPU = b"\x7fELF\x02\x01", 205  # e_machine. Source: compute-runtime, zebin: EM_INTELGT
_SPIRV, _ENTRY_POINT, _FUNCTION, _FUNCTION_END = b"\x03\x02\x23\x07", 15, 54, 56
_ZIP, _AR, _ZSTD = b"PK\x03\x04", b"!<arch>\n", b"\x28\xb5\x2f\xfd"
_SPIRV_HEADER_BYTES, _NAME_AT = 20, 12  # in a module, in OpEntryPoint
_HEADER_BYTES, _SECTION_BYTES, _NO_BITS = 64, 64, 8

_MOST_BYTES = 4 << 30  # of all that is unpacked
_MOST_RATIO, _FREE_BYTES = 200, 16 << 20  # a member of more bytes than these has a ratio of at most that
_MOST_ZEROS = 1 << 30  # of a section that a file does not hold
_DEEPEST = 4  # archives in archives: a wheel, a library, an archive of binaries, and one to spare


class CodeKind(StrEnum):
    """Form of device code; COMPRESSED may hold some, which is not read without the package zstandard."""

    ZEBIN = "zebin"
    SPIRV = "SPIR-V"
    COMPRESSED = "zstd"


@dataclass(frozen=True, slots=True)
class DeviceImage:
    """Device code, and the place in its file: "a.whl/lib.so+0x1b1150"."""

    where: str
    kind: CodeKind
    data: bytes


@dataclass(slots=True)
class _Budget:
    left: int

    def take(self, where: str, nbytes: int) -> None:
        self.left -= nbytes
        if self.left < 0:
            raise XrayRefused(
                where, f"expected to unpack to at most {_MOST_BYTES >> 30} GiB, it is more; unpack it first"
            )


def images_in(name: str, data: bytes) -> Iterator[DeviceImage]:
    """Yield the device code in a file of that name, in order.

    Raises:
        XrayRefused: no file that may hold any, one that is damaged or cut short, archives that unpack to more than
            4 GiB, by a ratio over 200 or with more than 4 levels.
    """
    budget = _Budget(_MOST_BYTES)
    budget.take(name, len(data))
    yield from _images(name, data, 0, budget)


def _images(where: str, data: bytes, depth: int, budget: _Budget) -> Iterator[DeviceImage]:
    if depth > _DEEPEST:
        raise XrayRefused(where, f"expected at most {_DEEPEST} archives in archives; unpack the outer ones")
    if data.startswith(_ZIP):
        yield from _zipped(where, data, depth, budget)
    elif data.startswith(_AR):
        for name, member in ar_members(where, data):
            yield from _images(f"{where}/{name}", member, depth + 1, budget)
    elif data.startswith(_SPIRV):
        if _spirv_bytes(data, 0) == 0:
            raise XrayRefused(where, "expected a SPIR-V module with kernels; it has none, or is cut short")
        if not _is_whole_module(data):
            raise XrayRefused(
                where,
                f"expected a SPIR-V module that ends with a function; it is cut short after {len(data):,} bytes",
            )
        yield DeviceImage(where, CodeKind.SPIRV, data)
    elif _is_zebin(data, 0):
        if not _zebin_bytes(data, 0):
            raise XrayRefused(where, f"the ELF file is cut short after {len(data):,} bytes")
        yield DeviceImage(where, CodeKind.ZEBIN, data)
    elif depth or data.startswith((b"\x7fELF", b"MZ")):
        yield from _embedded(where, data)
        yield from _compressed(where, data, depth, budget)
    else:
        what = "an empty file" if not data else f"one that begins {data[:8]!r}"
        raise XrayRefused(
            where, f"expected a zebin, a library, an ar archive, a wheel or a SPIR-V module with GPU code, got {what}"
        )


def _zipped(where: str, data: bytes, depth: int, budget: _Budget) -> Iterator[DeviceImage]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                inner = f"{where}/{member.filename}"
                if member.file_size > max(_FREE_BYTES, _MOST_RATIO * member.compress_size):
                    ratio = member.file_size // max(member.compress_size, 1)
                    raise XrayRefused(inner, f"expected a compression ratio of at most {_MOST_RATIO}, got {ratio:,}")
                budget.take(inner, member.file_size)
                yield from _images(inner, archive.read(member), depth + 1, budget)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error) as error:
        raise XrayRefused(where, f"expected a whole zip archive without a password: {error}") from error


def _embedded(where: str, data: bytes) -> Iterator[DeviceImage]:
    """Yield what a library holds. Bytes that only look like a header are passed."""
    for kind, magic in ((CodeKind.ZEBIN, _ELF), (CodeKind.SPIRV, _SPIRV)):
        at = data.find(magic)
        while at >= 0:
            size = _zebin_bytes(data, at) if kind is CodeKind.ZEBIN else _spirv_bytes(data, at)
            if size:
                yield DeviceImage(f"{where}+{at:#x}", kind, data[at : at + size])
            at = data.find(magic, at + max(size, 1))


def _compressed(where: str, data: bytes, depth: int, budget: _Budget) -> Iterator[DeviceImage]:
    """Yield what the zstd frames in a library hold. Bytes that only look like a frame are passed."""
    at = data.find(_ZSTD)
    while at >= 0:
        place, most = f"{where}+{at:#x}", max(_FREE_BYTES, _MOST_RATIO * (len(data) - at))
        frame = zstd_frame(data, at, min(most, budget.left))
        if frame is not None and not is_installed():
            yield DeviceImage(place, CodeKind.COMPRESSED, b"")
        elif frame:
            budget.take(place, len(frame))
            yield from _images(place, frame, depth + 1, budget) if frame.startswith(_AR) else _embedded(place, frame)
        at = data.find(_ZSTD, at + 1)


def _is_zebin(data: bytes, at: int) -> bool:
    return data.startswith(_ELF, at) and data[at + 18 : at + 20] == _INTEL_GPU.to_bytes(2, "little")


def _zebin_bytes(data: bytes, at: int) -> int:
    """Return the size of a binary that begins at `at`; 0 if it is none, or its sections do not fit."""
    if not _is_zebin(data, at) or len(data) < at + _HEADER_BYTES:
        return 0
    (sections,) = struct.unpack_from("<Q", data, at + 0x28)
    size, count = struct.unpack_from("<HH", data, at + 0x3A)
    end = sections + size * count
    if size != _SECTION_BYTES or not count or at + end > len(data):
        return 0
    for number in range(count):
        _, kind, _, _, offset, nbytes, *_ = struct.unpack_from("<IIQQQQIIQQ", data, at + sections + size * number)
        if kind != _NO_BITS:
            end = max(end, offset + nbytes)
        elif nbytes > _MOST_ZEROS:
            return 0
    return end if at + end <= len(data) else 0


def _spirv_bytes(data: bytes, at: int) -> int:
    """Return the size of a module that begins at `at`; 0 if it is none with kernels.

    A module does not say its size: it ends at the first word that cannot be an instruction.
    Source: SPIR-V specification, "Physical layout".
    """
    if len(data) < at + _SPIRV_HEADER_BYTES:
        return 0
    _, version, _, bound, schema = struct.unpack_from("<5I", data, at)
    if version & 0xFF0000FF or version >> 16 != 1 or not bound or schema:
        return 0
    found = list(_instructions(data, at))
    return found[-1][1] - at if _ENTRY_POINT in (opcode for opcode, _ in found) else 0


def entry_points(module: bytes) -> tuple[str, ...]:
    """Return the names of the kernels of a SPIR-V module.

    Source: SPIR-V specification, OpEntryPoint: execution model, function, name.
    """
    found, begin = list[str](), _SPIRV_HEADER_BYTES
    for opcode, end in _instructions(module, 0):
        if opcode == _ENTRY_POINT and end - begin > _NAME_AT:
            found.append(module[begin + _NAME_AT : end].partition(b"\0")[0].decode(errors="replace"))
        begin = end
    return tuple(found)


def _instructions(data: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Yield opcode and end of the instructions of a module that begins at `at`."""
    place = at + _SPIRV_HEADER_BYTES
    while place + 4 <= len(data):
        opcode, words = struct.unpack_from("<HH", data, place)
        if not opcode or not words or place + 4 * words > len(data):
            return
        place += 4 * words
        yield opcode, place


def _is_whole_module(data: bytes) -> bool:
    """Return whether a file is a SPIR-V module with all of its functions."""
    found = list(_instructions(data, 0))
    opcodes = [opcode for opcode, _ in found]
    is_closed = opcodes.count(_FUNCTION) == opcodes.count(_FUNCTION_END)
    return is_closed and opcodes[-1] == _FUNCTION_END and found[-1][1] == len(data)
