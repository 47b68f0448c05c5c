"""xetune merge: the results of another database come into this one."""

from pathlib import Path
from typing import Annotated

import typer

from db.merging.merge import Merged
from service.api.exchange.merging import merge_in
from service.api.exchange.other import (
    Other,
    open_other,
)
from service.cli.backend.choice import server
from service.cli.backend.refusing import not_there
from service.cli.backend.stored import stored
from service.cli.exchange.lines import check_origin
from service.cli.exchange.merge_there import merge_there
from service.cli.options.problem import AsJson
from service.cli.printing.counted import counted
from service.cli.printing.output import print_json, print_line


def merge_command(
    other: Annotated[str, typer.Argument(help="Data folder, file of SQLite, or URL of PostgreSQL; only read.")],
    artifacts: Annotated[
        Path | None,
        typer.Option(help="Folder of its kernels' files (default: `artifacts` beside its file).", file_okay=False),
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option(
            help="Name of the place that its results are from (default: where it is; for a service this host's name)."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring jobs that are over, with trials, kernels and files, from another database: all or nothing."""
    if (url := server()) is not None:
        if dry_run:
            raise not_there("--dry-run", "merge without it, which brings nothing twice")
        with open_other(other, artifacts) as opened:
            merge_there(url, opened, origin, as_json=as_json)
        return
    with stored() as store, open_other(other, artifacts) as opened:
        name = _origin(origin, opened)
        done = merge_in(opened, store.database, store.artifacts, name, dry_run=dry_run)
    if as_json:
        print_json(_document(done, dry_run=dry_run))
    else:
        _print(done, name, dry_run=dry_run)


def _origin(origin: str | None, other: Other) -> str:
    name = origin or other.name[-200:]
    check_origin(name)
    return name


def _document(done: Merged, *, dry_run: bool) -> dict[str, object]:
    counts = {
        name: getattr(done, name)
        for name in ("jobs", "trials", "kernels", "devices", "recordings", "shape_sets", "known_jobs")
    }
    decisions = [{"what": d.what, "kept": d.kept, "because": d.because} for d in done.decisions]
    jobs = {"running_there": [str(id) for id in done.running], "active_here": [str(id) for id in done.busy]}
    sets = {"staying_sets": [str(id) for id in done.staying_sets]}
    return {"dry_run": dry_run, **counts, "decisions": decisions, **jobs, **sets, "left": done.left}


def _print(done: Merged, name: str, *, dry_run: bool) -> None:
    came = ", ".join(
        counted(count, what)
        for count, what in (
            (done.jobs, "job"),
            (done.trials, "trial"),
            (done.kernels, "kernel"),
            (done.devices, "device"),
            (done.recordings, "recording"),
            (done.shape_sets, "shape set"),
        )
    )
    print_line(
        f"{'would come' if dry_run else 'merged'} from {name}: {came}; {counted(done.known_jobs, 'job')} known before"
    )
    for decision in done.decisions:
        print_line(f"  {decision}")
    for ids, why in ((done.running, "not over there"), (done.busy, "active here")):
        if ids:
            print_line(f"left alone, {why}: {counted(len(ids), 'job')} ({', '.join(map(str, ids))})")
    if done.staying_sets:
        names = ", ".join(map(str, done.staying_sets))
        print_line(
            f"stays there, not over or with a job that is not: {counted(len(done.staying_sets), 'shape set')} ({names})"
        )
    if done.left:
        rows = (f"{counted(count, 'row')} of {table}" for table, count in done.left.items())
        print_line(f"stays there: {', '.join(rows)}")
    if dry_run:
        print_line("dry run: nothing was changed")
