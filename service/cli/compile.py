"""xetune compile: a GEMM or the kernels of a file, every stage written to a folder."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from codegen import Distributor, DType, GemmArtifact, InvalidConfig, InvalidProblem, KernelArtifact, KernelConfig
from codegen.manifest import manifest, module_manifest
from codegen.pool import CompilePool
from hal import DeviceSpec, resolve_device
from service.cli.modules import Way, described, read_source
from service.cli.output import CONSOLE, print_json
from service.cli.problem import (
    AsJson,
    DeviceName,
    InputType,
    LeadingA,
    LeadingB,
    LeadingC,
    OptionalK,
    OptionalM,
    OptionalN,
    OutputType,
    TargetName,
    plain_gemm,
)
from service.convert import config_from_json
from service.files import write_atomically
from tuner.heuristic import default_config
from tuner.trial import Proof, ProofKind
from tuner.verify import verify_by_simulation

_TIMEOUT_S = 60.0


def compile_command(
    folder: Annotated[Path, typer.Option("-o", "--output", help="Folder to write to; made if missing.")],
    file: Annotated[
        Path | None,
        typer.Argument(help="Module to compile, XeTile or XeGPU, in place of a GEMM.", exists=True, dir_okay=False),
    ] = None,
    m: OptionalM = None,
    n: OptionalN = None,
    k: OptionalK = None,
    dtype: InputType = DType.F16,
    out_dtype: OutputType = DType.F32,
    lda: LeadingA = None,
    ldb: LeadingB = None,
    ldc: LeadingC = None,
    device: DeviceName = "b580",
    target: TargetName = None,
    config: Annotated[
        Path | None, typer.Option(help="Configuration as JSON (default: the heuristic's).", exists=True, dir_okay=False)
    ] = None,
    distribution: Way = None,
    prove: Annotated[bool, typer.Option(help="Execute the kernel in the simulator and compare its numbers.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compile a GEMM (--m, --n, --k) or the kernels of an .mlir file, and write every stage and kernel.json."""
    spec = resolve_device(device, target).spec
    if file is not None:
        if (m, n, k, config) != (None, None, None, None) or prove:
            raise InvalidProblem("FILE", "expected either a file, or --m, --n and --k; `xetune run` executes a file")
        _compile_file(file, spec, folder, distribution, as_json=as_json)
        return
    if distribution is not None:
        raise InvalidProblem("--distribution", "expected a file with it; MLIR distributes the work of a GEMM")
    if m is None or n is None or k is None:
        raise InvalidProblem("--m, --n, --k", "expected all three, or a file to compile")
    problem = plain_gemm(m, n, k, dtype, out_dtype, lda, ldb, ldc)
    chosen = default_config(problem, spec) if config is None else _read_config(config)
    with CompilePool(workers=1, timeout_s=_TIMEOUT_S, cache=None) as pool:
        artifact = pool.compile(problem, chosen, spec).result()
    proof = verify_by_simulation(artifact, seed=0) if prove else Proof(ProofKind.NONE)
    document = manifest(artifact) | {"proof": _proof_json(proof)}
    _write(artifact, document, folder)
    if as_json:
        print_json(document)
    else:
        _print_summary(artifact, proof, folder)


def _compile_file(
    file: Path, spec: DeviceSpec, folder: Path, distribution: Distributor | None, *, as_json: bool
) -> None:
    with CompilePool(workers=1, timeout_s=_TIMEOUT_S, cache=None) as pool:
        artifact = pool.compile_module(read_source(file), spec, str(file), distribution=distribution).result()
    document = module_manifest(artifact)
    _write(artifact, document, folder)
    if as_json:
        print_json(document)
        return
    names = ", ".join(kernel.name for kernel in artifact.kernels)
    CONSOLE.print(_stage_table(artifact, f"{names} for {artifact.target}", folder))
    CONSOLE.print(f"distribution   {described(artifact.distribution)}")
    CONSOLE.print("numbers        not proven (`xetune run` executes a kernel in the simulator)")


def _write(artifact: KernelArtifact, document: Mapping[str, object], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for stage in artifact.stages:
        write_atomically(folder / stage.file_name, stage.data)
    write_atomically(folder / "kernel.json", (json.dumps(document, indent=2) + "\n").encode())


def _read_config(path: Path) -> KernelConfig:
    """The configuration that a file holds as JSON.

    Raises:
        InvalidConfig: names the file, and the field at fault.
    """
    try:
        document = json.loads(path.read_text())
    except ValueError as error:  # no JSON, no text, or a number that is too long
        raise InvalidConfig(f"--config {path}", f"expected a configuration as JSON: {error}") from error
    try:
        return config_from_json(document)
    except InvalidConfig as error:
        raise InvalidConfig(f"--config {path}", str(error) if error.field else error.message) from error


def _proof_json(proof: Proof) -> dict[str, object]:
    return {
        "kind": proof.kind.value,
        "checked_workgroups": proof.checked,
        "total_workgroups": proof.total,
        "max_error": proof.max_error,
        "tolerance": proof.tolerance,
    }


def _print_summary(artifact: GemmArtifact, proof: Proof, folder: Path) -> None:
    launch = artifact.launch
    CONSOLE.print(_stage_table(artifact, f"{artifact.problem} for {artifact.target}", folder))
    CONSOLE.print(f"configuration  {artifact.config}")
    CONSOLE.print(
        f"launch         global {launch.global_size}, local {launch.local_size}, sub-groups of {launch.subgroup_size}"
    )
    if proof.kind is ProofKind.NONE:
        CONSOLE.print("numbers        not proven (--prove executes the kernel in the simulator)")
    else:
        CONSOLE.print(
            f"numbers        {proof.kind.value}: {proof.checked} of {proof.total} work-groups, "
            f"largest error {proof.max_error:.3g} within {proof.tolerance:.3g}"
        )


def _stage_table(artifact: KernelArtifact, title: str, folder: Path) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("stage")
    table.add_column("file")
    table.add_column("bytes", justify="right")
    table.add_column("time", justify="right")
    for stage in artifact.stages:
        table.add_row(stage.name, str(folder / stage.file_name), f"{len(stage.data):,}", f"{stage.elapsed_ms:.1f} ms")
    return table
