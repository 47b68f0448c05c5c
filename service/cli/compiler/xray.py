"""xetune xray: kernels in files that others compiled, side by side with our own for the same problem."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column

from codegen import GemmArtifact, GemmProblem, InvalidProblem
from codegen.errors import CompileFailed
from codegen.target import LARGE_GRF_OPENCL, target_of
from codegen.workers.pool import CompilePool
from codegen.xe.isa import KLoop, Ocloc, report_json
from codegen.xe.xray import (
    CodeKind,
    DeviceImage,
    KernelXray,
    XrayRefused,
    chip_of,
    images_in,
    kernels_in,
    xray_kernels,
)
from hal import DeviceSpec
from service.api.kernels.lookup.schemas import LookupOut
from service.api.kernels.schemas import LookupBody, Tune
from service.api.toolchain.offline import need_ocloc
from service.cli.completing import devices
from service.cli.connection import connect, same
from service.cli.options.device_file import named_device
from service.cli.options.problem import AsJson, ProblemOptions, with_problem
from service.cli.printing.output import CONSOLE, print_json, print_wrapped, text_table
from service.configurations import ConfigBody
from service.row_mapping import config_from_json
from service.schemas import to_body
from service.settings import read_settings
from xetune_client import models

_TIMEOUT_S = 60.0
_NAME, _LONG = 92, 8  # characters of a name that are shown, and that all must share to be left out
_UNKNOWN = "-"


@dataclass(slots=True)
class _Found:
    """Kernels of a file with their places; `others` counts binaries for other GPUs, `more` kernels over the limit."""

    kernels: list[tuple[str, KernelXray]] = field(default_factory=list[tuple[str, KernelXray]])
    others: int = 0
    more: int = 0
    modules: int = 0
    failures: list[str] = field(default_factory=list[str])


@with_problem
def xray_command(
    problem: ProblemOptions,
    file: Annotated[
        Path,
        typer.Argument(help="A zebin, a library, an ar archive, a wheel, or a .spv.", exists=True, dir_okay=False),
    ],
    device: Annotated[
        str | None,
        typer.Option(
            help="GPU that `xetune devices` lists: only its code is shown, and SPIR-V is compiled for it.",
            autocompletion=devices,
        ),
    ] = None,
    kernel: Annotated[str, typer.Option(help="Pattern of kernel names, as in '*Gemm*'.", metavar="PATTERN")] = "*",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of kernels.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show the kernels of a file: registers, spills, the K loop, and hazards of the scoreboard.

    With a problem (--m, --n, --k) and --device, our best stored kernel, or the default, is shown beside them.
    """
    spec = None if device is None else named_device(device, None).spec
    if problem.given and spec is None:
        raise InvalidProblem("--device", "expected the GPU for which our kernel is compiled, got none")
    gemm = problem.read() if problem.given else None
    ocloc = need_ocloc(read_settings())
    found = _search(file, ocloc, spec, kernel, limit)
    ours = None if gemm is None or spec is None else _own(ocloc, gemm, spec)
    if as_json:
        print_json(_document(file, found, ours))
    else:
        _print(found, ours)


def _search(file: Path, ocloc: Ocloc, spec: DeviceSpec | None, pattern: str, limit: int) -> _Found:
    found, seen = _Found(), set[str]()
    modules: list[DeviceImage] = []
    for image in images_in(file):
        if image.kind is CodeKind.SPIRV:
            found.modules += 1
            modules += [image] if spec is not None else []
            continue
        chip = chip_of(image.data)
        if chip is None or (spec is not None and chip.target != spec.target):
            found.others += 1
        else:
            _add(found, seen, ocloc, image, chip, pattern, limit)
    if not found.kernels and spec is not None:
        for module in modules:
            try:
                binary = ocloc.compile(module.data, target_of(spec).chip, LARGE_GRF_OPENCL)
            except CompileFailed as error:
                found.failures.append(f"{module.where}: {error}")
                continue
            _add(found, seen, ocloc, DeviceImage(module.where, CodeKind.ZEBIN, binary), spec, pattern, limit)
    if not found.kernels:
        raise XrayRefused(str(file), _why_nothing(found, spec, pattern))
    return found


def _add(
    found: _Found, seen: set[str], ocloc: Ocloc, image: DeviceImage, chip: DeviceSpec, pattern: str, limit: int
) -> None:
    wanted: list[str] = []
    for name, code in kernels_in(image.data).items():
        key = f"{chip.target} {name} {sha256(code).hexdigest()}"
        if fnmatchcase(name, pattern) and key not in seen:
            seen.add(key)
            wanted.append(name)
    shown = wanted[: limit - len(found.kernels)]
    found.more += len(wanted) - len(shown)
    if shown:
        found.kernels += [(image.where, xray) for xray in xray_kernels(ocloc, image.data, chip, shown)]


def _why_nothing(found: _Found, spec: DeviceSpec | None, pattern: str) -> str:
    if found.failures:
        return f"no SPIR-V module of {found.modules} compiles; the first: {found.failures[0]}"
    if found.modules and spec is None:
        return f"{found.modules} SPIR-V modules and no code for a GPU: give --device to compile them"
    what = f"a kernel that is named like {pattern!r}" if pattern != "*" else "a kernel"
    return (
        f"expected {what}{'' if spec is None else f' for {spec.id}'}, got none, and {found.others} binaries for others"
    )


