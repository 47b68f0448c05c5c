"""xetune compile: one kernel, every stage written to a folder."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from codegen import DType, GemmArtifact, InvalidConfig, KernelConfig
from codegen.manifest import manifest
from codegen.pool import CompilePool
from hal import resolve_device
from service.cli.output import CONSOLE, print_json
from service.cli.problem import (
    AsJson,
    DeviceName,
    InputType,
    K,
    LeadingA,
    LeadingB,
    LeadingC,
    M,
    N,
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
    m: M,
    n: N,
    k: K,
    folder: Annotated[Path, typer.Option("-o", "--output", help="Folder to write to; made if missing.")],
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
    prove: Annotated[bool, typer.Option(help="Execute the kernel in the simulator and compare its numbers.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compile a GEMM kernel and write every stage: xetile.mlir, xegpu.mlir, llvm.ll, kernel.spv, kernel.json."""
    problem = plain_gemm(m, n, k, dtype, out_dtype, lda, ldb, ldc)
    spec = resolve_device(device, target).spec
    chosen = default_config(problem, spec) if config is None else _read_config(config)
    with CompilePool(workers=1, timeout_s=_TIMEOUT_S, cache=None) as pool:
        artifact = pool.compile(problem, chosen, spec).result()
    proof = verify_by_simulation(artifact, seed=0) if prove else Proof(ProofKind.NONE)
    document = manifest(artifact) | {"proof": _proof_json(proof)}
    folder.mkdir(parents=True, exist_ok=True)
    for stage in artifact.stages:
        write_atomically(folder / stage.file_name, stage.data)
    write_atomically(folder / "kernel.json", (json.dumps(document, indent=2) + "\n").encode())
    if as_json:
        print_json(document)
    else:
        _print_summary(artifact, proof, folder)


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
    table = Table(title=f"{artifact.problem} for {artifact.target}", title_justify="left")
    table.add_column("stage")
    table.add_column("file")
    table.add_column("bytes", justify="right")
    table.add_column("time", justify="right")
    for stage in artifact.stages:
        table.add_row(stage.name, str(folder / stage.file_name), f"{len(stage.data):,}", f"{stage.elapsed_ms:.1f} ms")
    launch = artifact.launch
    CONSOLE.print(table)
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
