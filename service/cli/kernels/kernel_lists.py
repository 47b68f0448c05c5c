"""Kernels and answers of lookups as text, and their files."""

from __future__ import annotations

import shlex
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from rich.table import Column, Table

from codegen.artifact.files import is_plain_name, write_atomically
from service.api.kernels.list_schemas import KernelLine, KernelPage
from service.api.keys.caller import COMMAND_LINE
from service.cli.access.chosen_server import server
from service.cli.access.connection import file_places
from service.cli.access.opening import Access
from service.cli.access.resource import Action, Asked, Done, File, FileResource, Resource, checked, stored
from service.cli.printing.evidence import known_lines, shown_files, shown_proof_short, shown_rate, shown_time
from service.cli.printing.output import CONSOLE, number_column, print_json, print_line, print_wrapped, text_table
from service.errors import NotFound, Unavailable
from service.gemm_json import config_line
from service.job_summary import Basis, known_by
from service.schemas import Evidence, ProblemBody, to_problem
from service.text.problem_options import SIZES, problem_words
from service.text.short_ids import short_ids
from service.text.times import shown_us
from xetune_client.errors import NotFound as Missing

if TYPE_CHECKING:
    from service.api.hostcode.languages import Language
    from service.api.kernels.lookup.schemas import LookupOut
    from service.api.kernels.schemas import KernelOut, LookupBody
    from service.http.context import Context
    from xetune_client import models

    AnyKernel = KernelOut | models.KernelOut

_PAGE = 200
_HASH = 16  # digits of a hash


def files_of(access: Access, kernel: AnyKernel | None, output: Path | None) -> dict[str, str]:
    """Return the locations of a kernel's files, copied to `output` if given.

    Raises:
        NotFound: files are requested, and no stored kernel runs the problem.
    """
    if kernel is None:
        if output is not None:
            raise NotFound("no kernel is stored that runs the problem, so there are no files to copy: tune it first")
        return {}
    return file_places(kernel) if output is None else copy_files(access, kernel, output)


def _page(context: Context, asked: Asked) -> KernelPage:
    from service.api.kernels.listing import KernelQuery, list_kernels

    query = checked(KernelQuery, asked)
    with context.database.read() as session:
        return list_kernels(session, query)


KERNELS = Resource("/v1/kernels/stored", KernelPage, _page)


def kernel_of(kernel_id: UUID) -> Resource[KernelOut]:
    """Return the resource of a kernel."""
    # Imported here: a table needs no whole kernel.
    from service.api.kernels.schemas import KernelOut

    return stored(f"/v1/kernels/{kernel_id}", KernelOut, "service.api.kernels.service:read_kernel", kernel_id)


def host_code_of(kernel_id: UUID, language: Language) -> FileResource:
    """Return the resource of a program that runs a kernel."""

    def read(context: Context, _: Asked) -> File:
        from service.api.hostcode.service import read_host_code

        with context.database.read() as session:
            return File(read_host_code(session, kernel_id, language).encode(), {})

    return FileResource(f"/v1/kernels/{kernel_id}/host-code/{language.value}", read)


def lookup_of(body: LookupBody) -> Action[LookupOut]:
    """Return the action that looks the kernel for a problem up."""
    from service.api.kernels.lookup.schemas import LookupOut

    def look_up(context: Context) -> Done[LookupOut]:
        from service.api.kernels.lookup.answers import Wanted, answer_one, on_driver

        answer = answer_one(context, Wanted(to_problem(body.problem), body.device, body.target))
        found = on_driver(answer, body.driver)
        if not found.source.is_reason_for(body.tune):
            return Done(found)
        from service.api.kernels.lookup.tuning import with_job

        return Done(with_job(context, COMMAND_LINE, body, found))

    return Action("/v1/kernels/lookup", body, LookupOut, look_up)


def print_newest(access: Access, device: str | None, limit: int, *, every: bool, as_json: bool) -> None:
    """Print up to `limit` kernels, newest first: those that won a job, or `every` one."""
    lines = _newest(access, limit, device=device, winners=not every)
    if as_json:  # a line has not all
        print_json({"kernels": [access.read(kernel_of(line.id)).model_dump(mode="json") for line in lines]})
    elif lines:
        CONSOLE.print(_table([_Row.of_line(line) for line in lines]))
    elif not every and _newest(access, 1, device=device):
        print_wrapped("No kernel won a job yet; `xetune kernels list --all` lists those that were compiled.")
    elif device is not None:
        print_wrapped(f"No such kernels for {device}; `xetune devices` lists the ids of devices, which are expected.")
    else:
        print_wrapped("No kernels yet. Tune a problem: `xetune tune 512x384x1024 --dtype f16`")


def _newest(access: Access, limit: int, **said: str | bool | None) -> list[KernelLine]:
    found: list[KernelLine] = []
    before: UUID | None = None
    while True:
        page = access.read(KERNELS, {**said, "before": before, "limit": min(limit - len(found), _PAGE)})
        found, before = found + page.kernels, page.next_before
        if before is None or len(found) >= limit:
            return found


def elsewhere(access: Access, problem: ProblemBody) -> list[str]:
    """Return a line for each other device with a kernel of a problem: its id, time and kernel."""
    names = ("m", "n", "k", "batch", "dtype_a", "dtype_b", "dtype_c", "dtype_acc")
    sizes = {name: getattr(problem, name) for name in names}
    lines = [line for line in _newest(access, _PAGE, winners=True, **sizes) if line.problem == problem]
    timed = [(line.evidence.time, line) for line in lines if line.evidence.time is not None and line.withdrawn is None]
    best, short = dict[str, str](), short_ids(line.id for line in lines)
    for time, line in sorted(timed, key=lambda each: (each[0].kind, each[0].value)):
        best.setdefault(
            line.device, f"{line.device}: {shown_us(time.value)}, {known_by(time)}, kernel {short[line.id]}"
        )
    return list(best.values())


