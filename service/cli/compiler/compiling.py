"""Compilation of a GEMM or a file, its proof and its files."""

import json
from collections.abc import Mapping
from pathlib import Path

from rich.table import Column

from codegen import AnyArtifact, GemmArtifact, GemmProblem, KernelConfig
from codegen.artifact.files import is_plain_name, write_atomically
from codegen.workers import pool
from codegen.xe.isa import NativeCode, Ocloc, check_scoreboard
from hal import DeviceSpec, ListedDevice, open_device
from service.api.compile.schemas import CompileBody
from service.cli.compiler.compiled import Made, check_same, made_here
from service.cli.compiler.inspection.isa import hazard_lines, isa_table, wanted_ocloc, with_code
from service.cli.compiler.inspection.launch import launch_lines
from service.cli.compiler.modules import read_source
from service.cli.compiler.remote_compile import remote_compile
from service.cli.printing.evidence import PROOFS, not_executed
from service.cli.printing.output import CONSOLE, number_column, print_json, print_line, print_wrapped, text_table
from service.configurations import ConfigBody
from service.gemm_json import config_to_json
from service.schemas import to_body
from tuner.session.trial import Proof, ProofKind
from tuner.verify.reference import Reference
from tuner.verify.verify import verify_by_simulation, verify_on_device

_TIMEOUT_S = _RUN_S = 60.0


def proof_of(artifact: AnyArtifact, listed: ListedDevice, code: NativeCode | None) -> Proof:
    """Verify a GPU's kernel by its machine code, if compiled, or in the simulator, and a CPU's kernel on this CPU.

    Raises:
        ScoreboardHazards: the machine code accesses a register too early.
        ProofFailed: the result is wrong.
        UnknownDevice: the CPU is not this one.
    """
    if isinstance(artifact, GemmArtifact):
        if code is not None:
            check_scoreboard(code)
        return verify_by_simulation(artifact, seed=0, compiled=None if code is None else code.compiled)
    device = open_device(listed)
    try:
        return verify_on_device(device, artifact, Reference(artifact.problem, seed=0), None, _RUN_S)[0]
    finally:
        device.close()


def compile_configuration(
    problem: GemmProblem,
    config: KernelConfig,
    listed: ListedDevice,
    folder: Path,
    url: str | None,
    ocloc: Ocloc | None,
    *,
    verify: bool,
    as_json: bool,
) -> None:
    """Compile a configuration, here or at the service at `url`, verify it if wanted, and write and print its stages."""
    spec = listed.spec
    asked = ConfigBody.model_validate(config_to_json(config))
    body = CompileBody(problem=to_body(problem), config=asked, device=spec.id)
    there = None if url is None else remote_compile(url, body)
    made, proof, code = there, Proof(ProofKind.NONE), None
    if made is None or verify or ocloc is not None:
        with pool.CompilePool(workers=1, timeout_s=_TIMEOUT_S, cache=None) as compiler:
            artifact = compiler.compile(problem, config, spec).result()
        check_same(artifact, there)
        if isinstance(artifact, GemmArtifact):
            artifact, code = with_code(artifact, spec, ocloc)
        proof = proof_of(artifact, listed, code) if verify else proof
        made = made_here(artifact)
    document = dict(made.document) | {"proof": proof_json(proof)}
    write(made, document, folder)
    if as_json:
        print_json(document | isa_json(code))
        return
    print_stages(made, folder)
    print_summary(document, proof)
    print_isa(code)


def compile_file(
    file: Path,
    spec: DeviceSpec,
    folder: Path,
    url: str | None,
    *,
    isa: bool,
    as_json: bool,
) -> None:
    """Compile the kernels of a file, and write and print their stages."""
    source, ocloc = read_source(file), wanted_ocloc(isa)
    body = CompileBody(source=source, device=spec.id)
    there = None if url is None else remote_compile(url, body, str(file))
    made, code = there, None
    if made is None or ocloc is not None:
        with pool.CompilePool(workers=1, timeout_s=_TIMEOUT_S, cache=None) as compiler:
            artifact = compiler.compile_module(source, spec, str(file)).result()
        check_same(artifact, there)
        artifact, code = with_code(artifact, spec, ocloc)
        made = made_here(artifact)
    write(made, made.document, folder)
    if as_json:
        print_json(dict(made.document) | isa_json(code))
        return
    print_line(f"{', '.join(made.kernel_names)} for {made.target}")
    print_stages(made, folder)
    CONSOLE.print("numbers        not verified (`xetune run` executes a kernel in the simulator)")
    print_isa(code)


def isa_json(code: NativeCode | None) -> dict[str, object]:
    """Return the instructions of a kernel as JSON; nothing where they were not compiled."""
    return {} if code is None else {"isa": code.to_json()}


def print_isa(code: NativeCode | None) -> None:
    """Print the summary of the instructions, where they were compiled."""
    if code is not None:
        CONSOLE.print(isa_table(code))
        for line in hazard_lines(code):
            print_wrapped(line)


def write(made: Made, document: Mapping[str, object], folder: Path) -> None:
    """Write every stage and kernel.json, in place of the files of an earlier kernel."""
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


def proof_json(proof: Proof) -> dict[str, object]:
    """Return how results were verified."""
    return {
        "kind": proof.kind.value,
        "checked_workgroups": proof.checked,
        "total_workgroups": proof.total,
        "max_error": proof.max_error,
        "tolerance": proof.tolerance,
        "refusal": proof.refusal,
    }


def print_summary(document: Mapping[str, object], proof: Proof) -> None:
    """Print the launch and how results were verified."""
    for line in launch_lines(document):
        CONSOLE.print(line, highlight=False, soft_wrap=True)
    if proof.kind is ProofKind.NONE:
        CONSOLE.print("numbers        not verified (--verify executes the kernel)")
    else:
        CONSOLE.print(
            f"numbers        {PROOFS[proof.kind]}: {proof.checked} of {proof.total} tiles of C, "
            f"largest error {proof.max_error:.3g} within {proof.tolerance:.3g}{not_executed(proof)}",
            highlight=False,
            soft_wrap=True,
        )


def print_stages(made: Made, folder: Path) -> None:
    """Print each stage with its file, size and time."""
    table = text_table(Column("stage", no_wrap=True), "file", number_column("bytes"), number_column("time"))
    for stage in made.stages:
        table.add_row(stage.name, stage.file_name, f"{len(stage.data):,}", f"{stage.elapsed_ms:.1f} ms")
    CONSOLE.print(table)
    print_line(f"folder         {folder}")
