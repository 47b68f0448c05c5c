"""Warm starts: selection of results from other problems and devices, and their adaptation to this one."""

from collections.abc import Iterable
from typing import NamedTuple

from codegen import EpilogueKind, GemmProblem, KernelConfig, Refused
from codegen.backend import backend_for
from hal import DeviceSpec
from tuner.shapes.carry import carried

MOST = 10
"""Donors of a search."""
OF_A_JOB = 4
"""Number of donors per job: a winner alone misleads."""


class Donor(NamedTuple):
    """A configuration that is good for `problem`."""

    config: KernelConfig
    problem: GemmProblem


def kinship(spec: DeviceSpec, other: DeviceSpec) -> int | None:
    """Return how near a device is: 0 the same, 1 of its architecture, 2 another; None for a device of another class.

    The classes are GPUs, CPUs with native code, and CPUs that emulate a GPU: times of one class say nothing about
    others.
    """
    if backend_for(spec) is not backend_for(other) or (spec.emulates is None) != (other.emulates is None):
        return None
    if spec.id == other.id:
        return 0
    return 1 if spec.architecture is not None and spec.architecture == other.architecture else 2


def epilogue_class(problem: GemmProblem) -> tuple[bool, bool]:
    """Return the properties of an epilogue that affect which tiles are good: whether it reads a matrix, and
    whether it reduces.
    """
    steps = problem.epilogue
    reads = any(step.is_matrix or step.kind is EpilogueKind.BETA for step in steps)
    return reads, any(step.kind is EpilogueKind.REDUCE for step in steps)


def fitted(donors: Iterable[Donor], problem: GemmProblem, spec: DeviceSpec) -> list[KernelConfig]:
    """Return the configurations adapted to a problem on a device by the same choices, each once.

    One that a rule refuses here is returned unchanged: the search takes the nearest legal one of its space.
    """
    return list(dict.fromkeys(_fit(donor, problem, spec) for donor in donors))


def _fit(donor: Donor, problem: GemmProblem, spec: DeviceSpec) -> KernelConfig:
    try:
        return carried(donor.config, donor.problem, problem, spec)
    except Refused:
        return donor.config
