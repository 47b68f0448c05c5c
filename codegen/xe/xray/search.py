"""Search for kernels in a file: those that are wanted, each once, with a report."""

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import sha256

from codegen.errors import CompileFailed
from codegen.target import LARGE_GRF_OPENCL, target_of
from codegen.xe.isa import Ocloc
from codegen.xe.xray.images import CodeKind, DeviceImage, entry_points, images_in
from codegen.xe.xray.kernels import KernelXray, chip_of, kernels_in, xray_kernels
from codegen.xe.xray.refusal import XrayRefused
from hal import DeviceSpec


@dataclass(frozen=True, slots=True)
class Wanted:
    """Kernels to report on: of a device or of all, with names of a pattern as in `*Gemm*`, at most `limit`."""

    spec: DeviceSpec | None = None
    pattern: str = "*"
    limit: int = 20


@dataclass(slots=True)
class Found:
    """Kernels of a file with their places.

    `more` counts kernels over the limit, `others` binaries for other GPUs, `modules` SPIR-V modules, `compressed`
    places that may hold compressed code, which was not read, `seen` binaries for the GPU. `failures` are modules that
    do not compile, in words.
    """

    kernels: list[tuple[str, KernelXray]] = field(default_factory=list[tuple[str, KernelXray]])
    more: int = 0
    others: int = 0
    modules: int = 0
    compressed: int = 0
    seen: int = 0
    failures: list[str] = field(default_factory=list[str])


def search(ocloc: Ocloc, name: str, data: bytes, wanted: Wanted) -> Found:
    """Report on the kernels of a file. SPIR-V is compiled only if there is no binary for the device, and only
    modules with wanted kernels, up to the limit.

    Raises:
        XrayRefused: the file is damaged, or has no such kernel.
        CompileFailed, MachineCodeRefused, OclocUnusable: as xray_kernels.
    """
    found, seen = Found(), set[str]()
    modules: list[DeviceImage] = []
    for image in images_in(name, data):
        match image.kind:
            case CodeKind.COMPRESSED:
                found.compressed += 1
            case CodeKind.SPIRV:
                found.modules += 1
                modules += [image] if wanted.spec is not None else []
            case CodeKind.ZEBIN:
                chip = chip_of(image.data)
                if chip is None or (wanted.spec is not None and chip.target != wanted.spec.target):
                    found.others += 1
                else:
                    found.seen += 1
                    _add(found, seen, ocloc, image, chip, wanted)
    if not found.kernels and wanted.spec is not None:
        for module in modules:
            found.seen += 1
            names = [name for name in entry_points(module.data) if fnmatchcase(name, wanted.pattern)]
            if len(found.kernels) >= wanted.limit:
                found.more += len(names)
            elif names and (image := _compiled(found, ocloc, module, wanted.spec)) is not None:
                _add(found, seen, ocloc, image, wanted.spec, wanted)
    if not found.kernels:
        raise XrayRefused(name, _why_nothing(found, wanted))
    return found


def _compiled(found: Found, ocloc: Ocloc, module: DeviceImage, spec: DeviceSpec) -> DeviceImage | None:
    try:
        binary = ocloc.compile(module.data, target_of(spec).chip, LARGE_GRF_OPENCL)
    except CompileFailed as error:
        found.failures.append(f"{module.where}: {error}")
        return None
    return DeviceImage(module.where, CodeKind.ZEBIN, binary)


def _add(found: Found, seen: set[str], ocloc: Ocloc, image: DeviceImage, chip: DeviceSpec, wanted: Wanted) -> None:
    names: list[str] = []
    for name, code in kernels_in(image.data).items():
        key = f"{chip.target} {name} {sha256(code).hexdigest()}"
        if fnmatchcase(name, wanted.pattern) and key not in seen:
            seen.add(key)
            names.append(name)
    shown = names[: wanted.limit - len(found.kernels)]
    found.more += len(names) - len(shown)
    if shown:
        found.kernels += [(image.where, xray) for xray in xray_kernels(ocloc, image.data, chip, shown)]


def _why_nothing(found: Found, wanted: Wanted) -> str:
    if found.failures:
        return f"no SPIR-V module of {found.modules} compiles; the first: {found.failures[0]}"
    if found.modules and wanted.spec is None:
        return f"{_counted(found.modules, 'SPIR-V module')} and no code for a GPU: give --device to compile SPIR-V"
    if found.compressed and not found.others:
        places = _counted(found.compressed, "place")
        return f"{places} may hold compressed code (zstd): install xetune[xray] to read it"
    if wanted.pattern.count("[") != wanted.pattern.count("]") and found.seen:
        return f"expected a pattern of kernel names with as many ] as [, got {wanted.pattern!r}"
    if not (found.others or found.seen):
        return "expected code for Intel's GPUs, got a file without any: no binary, no SPIR-V module"
    what = f"a kernel that is named like {wanted.pattern!r}" if wanted.pattern != "*" else "a kernel"
    where = "" if wanted.spec is None else f" for {wanted.spec.id}"
    others = f"{_counted(found.others, 'binary', 'binaries')} for other GPUs" if found.others else "other kernels only"
    return f"expected {what}{where}, got {others}"


def _counted(count: int, noun: str, plural: str | None = None) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {plural or noun + 's'}"
