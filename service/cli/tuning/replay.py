"""xetune replay: results of searches in a recorded space."""

from pathlib import Path
from typing import Annotated

import typer

from service.cli.options.output import AsJson
from service.cli.printing.output import CONSOLE, ERRORS, print_json, print_line
from tuner.search.method import Method

_MARKS = (10, 20, 50, 100, 200, 500, 1000)
_DEFAULT = (Method.PORTFOLIO.value, Method.RANDOM.value)
Recorded = Annotated[Path, typer.Argument(help="A cache of Kernel Tuner or a T4 file.", exists=True, dir_okay=False)]


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
    as_json: AsJson = False,
) -> None:
    """Search a recorded space as if it were a device, and report how close to the optimum each search came."""
    from service.cli.tuning.replayed import replayed, table_of
    from tuner.exchange.formats import read_recorded
    from tuner.replay.warm import donor_rows

    recorded = read_recorded(file, _note)
    donors = donor_rows(recorded, read_recorded(warm, _note)) if warm is not None else []
    evaluations = min(trials, len(recorded))
    marks = [*(mark for mark in _MARKS if mark < evaluations), evaluations]
    lines = replayed(recorded, list(search or _DEFAULT), evaluations, seeds, donors, marks)
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
    CONSOLE.print(table_of(lines, marks, seeds))


def _note(text: str) -> None:
    print_line(text, ERRORS)
