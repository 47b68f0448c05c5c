"""Files of results to and from a service, in every format."""

from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from service.api.exchange.schemas import ImportOut
from service.cli.backend.chosen import of_service
from service.cli.exchange import foreign
from service.cli.exchange.foreign import Said
from service.cli.exchange.lines import write
from service.cli.printing.counted import counted
from service.cli.printing.output import CONSOLE, print_json
from service.errors import BadRequest
from service.http.problem_query import to_query
from tuner.exchange.formats import File, Format

if TYPE_CHECKING:
    from xetune_client.calls import Query


def export_lines(url: str, query: "Query", output: Path | None) -> None:
    """Write results of a service as JSON lines."""
    with of_service(url) as remote:
        lines = remote.export_results(query).content
    chosen = any(value is not None for name, value in query.items() if name not in ("limit", "origin", "runners_up"))
    write(lines, output, chosen=chosen and not query.get("runners_up"))


def export(
    url: str, format: Format, job: UUID | None, recording: UUID | None, origin: str | None, output: Path | None
) -> None:
    """Write a job or a recording of a service in one of the other formats.

    Raises:
        BadRequest: not one of both, or the format cannot hold it.
        NotFound, Conflict: it is not there, not over, or measured nothing.
    """
    foreign.check_choice(format, job, recording)
    with of_service(url) as remote:
        found = remote.export_results({"format": format, "job": job, "recording": recording, "origin": origin})
    foreign.write(found.content, found.configurations, found.left_out, output)


def take_in_lines(url: str, lines: bytes, device: str | None, origin: str | None) -> ImportOut:
    """Let a service take in JSON lines; runners-up are measured on `device` in place of the one that they name."""
    with of_service(url) as remote:
        return remote.import_results(lines, {"device": device, "origin": origin})


def take_in(url: str, path: Path, file: File, said: Said, origin: str | None, *, as_json: bool) -> None:
    """Let a service keep the results of a file as a recording, or measure what a T1 file lists.

    Raises:
        BadRequest: neither the file nor the command line says the problem or the device, or they contradict.
        InvalidFile: the file is not what its format says.
    """
    with of_service(url) as remote:
        if file.format is Format.T1:
            if said != Said(device=said.device):
                raise BadRequest(
                    f"{file.name} says the problem itself: leave the options of the problem and --spec out"
                )
            query: Query = {"format": file.format, "device": said.device, "origin": origin}
            tell_queued(remote.import_results(path.read_bytes(), query), as_json=as_json)
            return
        known = foreign.known_of(file, said, origin, remote.read_device)
        told: Query = {"format": file.format, "device": known.device.id, "origin": known.origin}
        done = remote.import_results(path.read_bytes(), {**told, **to_query(known.problem)})
    foreign.tell(known, file.name, done.recording, done.origin, is_new=not done.known, as_json=as_json)


def tell_queued(done: ImportOut, *, as_json: bool) -> None:
    """Say which jobs measure what a file lists."""
    if as_json:
        print_json({"queued": [str(job) for job in done.queued], "configurations": done.configurations})
        return
    for job in done.queued:
        CONSOLE.print(f"job {job} is queued: `xetune jobs show {job}`", highlight=False, soft_wrap=True)
    CONSOLE.print(
        f"{counted(done.configurations, 'configuration')} to be measured by the service's workers",
        highlight=False,
        soft_wrap=True,
    )
