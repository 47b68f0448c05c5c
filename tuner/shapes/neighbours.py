"""Donors of a shape within its set: the best configurations of the nearest shapes."""

import math
from collections.abc import Iterable, Sequence

from codegen import GemmProblem, KernelConfig, Refused
from hal import DeviceSpec
from tuner.session.trial import (
    ProofKind,
    Trial,
)
from tuner.shapes.carry import carried

MOST_DONORS = 4


def distance(one: GemmProblem, other: GemmProblem) -> float:
    """Return the distance of two problems: the sum of the absolute log2 ratios of M, N, K and batch."""
    pairs = ((one.m, other.m), (one.n, other.n), (one.k, other.k), (one.batch, other.batch))
    return sum(abs(math.log2(a / b)) for a, b in pairs)


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


def donors_for(
    problem: GemmProblem, others: Sequence[tuple[GemmProblem, Sequence[Trial]]], spec: DeviceSpec
) -> tuple[KernelConfig, ...]:
    """Return the best configurations of the nearest other problems, adapted to this one; refused ones are left out."""
    found: dict[KernelConfig, None] = {}
    for source, trials in sorted(others, key=lambda other: distance(problem, other[0])):
        best = ranked(trials)[:1]
        if not best or len(found) == MOST_DONORS:
            continue
        try:
            found[carried(best[0].config, source, problem, spec)] = None
        except Refused:
            continue
    return tuple(found)
