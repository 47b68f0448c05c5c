"""Launch of a kernel as text: its steps, how each matrix is moved or packed, and the requirements on a CPU."""

from collections.abc import Iterator, Mapping

from service.manifest_reader import (
    Launch,
    LaunchedKernel,
    PackedMatrix,
    read_launch,
)

_WAYS = {
    "block2d": "2-D blocks",
    "copied": "2-D blocks of a copy",
    "decoded": "2-D blocks of what is decoded before",
}
_WHEN = {
    "none": "is read in place",
    "block": "is packed block by block",
    "whole": "is packed whole before the multiply",
    "beforehand": "is packed once, by a separate call",
}


def launch_lines(manifest: Mapping[str, object]) -> Iterator[str]:
    """Return a line or two per kernel, then one per matrix."""
    launch = read_launch(dict(manifest))
    for place, step in enumerate(launch.steps):
        yield f"{'' if place else 'launch':14} {step.kernel}({', '.join(step.parameters)})"
        yield f"{'':14}   {_sizes(step, launch)}"
    for place, path in enumerate(launch.memory_paths):
        why = "" if path.because is None else f", {path.because}"
        yield f"{'' if place else 'memory':14} {path.matrix} by {_WAYS.get(path.by, path.by)}{why}"
    for place, packed in enumerate(launch.packing):
        yield f"{'' if place else 'packing':14} {packed.matrix} {_packed(packed)}"
    if launch.needs:
        yield f"{'needs':14} {', '.join(launch.needs)}"


def _sizes(step: LaunchedKernel, launch: Launch) -> str:
    if step.threads is not None:
        threads = f"{step.threads} thread{'s' if step.threads > 1 else ''}"
        return f"{threads}, once for the same B" if step.once else threads
    sizes = f"global ({', '.join(step.global_size)}), local ({', '.join(step.local_size)})"
    return f"{sizes}, sub-groups of {launch.subgroup_size}"


def _packed(packed: PackedMatrix) -> str:
    elements = "" if packed.elements is None else f", as {packed.elements}"
    size = "" if packed.nbytes is None else f", {packed.nbytes:,} bytes"
    return f"{_WHEN.get(packed.when, packed.when)}{elements}{size}"
