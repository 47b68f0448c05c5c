"""Work of the sandboxed child: reports on the kernels of a file, of a module, or of a GEMM, as JSON."""

import os
from dataclasses import dataclass, replace

from codegen import CodegenError, GemmArtifact, GemmProblem, KernelConfig
from codegen.serialization import Json, to_json
from codegen.target import target_of
from codegen.xe.isa import Ocloc, report_json
from codegen.xe.xray import (
    Found,
    KernelXray,
    Recognised,
    Wanted,
    XrayRefused,
    kernels_in,
    search,
    xray_kernels,
)
from hal import DeviceSpec

SIZE = 4096
"""M, N and K of the comparison where none are given: kernels of others take them as arguments."""

_SHOWN_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class FileWork:
    """A file of others: its name, and its open descriptor in the child."""

    name: str
    file: int
    wanted: Wanted
    ocloc: Ocloc


@dataclass(frozen=True, slots=True)
class ModuleWork:
    """A SPIR-V module, compiled for a device with a driver's build options."""

    spirv: bytes
    options: str
    spec: DeviceSpec
    ocloc: Ocloc


@dataclass(frozen=True, slots=True)
class GemmWork:
    """Our GEMM in a configuration."""

    problem: GemmProblem
    config: KernelConfig
    spec: DeviceSpec
    ocloc: Ocloc


XrayWork = FileWork | ModuleWork | GemmWork


def run(asked: XrayWork) -> dict[str, Json]:
    """Report on kernels; return them as `found`, or the error as `refused` (of the file) or `failed`."""
    asked = replace(asked, ocloc=replace(asked.ocloc, timeout_s=float(1 << 20)))  # the process has limits of its own
    try:
        match asked:
            case FileWork():
                with os.fdopen(asked.file, "rb") as file:
                    return {"found": _found(search(asked.ocloc, asked.name, file.read(), asked.wanted))}
            case ModuleWork():
                return {"found": _found(_module(asked.ocloc, asked.spirv, asked.spec, asked.options))}
            case GemmWork():
                return {"found": _found(_gemm(asked))}
    except XrayRefused as refused:
        return {"refused": str(refused)[:_SHOWN_CHARACTERS]}
    except CodegenError as error:
        return {"failed": str(error)[:_SHOWN_CHARACTERS]}


def _module(ocloc: Ocloc, spirv: bytes, spec: DeviceSpec, options: str) -> Found:
    binary = ocloc.compile(spirv, target_of(spec).chip, options)
    return Found([("", kernel) for kernel in xray_kernels(ocloc, binary, spec, kernels_in(binary))])


def _gemm(asked: GemmWork) -> Found:
    from codegen.backend import compile_kernel

    artifact = compile_kernel(asked.problem, asked.config, asked.spec)
    assert isinstance(artifact, GemmArtifact)  # the device is a GPU
    return _module(asked.ocloc, artifact.stage("spirv").data, asked.spec, artifact.launch.build_options)


def _found(found: Found) -> Json:
    return {
        "kernels": [_kernel(where, kernel) for where, kernel in found.kernels],
        "more": found.more,
        "other_binaries": found.others,
        "modules": found.modules,
        "compressed": found.compressed,
        "failures": [failure[:_SHOWN_CHARACTERS] for failure in found.failures],
    }


def _kernel(where: str, x: KernelXray) -> Json:
    return {
        "where": where,
        "name": x.name,
        "chip": x.chip,
        "device": x.device,
        "subgroup_size": x.simd_size,
        "barriers": x.barriers,
        "isa": report_json(x.isa),
        "problem": None if x.problem is None else _problem(x.problem),
    }


def _problem(problem: Recognised) -> Json:
    gemm = problem.problem(*[SIZE] * 3)
    said = to_json(problem)
    assert isinstance(said, dict)
    return said | {"gemm": None if gemm is None else to_json(gemm)}