@contextmanager
def naming_others(access: Access, problem: ProblemBody) -> Generator[None]:
    """Name what other devices hold for a problem if a device has no kernel for it."""
    try:
        yield
    except (Missing, NotFound) as error:
        if others := elsewhere(access, problem):
            raise NotFound(f"{error.detail}; held for other devices: {'; '.join(others)}") from error
        raise


@dataclass(frozen=True, slots=True)
class _Row:
    """A kernel in a table; `state` is shown in place of its verification if it has no time."""

    id: UUID
    problem: ProblemBody
    device: str
    config: dict[str, object]
    evidence: Evidence
    tflops: float | None
    state: str | None

    @classmethod
    def of_line(cls, line: KernelLine | KernelOut) -> _Row:
        config = line.model_dump(mode="json")["config"]
        state = None if line.reason is None else f"{line.status}: {line.reason}"
        return cls(line.id, line.problem, line.device, config, line.evidence, line.tflops, state)


def _table(rows: list[_Row]) -> Table:
    table = text_table(Column("kernel", no_wrap=True), "problem", Column("time"), Column("numbers"), spaced=True)
    short = short_ids(row.id for row in rows)
    for row in rows:
        time = row.evidence.time
        rate = "" if row.tflops is None else f"\n{shown_rate(row.tflops)}"
        table.add_row(
            short[row.id],
            f"{to_problem(row.problem)}\n{row.device}\n{config_line(row.config)}",
            "none"
            if time is None
            else "\n".join([shown_time(time), *known_lines(time, Basis[time.basis.upper()].value)]) + rate,
            shown_proof_short(row.evidence) if row.state is None else row.state,
        )
    return table


def copy_files(access: Access, kernel: AnyKernel, folder: Path) -> dict[str, str]:
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
        write_atomically(folder / artifact.name, access.artifact(artifact.sha256))
    return {artifact.name: str(folder / artifact.name) for artifact in kernel.artifacts}


def print_files(files: Mapping[str, str], kernel_id: UUID | None, output: Path | None) -> None:
    """Print where files are that were copied to `output`; else their names, and what copies them."""
    if output is not None:
        for line in shown_files(files):
            print_line(line)
    elif kernel_id is not None:
        copies = f"`xetune kernels files {short_ids([kernel_id])[kernel_id]} -o DIR` copies them"
        print_wrapped(f"  files    {', '.join(files)}; {copies}", indent="           ")


def table_of_files(kernel: AnyKernel) -> Table:
    """Return the files of a kernel as a table."""
    table = text_table("file", number_column("bytes"), "SHA-256")
    for artifact in kernel.artifacts:
        table.add_row(artifact.name, f"{artifact.size:,}", artifact.sha256[:_HASH])
    return table


def print_artifacts(kernel: AnyKernel) -> None:
    """Print the files of a kernel, and what copies them."""
    CONSOLE.print(table_of_files(kernel))
    print_line(f"copy them: xetune kernels files {short_ids([kernel.id])[kernel.id]} -o DIR")


def show(
    found: LookupOut, files: dict[str, str], as_json: bool, output: Path | None = None, others: Sequence[str] = ()
) -> None:
    """Print the answer of a lookup, with the files of its kernel, copied to `output` or not, and what `others` hold."""
    if as_json:
        print_json(found.model_dump(mode="json") | {"files": files})
        return
    if found.kernel is not None:
        CONSOLE.print(_table([_Row.of_line(found.kernel)]))
        print_line(f"kernel: {found.kernel.id}")
    for line in _what_is_what(found):
        print_wrapped(line, indent="  ")
    for line in others:
        print_wrapped(f"held for another device: {line}", indent="  ")
    print_files(files, None if found.kernel is None else found.kernel.id, output)


def _what_is_what(found: LookupOut) -> Iterator[str]:
    # Imported here: a list needs nothing of lookups.
    from service.api.kernels.lookup.schemas import JOBS

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
    for binary in [] if kernel is None else kernel.binaries:
        yield f"native binary: {binary.name}, {'; '.join(binary.stale) or f'driver {binary.driver}'}"
    if found.unmeasured:
        several = "configurations are" if found.unmeasured > 1 else "configuration is"
        yield f"{found.unmeasured} {several} predicted faster and not measured: `xetune export --runners-up`"
    if found.job is not None:
        resumes = "runs it here" if server() is None else "follows it"
        yield f"job {found.job} is queued for a worker; `xetune jobs resume {found.job}` {resumes}"
    for job in found.next if found.job is None else ():
        if job.href == JOBS:
            yield f"`{_tuned_by(job.body)}` {job.why.removesuffix('; its best kernel is then served here')}"
    if found.faster is not None:
        faster = config_line(found.model_dump(mode="json")["faster"]["config"])
        yield f"faster, to be compiled: {faster} ({found.faster.why})"
    if found.untunable is not None:
        yield f"cannot be tuned here: {found.untunable.detail}"


def _tuned_by(body: Mapping[str, object]) -> str:
    """Return the command that starts the job of a request."""
    problem = to_problem(ProblemBody.model_validate(body["problem"]))
    sizes = (str(getattr(problem, name)) for name in SIZES)
    return shlex.join(["xetune", "tune", *sizes, *problem_words(problem), "--device", str(body["device"])])


def _shown_step(step: Mapping[str, object]) -> str:
    return f"{step['kernel']} of global size {step['global_size']}"
