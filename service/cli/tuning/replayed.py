"""Results of searches in a recorded space."""

from dataclasses import dataclass

import numpy as np
from rich.table import Column, Table

from service.cli.printing.output import number_column, text_table
from tuner.replay.recorded import RecordedSpace
from tuner.replay.run import chance, replay, score
from tuner.search.priors import Priors
from tuner.search.samplers.build import build_search


@dataclass(frozen=True, slots=True)
class _Line:
    """Results of one search method: mean fractions of the optimum by evaluations, the P score, and counts by
    proposer.
    """

    search: str
    fraction: dict[int, float]
    p_score: float
    by: dict[str, int]


def replayed(
    recorded: RecordedSpace, methods: list[str], evaluations: int, seeds: int, donors: list[int], marks: list[int]
) -> list[_Line]:
    """Return a line for computed random draws, then one for each method."""
    at_random = chance(recorded, evaluations).fraction
    lines = [_Line("chance, calculated", {mark: float(at_random[mark - 1]) for mark in marks}, 0.0, {})]
    space = recorded.space()
    for method in methods:
        runs = [
            replay(recorded, space, build_search(method, space, seed, Priors(donors), evaluations), evaluations)
            for seed in range(seeds)
        ]
        found = score(recorded, runs, evaluations)
        lines.append(_Line(method, {mark: found.at(mark) for mark in marks}, found.p_score, dict(found.by)))
    return lines


def table_of(lines: list[_Line], marks: list[int], seeds: int) -> Table:
    """Return the results of searches as a table."""
    title = f"fraction of the optimum after so many evaluations, mean of {seeds}"
    numbers = (number_column(heading) for heading in (*map(str, marks), "P"))
    table = text_table(Column("search"), *numbers, Column("who proposed"), title=title)
    for line in lines:
        asked = sum(line.by.values())
        by = ", ".join(
            f"{name} {count / asked:.0%}" for name, count in sorted(line.by.items(), key=lambda one: -one[1])
        )
        score = "-" if np.isnan(line.p_score) else f"{line.p_score:.3f}"
        table.add_row(line.search, *(f"{line.fraction[mark]:.3f}" for mark in marks), score, by)
    return table
