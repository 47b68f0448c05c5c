"""xetune kernels: what is stored, or the best for one problem."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from db import kernels
from hal import ListedDevice, UnknownDevice, resolve_device
from service.cli.evidence import shown_files, shown_kind, shown_proof_short, shown_rate, shown_time
from service.cli.output import CONSOLE, print_json
from service.cli.problem import AsJson, ProblemOptions, TargetName, with_problem
from service.cli.results import artifact_paths
from service.cli.stored import Stored, stored
from service.devices.elsewhere import device_elsewhere
from service.files import write_atomically
from service.kernels import service
from service.kernels.schemas import KernelOut, LookupOut
from service.schemas import to_problem


@with_problem
def kernels_command(
    problem: ProblemOptions,
    device: Annotated[str | None, typer.Option(help="Only kernels tuned on this device.")] = None,
    target: TargetName = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder to copy the files of the best kernel to.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Most kernels shown.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List stored kernels, newest first, or show the best one for a problem (--m, --n, --k)."""
    with stored() as store:
        if not problem.given:
            _list(store, device, limit, as_json)
        else:
            gemm = problem.read()
            listed = _device(store, device or "auto", target)
            with store.database.read() as session:
                found = service.look_up(session, gemm, listed)
            kernel = found.kernel
            files = artifact_paths(kernel, store.artifacts) if output is None else _copy(store, kernel, output)
            _show(found, files, as_json)


def _device(store: Stored, name: str, target: str | None) -> ListedDevice:
    """The device of that name here or in the table, else the one that the database was told of."""
    try:
        return resolve_device(name, target)
    except UnknownDevice:
        with store.database.read() as session:
            known = device_elsewhere(session, name.strip().lower()) if target is None else None
        if known is None:
            raise
        return known


def _list(store: Stored, device: str | None, limit: int, as_json: bool) -> None:
    with store.database.read() as session:
        rows = kernels.list_page(session, limit=limit, device=device)
        best = service.telling_trials(session, [row.id for row in rows])
        listed = [service.describe(row, best.get(row.id)) for row in rows]
    if as_json:
        print_json({"kernels": [kernel.model_dump(mode="json") for kernel in listed]})
    elif not listed:
        CONSOLE.print("No kernels yet. Tune a problem: xetune tune --m 512 --n 384 --k 1024 --dtype f16")
    else:
        CONSOLE.print(_table(listed))


def _table(listed: list[KernelOut]) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 1, 0))
    table.add_column("kernel", min_width=36, overflow="fold")  # an id is whole
    table.add_column("time (spread)")
    table.add_column("numbers")
    for kernel in listed:
        time = kernel.evidence.time
        rate = "" if kernel.tflops is None else f"\n{shown_rate(kernel.tflops)}"
        table.add_row(
            f"{kernel.id}\n{to_problem(kernel.problem)}\n{kernel.device}",
            "none" if time is None else f"{shown_time(time)}\n{shown_kind(time)}{rate}",
            shown_proof_short(kernel.evidence) if kernel.reason is None else f"{kernel.status}: {kernel.reason}",
        )
    return table


def _copy(store: Stored, kernel: KernelOut, folder: Path) -> dict[str, str]:
    """Write the files of a kernel under their names; their paths by name."""
    folder.mkdir(parents=True, exist_ok=True)
    for artifact in kernel.artifacts:
        write_atomically(folder / artifact.name, store.artifacts.get(artifact.sha256))
    return {artifact.name: str(folder / artifact.name) for artifact in kernel.artifacts}


def _show(found: LookupOut, files: dict[str, str], as_json: bool) -> None:
    if as_json:
        print_json(found.kernel.model_dump(mode="json") | {"unmeasured": found.unmeasured, "files": files})
        return
    CONSOLE.print(_table([found.kernel]))
    for line in _what_is_what(found):
        CONSOLE.print(line, highlight=False, soft_wrap=True)
    for line in shown_files(files):
        CONSOLE.print(line, highlight=False, soft_wrap=True)


def _what_is_what(found: LookupOut) -> Iterator[str]:
    kernel = found.kernel
    if kernel.prediction_error is not None and kernel.predicted is not None:
        predicted = f"{shown_time(kernel.predicted)} that {kernel.predicted.label} predicted"
        yield f"{kernel.prediction_error:.2f} times the {predicted}"
    if kernel.origin is not None:
        yield f"compiled by {kernel.origin}, not here"
    if found.unmeasured:
        several = "configurations are" if found.unmeasured > 1 else "configuration is"
        yield f"{found.unmeasured} {several} predicted faster and not measured: `xetune export --runners-up`"
