"""Reader of Intel's GPU binaries: ELF with a section of instructions for each kernel and a description in YAML.

Source: Intel compute-runtime, level_zero/doc and shared/source/device_binary_format/zebin ("zebin" and ".ze_info").
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from codegen.xe.machine.refusal import MachineCodeRefused

_MAGIC = b"\x7fELF\x02\x01"  # 64-bit, little-endian
_TEXT, _RELOCATIONS, _ZE_INFO = ".text.", ".rel.text.", ".ze_info"
_ALLOCATED_ZEROS = 8  # SHT_NOBITS: memory without contents in the file. Source: System V ABI, "Sections"


@dataclass(frozen=True, slots=True)
class Argument:
    """A value that the driver puts into a payload: `nbytes` at `offset` of it.

    `kind` is the `arg_type` of .ze_info: arg_bypointer, arg_byvalue, local_id, buffer_offset and so on. `index` is
    that of the kernel's argument, None for values that are no argument. `address_mode` (stateless, bindless, slm, ...)
    and `address_space` (global, local, ...) describe pointers. `source_offset` is the place in an argument that is
    passed in parts.
    """

    kind: str
    offset: int
    nbytes: int
    index: int | None = None
    address_mode: str | None = None
    address_space: str | None = None
    source_offset: int = 0


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """One kernel of a binary: its instructions as bytes, and its entry in .ze_info.

    `cross_thread` is one payload for all threads of a launch, `per_thread` another for each thread of a work-group.
    The first `inline_bytes` of `cross_thread` come in registers with the thread; 0 if the kernel loads all of it.
    `scratch_bytes` is memory of a thread for spilled registers and all else.
    `threads_per_eu` and `local_size` are None where .ze_info does not say them. `patched` are the symbols whose
    values the loader writes into the instructions.
    """

    name: str
    text: bytes
    grf_count: int
    simd_size: int
    cross_thread: tuple[Argument, ...]
    per_thread: tuple[Argument, ...]
    inline_bytes: int
    slm_bytes: int
    barriers: int
    spill_bytes: int
    scratch_bytes: int
    threads_per_eu: int | None
    local_size: tuple[int, int, int] | None
    walk_order: tuple[int, ...] | None
    patched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Section:
    """A section: its contents, or zeros in its place, and the section that it refers to."""

    name: str
    content: bytes
    link: int


@dataclass(frozen=True, slots=True)
class Zebin:
    """A binary: its kernels in order, all sections by name, and the version of .ze_info."""

    version: str
    kernels: tuple[KernelInfo, ...]
    sections: Mapping[str, bytes]

    def kernel(self, name: str) -> KernelInfo:
        """Return a kernel by name.

        Raises:
            MachineCodeRefused: there is none of this name.
        """
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        raise MachineCodeRefused(name, f"expected a kernel of {', '.join(k.name for k in self.kernels)}")


def read_zebin(elf: bytes) -> Zebin:
    """Read a binary of one device.

    Raises:
        MachineCodeRefused: no ELF file, one that is cut short, or a description that is not as expected.
    """
    import yaml  # measuring imports this room, and needs no YAML

    try:
        found = tuple(_sections(elf))
        patches = dict(_patches(found))
    except (struct.error, IndexError) as error:
        raise MachineCodeRefused("ELF", f"the file is cut short: {error}") from error
    sections = {section.name: section.content for section in found}
    if _ZE_INFO not in sections:
        raise MachineCodeRefused("ELF", f"expected a section {_ZE_INFO}, got {', '.join(filter(None, sections))}")
    try:
        document = cast("dict[str, object]", yaml.safe_load(sections[_ZE_INFO]))
        kernels = cast("list[dict[str, object]]", document["kernels"])
        return Zebin(str(document["version"]), tuple(_kernel(entry, sections, patches) for entry in kernels), sections)
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise MachineCodeRefused(_ZE_INFO, f"expected kernels with execution_env: {error!r}") from error


def sections_of(elf: bytes) -> dict[str, bytes]:
    """Return the sections of a binary by name.

    Raises:
        MachineCodeRefused: no ELF file, or one that is cut short.
    """
    try:
        return {section.name: section.content for section in _sections(elf)}
    except (struct.error, IndexError) as error:
        raise MachineCodeRefused("ELF", f"the file is cut short: {error}") from error


def _sections(elf: bytes) -> Iterator[_Section]:
    if not elf.startswith(_MAGIC):
        raise MachineCodeRefused("ELF", f"expected a 64-bit ELF file, got {len(elf)} bytes that begin {elf[:6]!r}")
    (start,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, start + size * i) for i in range(count)]
    strings = elf[headers[names][4] : headers[names][4] + headers[names][5]]
    for name, kind, _, _, at, nbytes, link, *_ in headers:
        content = bytes(nbytes) if kind == _ALLOCATED_ZEROS else elf[at : at + nbytes]
        if len(content) < nbytes:
            raise struct.error(f"a section ends at {at + nbytes} of {len(elf)} bytes")
        yield _Section(_name_at(strings, name), content, link)


def _patches(sections: Sequence[_Section]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield kernels with the symbols of their relocations."""
    for section in sections:
        if not section.name.startswith(_RELOCATIONS):
            continue
        symbols = sections[section.link]
        strings = sections[symbols.link].content
        found: list[str] = []
        for at in range(0, len(section.content), 16):
            _, _, symbol = struct.unpack_from("<QII", section.content, at)
            (name,) = struct.unpack_from("<I", symbols.content, 24 * symbol)
            found.append(_name_at(strings, name))
        yield section.name.removeprefix(_RELOCATIONS), tuple(found)


