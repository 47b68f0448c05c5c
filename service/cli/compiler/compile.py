"""xetune compile: a GEMM or the kernels of a file, every stage written to a folder."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column

from codegen import AnyArtifact, GemmArtifact, InvalidProblem, KernelConfig
from codegen.artifact.files import (
    is_plain_name,
    write_atomically,
)
from codegen.backend import backend_for
from codegen.workers.pool import CompilePool
from codegen.xe.isa import (
    NativeCode,
    Ocloc,
)
from hal import DeviceSpec, ListedDevice, open_device
from service.api.compile.schemas import CompileBody
from service.cli.compiler.compiled import Made, check_same, made_here
from service.cli.compiler.isa import Isa, isa_table, wanted_ocloc, with_code
from service.cli.compiler.launch import launch_lines
from service.cli.compiler.modules import read_source
from service.cli.compiler.remote_compile import remote_compile
from service.cli.options.configuration import ConfigFile, ConfigOptions, Settings
from service.cli.options.device_file import named_device, server_of
from service.cli.options.problem import AsJson, DeviceOrFile, ProblemOptions, TargetName, with_problem
from service.cli.printing.evidence import PROOFS
from service.cli.printing.output import CONSOLE, number_column, print_json, print_line, text_table
from service.configurations import ConfigBody
from service.row_mapping import config_to_json
from service.schemas import to_body
from tuner.session.trial import (
    Proof,
    ProofKind,
)
from tuner.verify.reference import Reference
from tuner.verify.verify import (
    verify_by_simulation,
    verify_on_device,
)

_TIMEOUT_S = _RUN_S = 60.0


@with_problem
def compile_command(
    problem: ProblemOptions,
    folder: Annotated[Path, typer.Option("-o", "--output", help="Folder to write to; created if missing.")],
    file: Annotated[
        Path | None,
        typer.Argument(help="Module to compile, XeTile or XeGPU, in place of a GEMM.", exists=True, dir_okay=False),
    ] = None,
    device: DeviceOrFile = "b580",
    target: TargetName = None,
    config: ConfigFile = None,
    settings: Settings = None,
    verify: Annotated[
        bool,
        typer.Option(help="Execute the kernel, in the simulator or on this CPU, and verify its results."),
    ] = False,
    isa: Isa = False,
    as_json: AsJson = False,
) -> None:
    """Compile a GEMM (--m, --n, --k) or the kernels of an .mlir file, and write every stage and kernel.json."""
    listed, url = named_device(device, target), server_of(device)
    spec = listed.spec
    if not backend_for(spec).compiles_modules and (file is not None or isa):
        given = "a file" if file is not None else "--isa"
        raise InvalidProblem("--device", f"expected a GPU with {given}, got {spec.id}; of a GEMM, kernel.o is its code")
    ocloc = wanted_ocloc(isa)
    if file is not None:
        own = [("config", config is not None), ("set", bool(settings)), ("verify", verify)]
        if flags := [*problem.given, *(name for name, given in own if given)]:
            got = ", ".join(f"--{name.replace('_', '-')}" for name in flags)
            raise InvalidProblem(
                "FILE", f"expected either a file, or --m, --n and --k, got both: {got}; `xetune run` executes a file"
            )
        _compile_file(file, spec, folder, url, ocloc, as_json=as_json)
        return
    gemm = problem.read()
    chosen = ConfigOptions(config, settings or []).read(gemm, spec)
    body = CompileBody(problem=to_body(gemm), config=ConfigBody.model_validate(config_to_json(chosen)), device=spec.id)
    there = None if url is None else remote_compile(url, body)
    made, proof, code = there, Proof(ProofKind.NONE), None
    if made is None or verify or ocloc is not None:
        with CompilePool(workers=1, timeout_s=_TIMEOUT_S, cache=None) as pool:
            artifact = pool.compile(gemm, chosen, spec).result()
        check_same(artifact, there)
        if isinstance(artifact, GemmArtifact):
            artifact, code = with_code(artifact, spec, ocloc)
        proof = _proof(artifact, listed, code) if verify else proof
        made = made_here(artifact)
    document = dict(made.document) | {"proof": _proof_json(proof)}
    _write(made, document, folder)
    if as_json:
        print_json(document | _isa_json(code))
        return
    _print_stages(made, f"{gemm} for {made.target}", folder)
    _print_summary(chosen, document, proof)
    _print_isa(code)


def _proof(artifact: AnyArtifact, listed: ListedDevice, code: NativeCode | None) -> Proof:
    """Verify a GPU's kernel by its machine code, if compiled, or in the simulator, and a CPU's kernel on this CPU.

    Raises:
        ProofFailed: the result is wrong.
        UnknownDevice: the CPU is not this one.
    """
    if isinstance(artifact, GemmArtifact):
        return verify_by_simulation(artifact, seed=0, compiled=None if code is None else code.compiled)
    device = open_device(listed)
    try:
        return verify_on_device(device, artifact, Reference(artifact.problem, seed=0), None, _RUN_S)[0]
    finally:
        device.close()


def _compile_file(
    file: Path,
    spec: DeviceSpec,
    folder: Path,
    url: str | None,
    ocloc: Ocloc | None,
    *,
    as_json: bool,
) -> None:
    source = read_source(file)
    body = CompileBody(source=source, device=spec.id)
    there = None if url is None else remote_compile(url, body, str(file))
    made, code = there, None
    if made is None or ocloc is not None:
        with CompilePool(workers=1, timeout_s=_TIMEOUT_S, cache=None) as pool:
            artifact = pool.compile_module(source, spec, str(file)).result()
        check_same(artifact, there)
        artifact, code = with_code(artifact, spec, ocloc)
        made = made_here(artifact)
    _write(made, made.document, folder)
    if as_json:
        print_json(dict(made.document) | _isa_json(code))
        return
    _print_stages(made, f"{', '.join(made.kernel_names)} for {made.target}", folder)
    CONSOLE.print("numbers        not verified (`xetune run` executes a kernel in the simulator)")
    _print_isa(code)


def _isa_json(code: NativeCode | None) -> dict[str, object]:
    return {} if code is None else {"isa": code.to_json()}


def _print_isa(code: NativeCode | None) -> None:
    if code is not None:
        CONSOLE.print(isa_table(code))


def _write(made: Made, document: Mapping[str, object], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in _files_of_an_earlier_kernel(folder) - {stage.file_name for stage in made.stages}:
        (folder / name).unlink(missing_ok=True)
    for stage in made.stages:
        write_atomically(folder / stage.file_name, stage.data)
    write_atomically(folder / "kernel.json", (json.dumps(document, indent=2) + "\n").encode())


def _files_of_an_earlier_kernel(folder: Path) -> set[str]:
    """Return the files that the kernel.json of a folder names, if there is one."""
    try:
        stages = json.loads((folder / "kernel.json").read_text())["stages"]
        return {name for stage in stages if is_plain_name(name := str(stage["file"]))}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _proof_json(proof: Proof) -> dict[str, object]:
    return {
        "kind": proof.kind.value,
        "checked_workgroups": proof.checked,
        "total_workgroups": proof.total,
        "max_error": proof.max_error,
        "tolerance": proof.tolerance,
    }


def _print_summary(config: KernelConfig, document: Mapping[str, object], proof: Proof) -> None:
    CONSOLE.print(f"configuration  {config}", highlight=False, soft_wrap=True)
    for line in launch_lines(document):
        CONSOLE.print(line, highlight=False, soft_wrap=True)
    if proof.kind is ProofKind.NONE:
        CONSOLE.print("numbers        not verified (--verify executes the kernel)")
    else:
        CONSOLE.print(
            f"numbers        {PROOFS[proof.kind]}: {proof.checked} of {proof.total} tiles of C, "
            f"largest error {proof.max_error:.3g} within {proof.tolerance:.3g}"
        )


def _print_stages(made: Made, title: str, folder: Path) -> None:
    table = text_table(
        Column("stage", no_wrap=True), "file", number_column("bytes"), number_column("time"), title=title
    )
    for stage in made.stages:
        table.add_row(stage.name, stage.file_name, f"{len(stage.data):,}", f"{stage.elapsed_ms:.1f} ms")
    CONSOLE.print(table)
    print_line(f"folder         {folder}")
