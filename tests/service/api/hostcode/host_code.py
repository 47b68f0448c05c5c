"""Kernels as rows that were never stored, their files in a folder, and programs that run there."""

import json
import os
import re
import subprocess
import sys
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from uuid import UUID

from codegen import AnyArtifact, GemmProblem, KernelConfig
from codegen.backend import (
    backend_of,
    compile_kernel,
)
from db.schema.kernel import Artifact, Kernel
from db.schema.target import Device, Problem
from hal import DeviceSpec
from hal.driver.installed import Driver
from hal.driver.simulated_gpus import SimulatedGpu
from service.api.hostcode.languages import Language
from service.api.hostcode.program import program_of
from service.api.hostcode.rendering import render
from service.gemm_json import config_to_json, problem_to_json

KERNEL_ID = UUID("01970a3c-0000-7000-8000-000000000007")


def sycl_flags() -> tuple[str | Path, ...]:
    """Flags that find SYCL's headers and library."""
    headers, library = of_sycl("include/sycl/sycl.hpp").parents[1], of_sycl("/libsycl.so")
    return "-DSYCL_DISABLE_FSYCL_SYCLHPP_WARNING", "-isystem", headers, library


def of_sycl(name: str) -> Path:
    """A file of the wheel that brings SYCL's headers and library."""
    found = next(file for file in metadata.files("intel-sycl-rt") or () if str(file).endswith(name))
    return Path(str(found.locate())).resolve()


def kernel_row(artifact: AnyArtifact, spec: DeviceSpec) -> Kernel:
    """The row of a kernel that was compiled for a device."""
    return Kernel(
        id=KERNEL_ID,
        problem=Problem(definition=problem_to_json(artifact.problem)),
        device=Device(slug=spec.id, kind=spec.kind.value, emulates=spec.emulates),
        config=config_to_json(artifact.config),
        manifest=json.loads(json.dumps(backend_of(artifact.config).manifest(artifact))),
        content_hash=artifact.content_hash,
        artifacts=[Artifact(name=s.file_name, sha256=sha256(s.data).hexdigest()) for s in artifact.stages],
    )


def compiled(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec, folder: Path) -> Kernel:
    """Compile a kernel, write its files, and give its row."""
    artifact = compile_kernel(problem, config, spec)
    for stage in artifact.stages:
        (folder / stage.file_name).write_bytes(stage.data)
    return kernel_row(artifact, spec)


def write_program(kernel: Kernel, language: Language, folder: Path) -> Path:
    """Write the program of a kernel beside its files."""
    path = folder / language.file_name
    path.write_text(render(program_of(kernel), language))
    return path


def build(program: Path, *flags: str | Path, output: str = "run") -> Path:
    """Compile a program in C++, with warnings as errors, and give the executable."""
    common = ("-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", program.name, *map(str, flags), "-o", output)
    done = subprocess.run(["g++", *common], cwd=program.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program.parent / output


def run_as_told(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Build and run a program with the commands at its head, in the environment that a user has; other arguments
    replace those of the last.
    """
    *before, last = told(program)
    if arguments:
        last = " ".join((*last.partition(program.name if program.suffix == ".py" else "./run")[:2], *arguments))
    return run_in_shell("\n".join(("set -e", *before, last)), program.parent)


def told(program: Path) -> list[str]:
    """Commands at the head of a program, those with g++ of a program in C++."""
    head = program.read_text().partition("\n\nimport" if program.suffix == ".py" else "\n\n#include")[0]
    lines = [line.removeprefix("// ") for line in head.splitlines()]
    found = [line for line in lines if re.match(r"python |env=|g\+\+ |OCL_ICD_|\./run", line)]
    return " && ".join(found).removesuffix(" [M N K]").split(" && ")


def run_in_shell(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run commands in a folder, with this Python as `python` and without settings of drivers and libraries."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OCL_ICD_", "LD_"))}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    return subprocess.run(
        ["bash", "-c", text], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def run_under_driver(
    driver: Driver, gpu: SimulatedGpu, program: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a program in Python, or an executable, under Intel's driver, which simulates a GPU."""
    started = driver.interpreter(gpu)
    loader, option, libraries, python = started.command
    command = [loader, option, f"{libraries}:{of_sycl('/libsycl.so').parent}"]
    command += [python, "-W", "ignore"] if program.suffix == ".py" else []
    environment = {**os.environ, **started.variables, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
    return subprocess.run(
        [*command, str(program), *arguments],
        cwd=program.parent,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