def _name_at(strings: bytes, at: int) -> str:
    return strings[at:].partition(b"\0")[0].decode(errors="replace")


def _kernel(
    entry: dict[str, object], sections: Mapping[str, bytes], patches: Mapping[str, tuple[str, ...]]
) -> KernelInfo:
    name = str(entry["name"])
    if _TEXT + name not in sections:
        raise MachineCodeRefused(name, f"expected its instructions in a section {_TEXT}{name}, got none")
    facts = cast("dict[str, int]", entry["execution_env"])
    memory = cast("list[dict[str, object]]", entry.get("per_thread_memory_buffers", []))
    size = cast("list[int] | None", facts.get("required_work_group_size"))
    user = cast("dict[str, list[int]]", entry.get("user_attributes", {}))
    order = user.get("intel_reqd_workgroup_walk_order")
    return KernelInfo(
        name=name,
        text=sections[_TEXT + name],
        grf_count=facts["grf_count"],
        simd_size=facts["simd_size"],
        cross_thread=_arguments(entry.get("payload_arguments")),
        per_thread=_arguments(entry.get("per_thread_payload_arguments")),
        inline_bytes=facts.get("inline_data_payload_size", 0),
        slm_bytes=facts.get("slm_size", 0),
        barriers=facts.get("barrier_count", 0),
        spill_bytes=facts.get("spill_size", 0),
        scratch_bytes=sum(int(str(b["size"])) for b in memory if b.get("type") == "scratch"),
        threads_per_eu=facts.get("eu_thread_count"),
        local_size=(size[0], size[1], size[2]) if size else None,
        walk_order=tuple(order) if order else None,
        patched=patches.get(name, ()),
    )


def _arguments(given: object) -> tuple[Argument, ...]:
    return tuple(_argument(entry) for entry in cast("list[dict[str, int | str]]", given or []))


def _argument(entry: dict[str, int | str]) -> Argument:
    mode, space, index = entry.get("addrmode"), entry.get("addrspace"), entry.get("arg_index")
    return Argument(
        kind=str(entry["arg_type"]),
        offset=int(entry["offset"]),
        nbytes=int(entry["size"]),
        index=None if index is None else int(index),
        address_mode=None if mode is None else str(mode),
        address_space=None if space is None else str(space),
        source_offset=int(entry.get("source_offset", 0)),
    )