def _own(ocloc: Ocloc, gemm: GemmProblem, spec: DeviceSpec) -> tuple[str, KernelXray]:
    """Compile our best kernel for a problem, or the default, and return its source and its report."""
    with connect() as client:
        body = LookupBody(problem=to_body(gemm), device=spec.id, target=None, tune=Tune.NEVER)
        answer = same(LookupOut, client.lookup(same(models.LookupBody, body)))
    config = answer.config.model_dump(mode="json") if isinstance(answer.config, ConfigBody) else answer.config
    with CompilePool(workers=1, timeout_s=_TIMEOUT_S, cache=None) as pool:
        artifact = pool.compile(gemm, config_from_json(config), spec).result()
    assert isinstance(artifact, GemmArtifact)  # the device is a GPU
    binary = ocloc.compile(artifact.stage("spirv").data, target_of(spec).chip, artifact.launch.build_options)
    (report, *_) = xray_kernels(ocloc, binary, spec, kernels_in(binary))
    return f"ours for {gemm} ({answer.source})", report


_LOOP: Sequence[tuple[str, Callable[[KLoop], str]]] = (
    ("dpas", lambda k: f"{k.dpas}" + ("" if k.is_loop else " *")),
    ("messages per dpas", lambda k: f"{k.sends.total / k.dpas:.2f}"),
    ("ALU per dpas", lambda k: f"{k.alu / k.dpas:.2f}"),
    ("bytes per dpas", lambda k: f"{k.loaded_bytes_per_dpas:,.0f}"),
)


def _cells(x: KernelXray) -> Iterator[str]:
    yield x.chip
    yield f"{x.isa.grf_count}"
    yield f"{x.isa.spill_bytes:,}"
    yield f"{x.isa.slm_bytes:,}"
    yield f"{x.barriers}"
    yield f"{x.simd_size}"
    loop = x.isa.k_loop
    yield from (_UNKNOWN if loop is None else shown(loop) for _, shown in _LOOP)
    yield x.verdict


def _print(found: _Found, ours: tuple[str, KernelXray] | None) -> None:
    numbers = ("registers", "spilled bytes", "SLM bytes", "barriers", "lanes", *(name for name, _ in _LOOP))
    table = text_table(
        Column("kernel", overflow="fold"), "chip", *(Column(n, justify="right") for n in numbers), "scoreboard"
    )
    labels = _labels(found.kernels)
    for label, (_, x) in zip(labels, found.kernels, strict=True):
        table.add_row(label, *_cells(x))
    if ours is not None:
        table.add_section()
        table.add_row(ours[0], *_cells(ours[1]))
    CONSOLE.print(table)
    if any(x.isa.k_loop is not None and not x.isa.k_loop.is_loop for _, x in found.kernels):
        print_wrapped("* unrolled: from the first load of an operand to the last dpas")
    for label, (_, x) in zip(labels, found.kernels, strict=True):
        for line in (*map(str, x.hazards or ()), *((f"not read: {x.unread}",) if x.unread else ())):
            print_wrapped(f"{label}: {line}")
    for line in _notes(found):
        print_wrapped(line)


def _notes(found: _Found) -> Iterator[str]:
    if found.more:
        yield f"{found.more:,} more kernels are not shown: --limit, --kernel and --device choose"
    if found.others:
        yield f"{found.others:,} binaries are for other GPUs"
    yield from (f"not compiled: {failure}" for failure in found.failures)


def _labels(kernels: list[tuple[str, KernelXray]]) -> list[str]:
    """Return names without what all begin and end with, where that is long: mangled names differ in their middle."""
    names = [x.isa.kernel for _, x in kernels]
    if len(set(names)) < 2:
        return [_short(name) for name in names]
    first = _alike(names)
    last = _alike([name[first:][::-1] for name in names])
    head, tail = (first if first > _LONG else 0), (last if last > _LONG else 0)
    return [_short("..." * bool(head) + name[head : len(name) - tail] + "..." * bool(tail)) for name in names]


def _alike(names: list[str]) -> int:
    """Return with how many equal characters all begin."""
    return sum(1 for _ in takewhile(lambda characters: len(set(characters)) == 1, zip(*names, strict=False)))


def _short(name: str) -> str:
    half = (_NAME - 3) // 2
    return name if len(name) <= _NAME else f"{name[:half]}...{name[-half:]}"


def _document(file: Path, found: _Found, ours: tuple[str, KernelXray] | None) -> dict[str, object]:
    return {
        "file": str(file),
        "kernels": [{"where": where} | _kernel_json(x) for where, x in found.kernels],
        "ours": None if ours is None else {"where": ours[0]} | _kernel_json(ours[1]),
        "more": found.more,
        "other_binaries": found.others,
        "failures": found.failures,
    }


def _kernel_json(x: KernelXray) -> dict[str, object]:
    return {
        "chip": x.chip,
        "subgroup_size": x.simd_size,
        "barriers": x.barriers,
        "isa": report_json(x.isa),
        "scoreboard": {"verdict": x.verdict, "hazards": [str(h) for h in x.hazards or ()], "unread": x.unread},
    }
