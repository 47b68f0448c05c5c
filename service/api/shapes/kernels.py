"""Kernels of a set on all of its shapes: which are tried, and their results."""

from collections.abc import Sequence
from dataclasses import dataclass

from codegen import GemmProblem, KernelConfig, Refused
from db.queries.shape_sets import Cell
from hal import DeviceSpec
from service.api.shapes.state import SetShape
from tuner.backend import tuning_of
from tuner.search.warm_start import adapted, distance, ranked
from tuner.session.best import best_of
from tuner.shapes.compare_kernels import Compared, How

MOST_KERNELS = 24
"""Maximum number of kernels that are tried on all shapes: the best of each, then those nearly as good."""
_OF_A_SHAPE = 2


def choose_kernels(shapes: Sequence[SetShape], spec: DeviceSpec, within: float) -> list[tuple[int, KernelConfig]]:
    """Choose the configurations to try on all shapes, each with the member that it is from.

    First the best of each shape, as its job reports it, in order of their share of the total; then others within
    `within` of their best. Configurations that make the same choices are one kernel.
    """
    found: list[tuple[int, float, SetShape, KernelConfig]] = []
    for shape in shapes:
        own = best_of(shape.trials)
        others = [trial for trial in ranked(shape.trials) if trial is not own]
        best = [*([] if own is None else [own]), *others][:_OF_A_SHAPE]
        times = [trial.outcome.time_us for trial in best if trial.outcome is not None and trial.outcome.time_us]
        for place, (trial, time_us) in enumerate(zip(best, times, strict=True)):
            if time_us <= times[0] * (1 + within):
                found.append((place, -shape.progress.weight * times[0], shape, trial.config))
    kernels: dict[tuple[object, ...], tuple[int, KernelConfig]] = {}
    for _, _, shape, config in sorted(found, key=lambda each: each[:2]):
        kernels.setdefault(tuning_of(config).choices(config, shape.problem, spec), (shape.member_id, config))
    return list(kernels.values())[:MOST_KERNELS]


@dataclass(frozen=True, slots=True)
class SetKernel:
    """A kernel of a set: its configuration on its original shape, and the binary compiled there, if any."""

    id: int
    problem: GemmProblem
    config: KernelConfig
    content_hash: str | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """Kernels of a set applied to one shape, the nearest shape's first; `refused` has the reasons of the
    others.

    `binaries` are the hashes of kernels with one binary for every shape.
    """

    configs: tuple[tuple[int, KernelConfig], ...]
    refused: dict[int, str]
    binaries: dict[int, str]


def apply_kernels(kernels: Sequence[SetKernel], problem: GemmProblem, spec: DeviceSpec) -> Applied:
    """Apply the kernels to `problem`: a dynamic one is the same binary, others make the same choices."""
    configs: list[tuple[int, KernelConfig]] = []
    refused: dict[int, str] = {}
    binaries: dict[int, str] = {}
    for kernel in sorted(kernels, key=lambda kernel: (distance(kernel.problem, problem), kernel.id)):
        config = kernel.config
        try:
            same = tuning_of(config).relaunch(config, kernel.problem, problem, spec)
            configs.append((kernel.id, same or adapted(config, kernel.problem, problem, spec)))
            if same is not None and kernel.content_hash is not None:
                binaries[kernel.id] = kernel.content_hash
        except Refused as refusal:
            refused[kernel.id] = f"rule {refusal.rule}: {refusal.message}"
    return Applied(tuple(configs), refused, binaries)


def cells_of(
    applied: Applied, found: Compared, problem: GemmProblem, spec: DeviceSpec, *, measured: bool
) -> list[Cell]:
    """Return a cell for each kernel: its measured time, its prediction where nothing is measured, or a reason."""
    cells = [Cell(kernel_id, How.NONE.value, reason=reason) for kernel_id, reason in applied.refused.items()]
    for kernel_id, config in applied.configs:
        taken = found.times.get(config)
        if taken is not None and taken.how is not How.NONE:
            cells.append(Cell(kernel_id, taken.how.value, taken.time_us, None, taken.content_hash))
        elif taken is not None:
            cells.append(Cell(kernel_id, How.NONE.value, None, taken.reason or "it gave no time", taken.content_hash))
        elif not measured:
            time_us, binary = tuning_of(config).predict(problem, config, spec).time_us, applied.binaries.get(kernel_id)
            cells.append(Cell(kernel_id, How.PREDICTED.value, time_us, None, binary))
        else:
            cells.append(Cell(kernel_id, How.NONE.value, reason="not tried: the seconds of the set were spent"))
    return cells
