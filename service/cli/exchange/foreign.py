"""Import and export of other file formats: one job or recording out, one recording in."""

import sys
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from uuid import UUID

from codegen import GemmProblem
from codegen.artifact.files import write_named
from service.api.exchange.schemas import ImportOut
from service.cli.access.opening import Access
from service.cli.exchange.exporting import EXPORT
from service.cli.exchange.importing import import_of
from service.cli.exchange.recording_tables import one
from service.cli.ids import find_job, find_recording
from service.cli.options.naming import told_by_options
from service.cli.printing.counted import counted
from service.cli.printing.output import ERRORS, print_json, print_line
from service.errors import BadRequest
from service.http.problem_query import to_query
from service.schemas import to_problem
from tuner.exchange.file_format import Format
from tuner.exchange.formats import File, open_file, results_of, specification_of

_OPTIONS = MappingProxyType({"m": "--m, --n and --k", "device": "--device", "origin": "--origin"})


@dataclass(frozen=True, slots=True)
class Said:
    """Options for what a file may lack: the problem, the device, or a T1 file with both."""

    problem: GemmProblem | None = None
    device: str | None = None
    spec: Path | None = None


def export(
    access: Access, format: Format, job: str | None, recording: str | None, origin: str | None, output: Path | None
) -> None:
    """Write a job or a recording, named as `find_id` takes it, in a format other than JSON lines.

    Raises:
        BadRequest: not exactly one of both, or the format is JSON lines.
    """
    if (job is None) == (recording is None) or format is Format.JSONL:
        raise BadRequest("expected one --job or --recording with --format kernel-tuner, t1 or t4")
    of_job = None if job is None else find_job(access, job)
    of_recording = None if recording is None else find_recording(access, recording)
    file = access.fetch(EXPORT, {"format": format, "job": of_job, "recording": of_recording, "origin": origin})
    configurations, left_out = (int(file.headers.get(name, "0")) for name in ("configurations", "left-out"))
    if output is None:
        sys.stdout.write(file.content.decode())
    else:
        write_named(output, file.content)
        print_line(f"{counted(configurations, 'configuration')} written to {output}")
    if left_out:
        print_line(
            f"{counted(left_out, 'trial')} left out, predicted or with the time of another job: the format "
            "holds what the job measured; --format jsonl holds all",
            ERRORS,
        )


def import_file(access: Access, path: Path, file: File, said: Said, origin: str | None) -> ImportOut:
    """Import a file of any format; `said` adds what it lacks.

    Raises:
        BadRequest: the problem or the device is missing, or contradicts the file.
        InvalidFile: the file is not what its format says.
    """
    if file.format is Format.T1 and said != Said(device=said.device):
        raise BadRequest(f"{file.name} says the problem itself: leave the options of the problem and --spec out")
    spec = None if said.spec is None else specification_of(open_file(said.spec)).source
    problem = said.problem if spec is None or said.problem is not None else spec.problem
    device = said.device if spec is None or said.device is not None else spec.device
    if file.format in (Format.KERNEL_TUNER, Format.T4) and results_of(file).source is None:
        origin = origin or (file.name if spec is None else spec.origin)
    asked = {} if problem is None else to_query(problem)
    with told_by_options(_OPTIONS):
        action = import_of(path, {"format": file.format, "device": device, "origin": origin, **asked})
        return access.do(action).answer


def tell_recording(access: Access, recording: UUID, done: ImportOut, name: str, *, as_json: bool) -> None:
    """Print the id of the recording with the results of a file."""
    for note in done.notes:
        print_line(f"{name}: {note}", ERRORS)
    if as_json:
        counts = {"configurations": done.configurations, "timed": done.timed}
        print_json({"recording": str(recording), "new": not done.known, "origin": done.origin, **counts})
        return
    found = one(access, recording, limit=1)
    problem = to_problem(found.problem)
    what = f"{counted(done.configurations, 'configuration')} of {problem} on {found.device}, {done.timed} with a time"
    if done.known:
        print_line(f"{what}: here before, as recording {recording}")
    else:
        print_line(
            f"{what}: imported from {done.origin} as recording {recording}; measured elsewhere, not verified here"
        )
