"""Places in the source of what the simulator refuses: an access outside of a buffer, a race, or a loop without end."""

from collections.abc import Callable
from dataclasses import replace

from codegen.artifact.kernel_artifact import KernelArtifact
from codegen.errors import Place
from codegen.simulate.refusal import RaceDetected, RefusedAtPlace, SimulationRefused, SimulationTimedOut
from codegen.xe.llvm.source_marks import TracedModule, take_marks
from codegen.xe.modules.source_text import SourceText


def trace_refusal(
    refused: SimulationRefused, marked: KernelArtifact, source: SourceText, run: Callable[[KernelArtifact], object]
) -> SimulationRefused:
    """Return a refusal with its place in the source; the refusal itself if that is not found.

    `marked` is the kernel compiled from `source` with marks; `run` runs it as the kernel that was refused.
    """
    unmarked, traced = _unmarked(marked)
    try:
        run(unmarked)
    except SimulationRefused as again:
        place = traced.places.get(again.where)
        if place is not None:
            return RefusedAtPlace(refused, source.shown(f"{refused}{_other(again, traced.places, source)}", place))
    return refused


def trace_timeout(
    late: SimulationTimedOut,
    kernel: str,
    marked: KernelArtifact,
    source: SourceText,
    run: Callable[[KernelArtifact], object],
) -> SimulationTimedOut:
    """Return the error of a run of `kernel` without an end, with the line at which a second, `run`, is at its limit."""
    unmarked, traced = _unmarked(marked)
    try:
        run(unmarked)
    except SimulationTimedOut as again:
        places = (traced.blocks.get((kernel, label)) for label in again.running)
        place = next((place for place in places if place is not None), None)
        return SimulationTimedOut(late.running, source.shown(str(late), place))
    return late


def _unmarked(marked: KernelArtifact) -> tuple[KernelArtifact, TracedModule]:
    traced = take_marks(marked.stage("llvm").data.decode())
    stages = (replace(s, data=traced.text.encode()) if s.name == "llvm" else s for s in marked.stages)
    return replace(marked, stages=tuple(stages)), traced


def _other(again: SimulationRefused, places: dict[str, Place], source: SourceText) -> str:
    """Return the place of the other access of a race; empty if it is not known."""
    place = places.get(again.other) if isinstance(again, RaceDetected) else None
    return "" if place is None else f"; the other access is that of {source.name}:{place.line}:{place.column}"
