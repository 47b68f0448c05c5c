"""Warm starts: selection of results from other problems and devices, and their adaptation to this one."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from codegen import EpilogueKind, GemmProblem, KernelConfig, Refused
from codegen.backend import backend_for
from hal import DeviceSpec
from tuner.backend import tuning_of
from tuner.session.trial import ProofKind, Trial

MOST = 10
"""Donors of a search."""
OF_A_JOB = 4
"""Number of donors per job: a winner alone misleads."""
OF_A_SET = 4
"""Number of donors of a shape from the other shapes of its set."""


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


def epilogue_class(problem: GemmProblem) -> tuple[bool, bool, bool, bool]:
    """Return the properties of a gate, an epilogue and experts that affect which tiles are good: whether it reads a
    matrix, whether it reduces, whether there are two products, and whether rows are those of experts.
    """
    steps = problem.epilogue
    reads = any(step.is_matrix or step.kind is EpilogueKind.BETA for step in steps)
    reduces = any(step.kind is EpilogueKind.REDUCE for step in steps)
    return reads, reduces, problem.gate is not None, problem.experts is not None


def fitted(donors: Iterable[Donor], problem: GemmProblem, spec: DeviceSpec) -> list[KernelConfig]:
    """Return the configurations adapted to a problem on a device by the same choices, each once.

    One that a rule refuses here is returned unchanged: the search takes the nearest legal one of its space.
    """
    return list(dict.fromkeys(_fit(donor, problem, spec) for donor in donors))


def adapted(config: KernelConfig, source: GemmProblem, problem: GemmProblem, spec: DeviceSpec) -> KernelConfig:
    """Return the configuration for `problem` with the choices that `config` makes for `source`.

    Raises:
        Refused: a rule of the problem or of the configuration.
    """
    return config if source == problem else tuning_of(config).adapt(config, source, problem, spec)


def _fit(donor: Donor, problem: GemmProblem, spec: DeviceSpec) -> KernelConfig:
    try:
        return adapted(donor.config, donor.problem, problem, spec)
    except Refused:
        return donor.config


def distance(one: GemmProblem, other: GemmProblem) -> float:
    """Return the distance of two problems: the Euclidean norm of the log2 ratios of M, N, K and batch."""
    pairs = ((one.m, other.m), (one.n, other.n), (one.k, other.k), (one.batch, other.batch))
    return math.hypot(*(math.log2(a / b) for a, b in pairs))


def ranked(trials: Iterable[Trial]) -> list[Trial]:
    """Return verified trials that were measured or predicted in their own job, fastest first."""
    timed = [
        (outcome.time_us, trial.number, trial)
        for trial in trials
        if (outcome := trial.outcome) is not None
        and outcome.time_us is not None
        and outcome.proof.kind is not ProofKind.NONE
        and trial.source is None  # times of other days are not comparable
    ]
    return [trial for *_, trial in sorted(timed, key=lambda each: each[:2])]


def donors_of_set(
    problem: GemmProblem, others: Sequence[tuple[GemmProblem, Sequence[Trial]]], spec: DeviceSpec
) -> tuple[KernelConfig, ...]:
    """Return the best configurations of the nearest other problems, adapted to this one; refused ones are left out."""
    found: dict[KernelConfig, None] = {}
    for source, trials in sorted(others, key=lambda other: distance(problem, other[0])):
        best = ranked(trials)[:1]
        if not best or len(found) == OF_A_SET:
            continue
        try:
            found[adapted(best[0].config, source, problem, spec)] = None
        except Refused:
            continue
    return tuple(found)
