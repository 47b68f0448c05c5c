"""Kits: runners-up compiled where the compiler is, packed with the sources that verify and measure them."""

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import codegen
import hal
import tuner
from codegen import CompileFailed, GemmArtifact, GemmProblem, Refused, XeConfig
from codegen.artifact.manifest import manifest
from hal import DeviceSpec
from tuner.exchange.jsonl import Exchange, write_lines
from tuner.exchange.kernel_record import KernelRecord
from tuner.exchange.records import CandidateRecord, DeviceRecord, ProblemRecord, Record
from tuner.kit.contents import CONTENTS
from tuner.measure.isa_check import Compilation
from tuner.measure.measure import Compiler
from tuner.space.xe.heuristic import default_config

_ENTRY = "__main__.py"
_PACKAGES = (hal, codegen, tuner)
_EPOCH = (1980, 1, 1, 0, 0, 0)  # equal contents make equal files


@dataclass(frozen=True, slots=True)
class Kit:
    """A kit as bytes. `left_out` has the reason of each configuration that does not compile for the device."""

    data: bytes
    device: str
    problems: int
    kernels: int
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Problem:
    """A problem with its candidates in order, and their compilations after the default's."""

    problem: GemmProblem
    default: XeConfig
    candidates: tuple[CandidateRecord, ...]
    begun: tuple[Compilation, ...]


def build_kit(exchange: Exchange, pool: Compiler, stand_in: DeviceSpec | None = None) -> Kit:
    """Compile the runners-up of a device, and the default of each problem, and pack them.

    Kernels are those of the device of the file, or of a CPU OpenCL device that is the `stand_in` of that GPU.

    Raises:
        ValueError: there are no candidates, or they are of several devices.
        Refused, CompileFailed: nothing compiles; the first reason.
    """
    if not exchange.candidates:
        raise ValueError("expected predicted configurations, got none")
    device = stand_in or _device(exchange)
    refusals: list[Refused | CompileFailed] = []
    made: list[tuple[_Problem, list[KernelRecord]]] = []
    for each in [_begin(pool, problem, candidates, device) for problem, candidates in _by_problem(exchange, device)]:
        kernels = list(_kernels(each.begun, refusals))
        if kernels and kernels[0].config == each.default:
            made.append((each, kernels))
    if not made:
        raise refusals[0]
    lines = write_lines([exchange.header, DeviceRecord(device), *_records(made)])
    return Kit(
        data=_packed("".join(lines).encode()),
        device=device.id,
        problems=len(made),
        kernels=sum(len(kernels) for _, kernels in made),
        left_out=tuple(map(str, refusals)),
    )


def _device(exchange: Exchange) -> DeviceSpec:
    found = {line.record.device: line.record.driver for line in exchange.candidates.values()}
    if len(found) != 1:
        names = " and ".join(found)
        raise ValueError(f"expected predicted configurations of one device, got those of {names}: name one")
    (place,) = found.items()
    return exchange.devices[place].record


def _by_problem(exchange: Exchange, device: DeviceSpec) -> Iterator[tuple[GemmProblem, tuple[CandidateRecord, ...]]]:
    grouped: dict[str, dict[XeConfig, CandidateRecord]] = {}
    for line in exchange.candidates.values():
        record = replace(line.record, device=device.id, driver=device.driver or "")
        grouped.setdefault(record.problem, {}).setdefault(record.config, record)
    for problem, candidates in grouped.items():
        yield exchange.problems[problem].record, tuple(candidates.values())


def _begin(
    pool: Compiler, problem: GemmProblem, candidates: tuple[CandidateRecord, ...], device: DeviceSpec
) -> _Problem:
    default = default_config(problem, device)
    configs = dict.fromkeys([default, *(candidate.config for candidate in candidates)])
    begun = tuple(pool.compile(problem, config, device) for config in configs)
    return _Problem(problem, default, candidates, begun)


def _kernels(compilations: Iterable[Compilation], refusals: list[Refused | CompileFailed]) -> Iterator[KernelRecord]:
    """Yield the kernels that compile; add the reason of each other one to `refusals`."""
    for compilation in compilations:
        try:
            artifact = compilation.result()
        except (Refused, CompileFailed) as refusal:
            refusals.append(refusal)
            continue
        assert isinstance(artifact, GemmArtifact)  # runners-up are a GPU's
        yield record_of(artifact)


def record_of(artifact: GemmArtifact) -> KernelRecord:
    """Return the record of a kernel; of one that is emulated also the SPIR-V that runs in place of the GPU's."""
    spirv, runs = artifact.stage("spirv").data, artifact.launch.binary
    return KernelRecord(
        compile_key=artifact.key,
        content_hash=artifact.content_hash,
        target=artifact.target,
        problem=artifact.problem.key,
        config=artifact.config,
        manifest=manifest(artifact),
        toolchain=dict(artifact.toolchain),
        spirv=base64.b64encode(spirv).decode(),
        emulated=None if runs == spirv else base64.b64encode(runs).decode(),
        emulated_hash=None if runs == spirv else hashlib.sha256(runs).hexdigest(),
    )


def _records(made: list[tuple[_Problem, list[KernelRecord]]]) -> Iterator[Record]:
    """Yield each problem, its kernels, the default's first, and its candidates."""
    for each, kernels in made:
        yield ProblemRecord(each.problem.key, each.problem)
        yield from kernels
        compiled = {kernel.config for kernel in kernels}
        yield from (candidate for candidate in each.candidates if candidate.config in compiled)


def _packed(lines: bytes) -> bytes:
    """Return the zip archive of the sources, their entry, and the lines."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in _files(lines):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), data, zipfile.ZIP_DEFLATED, 9)
    return stream.getvalue()


def _files(lines: bytes) -> Iterator[tuple[str, bytes]]:
    yield _ENTRY, Path(__file__).with_name("start.py").read_bytes()
    yield CONTENTS, lines
    for package in _PACKAGES:
        folder = Path(str(package.__file__)).parent
        for file in sorted(folder.rglob("*.py")):
            yield str(file.relative_to(folder.parent)), file.read_bytes()
