"""xetune replay: results of searches in a recorded space."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Column, Table

from service.cli.options.problem import AsJson
from service.cli.printing.output import CONSOLE, ERRORS, number_column, print_json, print_line, text_table
from tuner.exchange.formats import Format, read_recorded
from tuner.replay.recorded import RecordedSpace
from tuner.replay.run import chance, replay, score
from tuner.replay.warm import donor_rows
from tuner.search.method import Method, Priors
from tuner.search.samplers.build import build_search

_MARKS = (10, 20, 50, 100, 200, 500, 1000)
_DEFAULT = (Method.PORTFOLIO.value, Method.RANDOM.value)


Recorded = Annotated[Path, typer.Argument(help="A cache of Kernel Tuner or a T4 file.", exists=True, dir_okay=False)]


@dataclass(frozen=True, slots=True)
class _Line:
    """Results of one search method: mean fractions of the optimum by evaluations, the P score, and counts by
    proposer.
    """

    search: str
    fraction: dict[int, float]
    p_score: float
    by: dict[str, int]


def replay_command(
    file: Recorded,
    search: Annotated[
        list[str] | None,
        typer.Option(
            help="Search method: portfolio, gp, tpe, cmaes, nsga2, random, exhaustive, a class of optuna.samplers, or "
            "package.module:Class; may be repeated (default: portfolio and random)."
        ),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, max=10_000, help="Evaluations of each search.")] = 200,
    seeds: Annotated[
        int, typer.Option(min=1, max=1_000, help="Number of seeds, with one search each per method.")
    ] = 10,
    warm: Annotated[
        Path | None,
        typer.Option(
            help="Warm start from the best of this recording of the same kernel.", exists=True, dir_okay=False
        ),
    ] = None,
    format: Annotated[Format | None, typer.Option(help="Format of the file (default: detected).")] = None,
    as_json: AsJson = False,
) -> None:
    """Search a recorded space as if it were a device, and report how close to the optimum each search came."""
    recorded = read_recorded(file, format, _note)
    donors = donor_rows(recorded, read_recorded(warm, on_note=_note)) if warm is not None else []
    evaluations = min(trials, len(recorded))
    marks = [*(mark for mark in _MARKS if mark < evaluations), evaluations]
    lines = _replayed(recorded, list(search or _DEFAULT), evaluations, seeds, donors, marks)
    timed = int((recorded.times_us > 0).sum())
    if as_json:
        print_json(
            {
                "name": recorded.name,
                "configurations": len(recorded),
                "timed": timed,
                "best_us": recorded.best_us,
                "seeds": seeds,
                "searches": [
                    {"search": line.search, "fraction": line.fraction, "p_score": line.p_score, "proposers": line.by}
                    for line in lines
                ],
            }
        )
        return
    CONSOLE.print(
        f"{recorded.name}: {len(recorded)} configurations, {timed} with a time, {len(recorded.axes)} axes; "
        f"optimum {recorded.best_us:.4g} us",
        highlight=False,
    )
    CONSOLE.print(_table(lines, marks, seeds))


def _note(text: str) -> None:
    print_line(text, ERRORS)


def _replayed(
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


def _table(lines: list[_Line], marks: list[int], seeds: int) -> Table:
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
