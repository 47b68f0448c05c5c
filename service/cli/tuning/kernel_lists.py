"""Kernels and answers of lookups as text, and their files."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import UUID

from rich.table import Column, Table

from codegen.artifact.files import is_plain_name, write_atomically
from service.api.kernels.lookup.schemas import LookupOut
from service.api.kernels.schemas import KernelOut
from service.cli.chosen_server import server
from service.cli.connection import file_places, same
from service.cli.printing.evidence import shown_kind, shown_proof_short, shown_rate, shown_time
from service.cli.printing.output import CONSOLE, print_json, text_table
from service.errors import NotFound, Unavailable
from service.row_mapping import config_line
from service.schemas import to_problem
from xetune_client import Client, models

_PAGE = 200


def files_of(client: Client, kernel: models.KernelOut | None, output: Path | None) -> dict[str, str]:
    """Return the locations of a kernel's files, copied to `output` if given.

    Raises:
        NotFound: files are requested, and no stored kernel runs the problem.
    """
    if kernel is None:
        if output is not None:
            raise NotFound("no kernel is stored that runs the problem, so there are no files to copy: tune it first")
        return {}
    return file_places(kernel) if output is None else copy_files(client, kernel, output)


def newest(client: Client, device: str | None, limit: int) -> list[KernelOut]:
    """Return up to `limit` kernels, newest first."""
    found: list[UUID] = []
    before: UUID | None = None
    while True:
        page = client.kernels(device=device, before=before, limit=min(limit - len(found), _PAGE))
        found, before = [*found, *(line.id for line in page.kernels)], page.next_before
        if before is None or len(found) >= limit:
            return [same(KernelOut, client.kernel(kernel_id)) for kernel_id in found]  # a line has not all


def print_list(listed: list[KernelOut], as_json: bool) -> None:
    """Print kernels."""
    if as_json:
        print_json({"kernels": [kernel.model_dump(mode="json") for kernel in listed]})
    elif not listed:
        CONSOLE.print("No kernels yet. Tune a problem: xetune tune --m 512 --n 384 --k 1024 --dtype f16")
    else:
        CONSOLE.print(_table(listed))


def _table(listed: list[KernelOut]) -> Table:
    kernel_id = Column("kernel", min_width=36, overflow="fold")  # an id is whole
    table = text_table(kernel_id, Column("time (spread)"), Column("numbers"), spaced=True)
    for kernel in listed:
        time = kernel.evidence.time
        rate = "" if kernel.tflops is None else f"\n{shown_rate(kernel.tflops)}"
        table.add_row(
            f"{kernel.id}\n{to_problem(kernel.problem)}\n{kernel.device}",
            "none" if time is None else f"{shown_time(time)}\n{shown_kind(time)}{rate}",
            shown_proof_short(kernel.evidence) if kernel.reason is None else f"{kernel.status}: {kernel.reason}",
        )
    return table


def copy_files(client: Client, kernel: models.KernelOut, folder: Path) -> dict[str, str]:
    """Write the files of a kernel under their names; return their paths by name.

    Raises:
        Unavailable: a name from the service is not a plain file name.
    """
    if strange := [artifact.name for artifact in kernel.artifacts if not is_plain_name(artifact.name)]:
        raise Unavailable(
            f"kernel {kernel.id} has a file called {strange[0]!r}, which is not a plain file name; nothing was written"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for artifact in kernel.artifacts:
        write_atomically(folder / artifact.name, client.artifact(artifact.sha256))
    return {artifact.name: str(folder / artifact.name) for artifact in kernel.artifacts}


def show(found: LookupOut, files: dict[str, str], as_json: bool) -> None:
    """Print the answer of a lookup, with the files of its kernel."""
    if as_json:
        print_json(found.model_dump(mode="json") | {"files": files})
        return
    if found.kernel is not None:
        CONSOLE.print(_table([found.kernel]))
    for line in _what_is_what(found):
        CONSOLE.print(line, highlight=False, soft_wrap=True, markup=False)
    for name, path in files.items():
        CONSOLE.print(f"  {name:13} {path}", highlight=False, soft_wrap=True)


def _what_is_what(found: LookupOut) -> Iterator[str]:
    trust = found.confidence
    yield f"source: {found.source}, confidence {trust.level} ({trust.value:.2f}: {'; '.join(trust.reasons)})"
    if found.kernel is None:
        yield f"configuration: {config_line(found.model_dump(mode='json')['config'])}"
    yield f"time: {found.time_text}"
    if found.stale:
        yield f"stale: {'; '.join(found.stale)}"
    if found.elsewhere is not None:
        near = found.elsewhere
        yield f"carried over from {to_problem(near.problem)}, trial {near.trial} of job {near.job}"
        if found.kernel is not None:
            steps = found.model_dump(mode="json")["launch"]["steps"]
            yield f"its launch here: {', '.join(_shown_step(step) for step in steps)}"
    kernel = found.kernel
    if kernel is not None and kernel.prediction_error is not None and kernel.predicted is not None:
        predicted = f"{shown_time(kernel.predicted)} that {kernel.predicted.label} predicted"
        yield f"{kernel.prediction_error:.2f} times the {predicted}"
    if kernel is not None and kernel.origin is not None:
        yield f"compiled by {kernel.origin}, not here"
    if found.unmeasured:
        several = "configurations are" if found.unmeasured > 1 else "configuration is"
        yield f"{found.unmeasured} {several} predicted faster and not measured: `xetune export --runners-up`"
    if found.job is not None:
        resumes = "runs it here" if server() is None else "follows it"
        yield f"job {found.job} is queued for a worker; `xetune jobs resume {found.job}` {resumes}"
    elif found.next:
        yield f"`xetune tune` {found.next[0].why.removesuffix('; its best kernel is then served here')}"


def _shown_step(step: Mapping[str, object]) -> str:
    return f"{step['kernel']} of global size {step['global_size']}"
