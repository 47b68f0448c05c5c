"""Kernels as rows that were never stored, their files in a folder, and programs that run there."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from uuid import UUID

from codegen import AnyArtifact, GemmProblem, KernelConfig
from codegen.backend import (
    backend_of,
    compile_kernel,
)
from db.schema import (
    Artifact,
    Device,
    Kernel,
    Problem,
)
from hal import DeviceSpec
from hal.driver.installed import Driver
from hal.driver.simulated_gpus import SimulatedGpu
from hal.probe.icd import wheel_runtime
from service.api.hostcode.languages import Language
from service.api.hostcode.program import program_of
from service.api.hostcode.rendering import render
from service.row_mapping import (
    config_to_json,
    problem_to_json,
)

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


def run_python(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program in Python where its files are."""
    return _run([sys.executable, "-W", "ignore", program.name, *arguments], program.parent)


def build(program: Path, *flags: str | Path, output: str = "run") -> Path:
    """Compile a program in C++, with warnings as errors, and give the executable."""
    common = ("-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", program.name, *map(str, flags), "-o", output)
    done = subprocess.run(["g++", *common], cwd=program.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program.parent / output


def run_program(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run an executable where its files are."""
    return _run([str(program), *arguments], program.parent)


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    vendors = folder / "vendors"
    vendors.mkdir(exist_ok=True)
    (vendors / "cpu.icd").write_text(f"{wheel_runtime()}\n")
    libraries = {"LD_LIBRARY_PATH": str(of_sycl("/libsycl.so").parent), "OCL_ICD_VENDORS": str(vendors)}
    return subprocess.run(
        command, cwd=folder, env=os.environ | libraries, capture_output=True, text=True, timeout=300, check=False
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
