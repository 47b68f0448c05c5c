"""xetune compile: a GEMM or the kernels of a file, every stage written to a folder."""

from pathlib import Path
from typing import Annotated

import typer

from service.cli.options.config_flags import ConfigFile, Settings
from service.cli.options.isa import Isa
from service.cli.options.output import AsJson
from service.cli.options.problem import DeviceOrFile, ProblemOptions, TargetName, with_problem
from service.cli.printing.output import print_json


@with_problem
def compile_command(
    problem: ProblemOptions,
    folder: Annotated[Path, typer.Option("-o", "--output", help="Folder to write to; created if missing.")],
    file: Annotated[
        Path | None,
        typer.Argument(help="Module to compile, XeTile or XeGPU, in place of a GEMM.", dir_okay=False),
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
    """Compile a GEMM (M N K) or the kernels of an .mlir file, and write every stage and kernel.json."""
    from codegen import GemmArtifact, InvalidProblem
    from codegen.backend import backend_for
    from codegen.workers.pool import CompilePool
    from service.api.compile.schemas import CompileBody
    from service.cli.compiler.compiled import check_same, made_here
    from service.cli.compiler.compiling import (
        TIMEOUT_S,
        compile_file,
        isa_json,
        print_isa,
        print_stages,
        print_summary,
        proof_json,
        proof_of,
        write,
    )
    from service.cli.compiler.inspection.isa import wanted_ocloc, with_code
    from service.cli.compiler.remote_compile import remote_compile
    from service.cli.options.configuration import ConfigOptions
    from service.cli.options.device_file import named_device, server_of
    from service.configurations import ConfigBody
    from service.gemm_json import config_to_json
    from service.schemas import to_body
    from tuner.session.trial import Proof, ProofKind

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
        compile_file(file, spec, folder, url, ocloc, as_json=as_json)
        return
    gemm = problem.read()
    chosen = ConfigOptions(config, settings or []).read(gemm, spec)
    body = CompileBody(problem=to_body(gemm), config=ConfigBody.model_validate(config_to_json(chosen)), device=spec.id)
    there = None if url is None else remote_compile(url, body)
    made, proof, code = there, Proof(ProofKind.NONE), None
    if made is None or verify or ocloc is not None:
        with CompilePool(workers=1, timeout_s=TIMEOUT_S, cache=None) as pool:
            artifact = pool.compile(gemm, chosen, spec).result()
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
    print_stages(made, f"{gemm} for {made.target}", folder)
    print_summary(chosen, document, proof)
    print_isa(code)
