"""How a terminal shows a launch: its steps, and how each matrix is moved."""

from collections.abc import Iterator, Mapping

from service.launch import read_launch

_WAYS = {"block2d": "2-D blocks", "lanes": "lanes"}


def launch_lines(manifest: Mapping[str, object]) -> Iterator[str]:
    """One line a kernel, then one a matrix."""
    launch = read_launch(dict(manifest))
    for place, step in enumerate(launch.steps):
        sizes = f"global ({', '.join(step.global_size)}), local ({', '.join(step.local_size)})"
        yield f"{'' if place else 'launch':14} {step.kernel}({', '.join(step.parameters)})"
        yield f"{'':14}   {sizes}, sub-groups of {launch.subgroup_size}"
    for place, path in enumerate(launch.memory_paths):
        why = "" if path.because is None else f", {path.because}"
        yield f"{'' if place else 'memory':14} {path.matrix} by {_WAYS.get(path.by, path.by)}{why}"
