"""xetune run: one kernel of an .mlir file, executed in the simulator on .npy files."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from service.cli.options.output import AsJson

_COMPILE_S = 120.0
_AGAIN_S = 2.0  # of the run that finds the line of an endless loop


def run_command(
    file: Annotated[Path, typer.Argument(help="Module with the kernel: XeTile or XeGPU.", exists=True, dir_okay=False)],
    grid: Annotated[str, typer.Option(help="Work-groups in x, y and z: 16,16 or 4,4,2.", metavar="X[,Y[,Z]]")],
    kernel: Annotated[str | None, typer.Option(help="Kernel to run (default: the only one).", metavar="NAME")] = None,
    block: Annotated[
        str | None, typer.Option(help="Threads of a work-group, if the file does not set them.", metavar="X[,Y[,Z]]")
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--in", help="Contents of an argument (repeatable).", metavar="NAME=FILE.npy"),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--out", help="File to write an argument to; it starts as zeros unless --in.", metavar="NAME=FILE.npy"
        ),
    ] = None,
    scalars: Annotated[
        list[str] | None, typer.Option("--arg", help="Value of a scalar argument.", metavar="NAME=NUMBER")
    ] = None,
    device: Annotated[str, typer.Option(help="GPU to compile for: a name that `xetune devices` lists.")] = "b580",
    timeout: Annotated[
        float | None, typer.Option(help="Seconds that the execution may take (default: 600).", metavar="SECONDS")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compile a kernel for a GPU and execute it in the simulator, without a GPU. No time is measured.

    Example: xetune run kernel.mlir --grid 2,3 --in A=a.npy --in B=b.npy --out C=c.npy

    bf16 arrays are float32 files; they are rounded on input.
    """
    from codegen import InvalidLaunch, KernelArtifact
    from codegen.artifact.files import write_named
    from codegen.simulate.refusal import SimulationRefused, SimulationTimedOut
    from codegen.simulate.run_module import TIME_LIMIT_S, kernel_of, simulate_module
    from codegen.workers.pool import CompilePool
    from service.cli.compiler.modules import read_source
    from service.cli.compiler.running import (
        check_targets,
        extents,
        gpu,
        npy,
        only_kernel,
        pairs_of,
        print_all,
        values_of,
    )

    source = read_source(file)
    groups, size = extents("--grid", grid), None if block is None else extents("--block", block)
    files, targets, numbers = pairs_of("--in", inputs), pairs_of("--out", outputs), pairs_of("--arg", scalars)
    check_targets(targets)
    timeout = TIME_LIMIT_S if timeout is None else timeout
    if not timeout > 0:
        raise InvalidLaunch(f"--timeout: expected seconds above 0, got {timeout:g}")
    with CompilePool(workers=1, timeout_s=_COMPILE_S, cache=None) as pool:
        spec = gpu(device)
        artifact = pool.compile_module(source, spec, str(file), block=size).result()
        signature = kernel_of(artifact, kernel or only_kernel(artifact))
        values = values_of(signature, files, targets, numbers)
        try:
            report = simulate_module(
                artifact, signature.name, groups, size, list(values.values()), time_limit_s=timeout
            )
        except (SimulationRefused, SimulationTimedOut) as refused:
            if isinstance(refused, SimulationRefused) and not refused.where:
                raise
            # Imported here: a run that succeeds does without the parser's libraries.
            from codegen.trace_refusal import trace_refusal, trace_timeout
            from codegen.xe.modules.source_text import SourceText

            marked = pool.compile_module(source, spec, str(file), block=size, marked=True).result()
            again = list(values_of(signature, files, targets, numbers).values())
            text = SourceText(str(file), source)

            def rerun(traced: KernelArtifact, seconds: float = timeout) -> None:
                simulate_module(traced, signature.name, groups, size, again, time_limit_s=seconds)

            if isinstance(refused, SimulationRefused):
                raise trace_refusal(refused, marked, text, rerun) from refused
            late = SimulationTimedOut(refused.running, _late(signature.name, timeout))
            raise trace_timeout(late, signature.name, marked, text, partial(rerun, seconds=_AGAIN_S)) from refused
    contents = {Path(path): npy(signature, name, values[name]) for name, path in targets.items()}
    for path, data in contents.items():
        write_named(path, data)
    print_all(artifact, signature, report, targets, as_json=as_json)


def _late(kernel: str, seconds: float) -> str:
    return (
        f"{kernel}: expected an end within {seconds:g} s, got none: run fewer work-groups or give a longer --timeout, "
        "unless a loop has no end"
    )
