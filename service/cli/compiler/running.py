"""Arguments and outputs of a simulated kernel."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from codegen import InvalidLaunch, KernelArtifact
from codegen.artifact.signature import KernelSignature
from codegen.simulate import SimulationReport
from codegen.simulate.run_module import Extents, Value
from hal import DeviceSpec, resolve_device
from service.cli.compiler.arrays import load_array, output_array, saved, scalar
from service.cli.printing.output import CONSOLE, print_json

_MOST = 2**31 - 1  # of a grid or a block in one dimension


def check_targets(targets: Mapping[str, str]) -> None:
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


def gpu(device: str) -> DeviceSpec:
    """Return the GPU to compile for; a CPU that emulates one is not supported, as the simulator runs the kernel."""
    spec = resolve_device(device).spec
    if spec.emulates is not None:
        raise InvalidLaunch(
            f"--device {device}: expected a GPU to compile for, got {spec.name}; the simulator executes "
            f"what is compiled for --device {spec.emulates}"
        )
    return spec


def only_kernel(artifact: KernelArtifact) -> str:
    """Return the name of the only kernel.

    Raises:
        InvalidLaunch: there are several.
    """
    names = [kernel.name for kernel in artifact.kernels]
    if len(names) != 1:
        raise InvalidLaunch(f"expected --kernel with one of {', '.join(names)}")
    return names[0]


def pairs_of(option: str, given: Sequence[str] | None) -> dict[str, str]:
    """Return the NAME=VALUE pairs of an option.

    Raises:
        InvalidLaunch: one is no pair, or a name comes twice.
    """
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


def extents(option: str, text: str) -> Extents:
    """Return one to three positive numbers, completed with 1.

    Raises:
        InvalidLaunch: it is not that.
    """
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


def values_of(
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


def npy(signature: KernelSignature, name: str, value: Value) -> bytes:
    """Return an output as the contents of a .npy file."""
    (argument,) = (a for a in signature.arguments if a.name == name)
    if not isinstance(value, np.ndarray):
        raise InvalidLaunch(f"--out {name}: expected an argument in memory, got a number")
    stream = io.BytesIO()
    np.save(stream, saved(argument, value))
    return stream.getvalue()


def print_all(
    artifact: KernelArtifact,
    signature: KernelSignature,
    report: SimulationReport,
    targets: Mapping[str, str],
    *,
    as_json: bool,
) -> None:
    """Print what was executed and written."""
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
