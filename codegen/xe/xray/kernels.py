"""Report on kernels that others compiled: their GPU, the ISA report, and the verdict on the scoreboard."""

import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from codegen.target import target_of
from codegen.xe.isa.ocloc import Disassembly, Ocloc
from codegen.xe.isa.report import IsaReport, reports_of
from codegen.xe.machine import parse_listing, read_zebin
from codegen.xe.machine.pipeline import rates_of
from codegen.xe.machine.pipes import RULES
from codegen.xe.machine.zebin import sections_of
from codegen.xe.xray.demangle import demangled
from codegen.xe.xray.gemms import Recognised, recognise
from codegen.xe.xray.short_names import with_short_names
from hal import DeviceSpec, find_by_ip_version

_TEXT, _COMPATIBLE, _PRODUCT = ".text.", ".note.intelgt.compat", 6
_NOT_KERNELS = frozenset({"Intel_Symbol_Table_Void_Program"})


@dataclass(frozen=True, slots=True)
class KernelXray:
    """One kernel for a chip, or for a device with that; `name` is its name in C++, `problem` what it computes."""

    chip: str
    device: str
    name: str
    problem: Recognised | None
    isa: IsaReport
    simd_size: int
    barriers: int


def kernels_in(zebin: bytes) -> dict[str, bytes]:
    """Return the instructions of the kernels of a binary by name, from its sections.

    Raises:
        MachineCodeRefused: no ELF file, or one that is cut short.
    """
    codes = {n.removeprefix(_TEXT): code for n, code in sections_of(zebin).items() if n.startswith(_TEXT)}
    return {name: code for name, code in codes.items() if name not in _NOT_KERNELS}


def chip_of(zebin: bytes) -> DeviceSpec | None:
    """Return a device of the chip that a binary is for; None if it does not say, or the chip is not known.

    Source: compute-runtime, zebin: notes "IntelGT", type 6 is the IP version.
    """
    note, at = sections_of(zebin).get(_COMPATIBLE, b""), 0
    while at + 12 <= len(note):
        name_bytes, nbytes, kind = struct.unpack_from("<III", note, at)
        at += 12 + (name_bytes + 3) // 4 * 4
        if kind == _PRODUCT and nbytes == 4 and at + 4 <= len(note):
            (bits,) = struct.unpack_from("<I", note, at)
            specs = find_by_ip_version(f"{bits >> 22}.{bits >> 14 & 0xFF}.{bits & 0x3F}")
            return next((spec for spec in specs if spec.target in RULES), None)
        at += (nbytes + 3) // 4 * 4
    return None


def xray_kernels(ocloc: Ocloc, zebin: bytes, spec: DeviceSpec, wanted: Collection[str]) -> Iterator[KernelXray]:
    """Yield a report on each of the wanted kernels of a binary for a device.

    Raises:
        CompileFailed, OclocUnusable: it cannot be disassembled.
        MachineCodeRefused: the binary is damaged.
        Refused: kernels are not compiled for that device.
    """
    target = target_of(spec)
    kernels = read_zebin(zebin)
    renamed, names = with_short_names(zebin)
    shown = ocloc.disassemble(renamed, target.chip)
    disassembly = Disassembly(shown.ze_info, {names.get(name, name): text for name, text in shown.assembly.items()})
    for report in reports_of(disassembly, rates_of(target.chip, target.grf_bytes), wanted):
        name, assembly = demangled(report.kernel), disassembly.assembly[report.kernel]
        listing = parse_listing(report.kernel, assembly) if report.unread is None else None
        kernel = kernels.kernel(report.kernel)
        problem = recognise(name, assembly, listing)
        yield KernelXray(target.chip, spec.id, name, problem, report, kernel.simd_size, kernel.barriers)
