"""xetune run: one kernel of an .mlir file, executed in the simulator on .npy files."""

import io
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from codegen import InvalidLaunch, KernelArtifact
from codegen.artifact.files import write_atomically
from codegen.artifact.signature import KernelSignature
from codegen.simulate import SimulationReport
from codegen.simulate.refusal import SimulationRefused, SimulationTimedOut
from codegen.simulate.run_module import (
    TIME_LIMIT_S,
    Extents,
    Value,
    kernel_of,
    simulate_module,
)
from codegen.workers.pool import CompilePool
from hal import DeviceSpec, resolve_device
from service.cli.compiler.arrays import load_array, output_array, saved, scalar
from service.cli.compiler.modules import read_source
from service.cli.options.problem import AsJson
from service.cli.printing.output import CONSOLE, print_json

_COMPILE_S = 120.0
_AGAIN_S = 2.0  # of the run that finds the line of an endless loop
_MOST = 2**31 - 1  # of a grid or a block in one dimension


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
        float, typer.Option(help="Seconds that the execution may take.", metavar="SECONDS")
    ] = TIME_LIMIT_S,
    as_json: AsJson = False,
) -> None:
    """Compile a kernel for a GPU and execute it in the simulator, without a GPU. No time is measured.

    Example: xetune run kernel.mlir --grid 2,3 --in A=a.npy --in B=b.npy --out C=c.npy

    bf16 arrays are float32 files; they are rounded on input.
    """
    source = read_source(file)
    groups, size = _extents("--grid", grid), None if block is None else _extents("--block", block)
    files, targets, numbers = _pairs("--in", inputs), _pairs("--out", outputs), _pairs("--arg", scalars)
    _check_targets(targets)
    if not timeout > 0:
        raise InvalidLaunch(f"--timeout: expected seconds above 0, got {timeout:g}")
    with CompilePool(workers=1, timeout_s=_COMPILE_S, cache=None) as pool:
        spec = _gpu(device)
        artifact = pool.compile_module(source, spec, str(file), block=size).result()
        signature = kernel_of(artifact, kernel or _only_kernel(artifact))
        values = _values(signature, files, targets, numbers)
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
            again = list(_values(signature, files, targets, numbers).values())
            text = SourceText(str(file), source)

            def rerun(traced: KernelArtifact, seconds: float = timeout) -> None:
                simulate_module(traced, signature.name, groups, size, again, time_limit_s=seconds)

            if isinstance(refused, SimulationRefused):
                raise trace_refusal(refused, marked, text, rerun) from refused
            late = SimulationTimedOut(refused.running, _late(signature.name, timeout))
            raise trace_timeout(late, signature.name, marked, text, partial(rerun, seconds=_AGAIN_S)) from refused
    contents = {Path(path): _npy(signature, name, values[name]) for name, path in targets.items()}
    for path, data in contents.items():
        write_atomically(path, data)
    _print(artifact, signature, report, targets, as_json=as_json)


def _late(kernel: str, seconds: float) -> str:
    return (
        f"{kernel}: expected an end within {seconds:g} s, got none: run fewer work-groups or give a longer --timeout, "
        "unless a loop has no end"
    )


def _check_targets(targets: Mapping[str, str]) -> None:
    """Check that each output goes to a separate file, in a folder that exists."""
    taken: dict[Path, str] = {}
    for name, path in targets.items():
        file = Path(path).resolve()
        if not file.parent.is_dir():
            raise InvalidLaunch(f"--out {name}: expected a folder that exists, got {Path(path).parent}")
        if file.is_dir():
            raise InvalidLaunch(f"--out {name}: expected a file to write, got the folder {path}")
        if file in taken:
            raise InvalidLaunch(f"--out {name}: expected a separate file, got {path}, which {taken[file]} goes to")
        taken[file] = name


