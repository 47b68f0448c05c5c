"""xetune compile: a GEMM or the kernels of a file, every stage written to a folder."""

from pathlib import Path
from typing import Annotated

import typer

from service.cli.devices.drivers import asking_drivers
from service.cli.options.config_flags import ConfigFile, Settings
from service.cli.options.isa import Isa
from service.cli.options.output import AsJson
from service.cli.options.problem import DeviceOrFile, ProblemOptions, TargetName, with_problem
from service.cli.printing.output import print_wrapped


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
    with asking_drivers() as probes:
        # Imported here, before the answers of the drivers are waited for.
        from codegen import InvalidProblem
        from codegen.backend import backend_for, check_kernel
        from service.cli.options.device_file import named_device, server_of

        listed, url = named_device(device, target, probes), server_of(device)
    spec = listed.spec
    if not backend_for(spec).compiles_modules and (file is not None or isa):
        given = "a file" if file is not None else "--isa"
        raise InvalidProblem("--device", f"expected a GPU with {given}, got {spec.id}; of a GEMM, kernel.o is its code")
    if file is not None:
        own = [("config", config is not None), ("set", bool(settings)), ("verify", verify)]
        if flags := [*problem.given, *(name for name, given in own if given)]:
            got = ", ".join(f"--{name.replace('_', '-')}" for name in flags)
            raise InvalidProblem(
                "FILE", f"expected either a file, or --m, --n and --k, got both: {got}; `xetune run` executes a file"
            )
        from service.cli.compiler.compiling import compile_file

        compile_file(file, spec, folder, url, isa=isa, as_json=as_json)
        return
    gemm = problem.read()
    # Imported here, and below, in the order of what is said first.
    from service.cli.options.configuration import ConfigOptions

    chosen = ConfigOptions(config, settings or []).read(gemm, spec)
    check_kernel(gemm, chosen, spec)
    ocloc = None
    if isa:  # refused before anything is printed
        from service.cli.compiler.inspection.isa import wanted_ocloc

        ocloc = wanted_ocloc(isa)
    if not as_json:
        print_wrapped(f"{gemm} for {spec.id}")
        print_wrapped(f"configuration  {chosen}", indent=" " * 15)
    from service.cli.compiler.compiling import compile_configuration

    compile_configuration(gemm, chosen, listed, folder, url, ocloc, verify=verify, as_json=as_json)
