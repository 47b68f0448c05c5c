"""Files with device code: a binary from a recording, libraries, archives and wheels around it."""

import io
import struct
import zipfile
from collections.abc import Mapping

from tests.codegen.xe.isa.recordings import RECORDED
from tests.codegen.xe.machine.elf_file import elf_file

PVC_IP, BMG_IP = 12 << 22 | 60 << 14 | 7, 20 << 22 | 1 << 14
HOST_ELF = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack("<HH", 3, 62) + bytes(60)


def zebin(ip_version: int = PVC_IP, kernels: tuple[str, ...] = ("gemm",)) -> bytes:
    """A binary with the recorded .ze_info of `straight_pvc`; its instructions are zeros."""
    product = struct.pack("<III8sI", 8, 4, 6, b"IntelGT\0", ip_version)
    family = struct.pack("<III8sI", 8, 4, 2, b"IntelGT\0", 3080)
    texts = {f".text.{kernel}": bytes(16) for kernel in kernels}
    info = (RECORDED / "straight_pvc.ze_info").read_bytes()
    return elf_file({**texts, ".ze_info": info, ".note.intelgt.compat": family + product})


def library(*images: bytes) -> bytes:
    """A library of the host with device code as data, and bytes that only look like some."""
    false_header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack("<HH", 1, 205) + b"\xff" * 60
    return HOST_ELF + false_header + b"".join(b"__CLANG_OFFLOAD_BUNDLE__" + image + b"\x07" * 13 for image in images)


def ar(members: Mapping[str, bytes]) -> bytes:
    """An archive; a name longer than 15 characters is in the table of names."""
    table, body = b"", b""
    for name, content in members.items():
        field = name + "/"
        if len(field) > 16:
            field, table = f"/{len(table)}", table + name.encode() + b"/\n"
        body += _member(field, content)
    return b"!<arch>\n" + (_member("//", table) if table else b"") + body


def _member(name: str, content: bytes) -> bytes:
    header = f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n"
    return header.encode() + content + b"\n" * (len(content) % 2)


def wheel(members: Mapping[str, bytes]) -> bytes:
    """A zip archive, compressed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def kernel_module(*kernels: str) -> bytes:
    """A SPIR-V module with entry points of these names."""
    points = b""
    for number, name in enumerate(kernels):
        text = name.encode().ljust(len(name) // 4 * 4 + 4, b"\0")
        points += struct.pack("<HHII", 15, 3 + len(text) // 4, 6, number) + text
    return spirv(17) + points + spirv(54, 56)[20:]


def spirv(*opcodes: int) -> bytes:
    """A module of instructions without operands."""
    return struct.pack("<5I", 0x07230203, 0x00010200, 0, 100, 0) + b"".join(
        struct.pack("<HH", code, 1) for code in opcodes
    )