def _gpu(device: str) -> DeviceSpec:
    """Return the GPU to compile for; a CPU that emulates one is not supported, as the simulator runs the kernel."""
    spec = resolve_device(device).spec
    if spec.emulates is not None:
        raise InvalidLaunch(
            f"--device {device}: expected a GPU to compile for, got {spec.name}; the simulator executes "
            f"what is compiled for --device {spec.emulates}"
        )
    return spec


def _only_kernel(artifact: KernelArtifact) -> str:
    names = [kernel.name for kernel in artifact.kernels]
    if len(names) != 1:
        raise InvalidLaunch(f"expected --kernel with one of {', '.join(names)}")
    return names[0]


def _pairs(option: str, given: Sequence[str] | None) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        name = name.removeprefix("%")
        if not name or not equals or not value:
            raise InvalidLaunch(f"{option}: expected NAME=VALUE, got {text!r}")
        if name in pairs:
            raise InvalidLaunch(f"{option}: {name} is given twice")
        pairs[name] = value
    return pairs


def _extents(option: str, text: str) -> Extents:
    try:
        values = [int(part) for part in text.split(",")]
    except ValueError:
        values = []
    if not 1 <= len(values) <= 3 or min(values) < 1 or max(values) > _MOST:
        raise InvalidLaunch(
            f"{option}: expected one to three numbers of at least 1 and at most {_MOST}, such as 16,16, got {text!r}"
        )
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z


def _values(
    signature: KernelSignature, files: Mapping[str, str], targets: Mapping[str, str], numbers: Mapping[str, str]
) -> dict[str, Value]:
    """Return the arguments by name, in order."""
    names = [argument.name for argument in signature.arguments]
    unknown = [name for name in (*files, *targets, *numbers) if name not in names]
    if unknown:
        raise InvalidLaunch(f"{signature.name}: expected arguments {', '.join(names)}, got {', '.join(unknown)}")
    values: dict[str, Value] = {}
    for argument in signature.arguments:
        name = argument.name
        if name in files:
            values[name] = load_array(argument, Path(files[name]))
        elif name in numbers:
            values[name] = scalar(argument, numbers[name])
        elif name in targets:
            values[name] = output_array(argument)
        else:
            option = f"--arg {name}=NUMBER" if argument.is_scalar else f"--in {name}=FILE.npy or --out {name}=FILE.npy"
            raise InvalidLaunch(f"{signature.name}: argument {name} of type {argument.element} is not given: {option}")
    return values


def _npy(signature: KernelSignature, name: str, value: Value) -> bytes:
    (argument,) = (a for a in signature.arguments if a.name == name)
    if not isinstance(value, np.ndarray):
        raise InvalidLaunch(f"--out {name}: expected an argument in memory, got a number")
    stream = io.BytesIO()
    np.save(stream, saved(argument, value))
    return stream.getvalue()


def _print(
    artifact: KernelArtifact,
    signature: KernelSignature,
    report: SimulationReport,
    targets: Mapping[str, str],
    *,
    as_json: bool,
) -> None:
    if as_json:
        print_json(
            {
                "kernel": signature.name,
                "compiled_for": artifact.target,
                "content_hash": f"sha256:{artifact.content_hash}",
                "proof": {"kind": "simulator", "workgroups": report.executed, "instructions": report.instructions},
                "outputs": dict(targets),
                "stages": [{"name": s.name, "elapsed_ms": round(s.elapsed_ms, 3)} for s in artifact.stages],
            }
        )
        return
    CONSOLE.print(f"kernel        {signature.name}, compiled for {artifact.target}")
    CONSOLE.print(f"stages        {', '.join(f'{s.name} {s.elapsed_ms:.0f} ms' for s in artifact.stages)}")
    CONSOLE.print(
        f"executed      in the simulator: {report.executed} work-groups, {report.instructions:,} LLVM instructions; "
        "no races in shared local memory"
    )
    for name, path in targets.items():
        CONSOLE.print(f"wrote         {name} to {path}")
