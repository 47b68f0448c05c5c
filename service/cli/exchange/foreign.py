"""Files of other formats at the command line: one job or recording out, one recording in."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar
from uuid import UUID

from codegen import GemmProblem
from db.queries import recordings
from hal import resolve_device
from service.api.audit.log import record
from service.api.exchange import foreign
from service.api.exchange.foreign import Written
from service.api.keys.caller import COMMAND_LINE
from service.cli.backend.stored import Stored, stored
from service.cli.printing.counted import counted
from service.cli.printing.output import ERRORS, print_json, print_line
from service.errors import BadRequest, Conflict, NotFound
from service.files import write_atomically
from tuner.exchange.formats import File, Format, open_file, results_of, specification_of
from tuner.exchange.kernel_tuner import to_cache
from tuner.exchange.results import Results, Source
from tuner.exchange.t1 import to_t1
from tuner.exchange.t4 import to_t4


@dataclass(frozen=True, slots=True)
class Said:
    """What the command line says of a file: the problem, the device, and a T1 file that says both."""

    problem: GemmProblem | None = None
    device: str | None = None
    spec: Path | None = None


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


D = TypeVar("D", bound=_Identified)


@dataclass(frozen=True, slots=True)
class Known(Generic[D]):
    """Results with their problem, their device and the name of the place that they are from."""

    results: Results
    problem: GemmProblem
    device: D
    origin: str


def check_choice(format: Format, job: UUID | None, recording: UUID | None) -> None:
    """Return when one job or recording is chosen, and another format than JSON lines.

    Raises:
        BadRequest: it is not so.
    """
    if (job is None) == (recording is None) or format is Format.JSONL:
        raise BadRequest("expected one --job or --recording with --format kernel-tuner, t1 or t4")


def export(format: Format, job: UUID | None, recording: UUID | None, origin: str, output: Path | None) -> None:
    """Write a job or a recording in one of the formats.

    Raises:
        BadRequest: not one of both, or the format cannot hold it.
        NotFound, Conflict: it is not there, not over, or measured nothing.
    """
    check_choice(format, job, recording)
    with stored() as store:
        written = _read(store, job, recording, origin)
    text = json.dumps(_document(format, written), indent=1, allow_nan=False) + "\n"
    write(text.encode(), len(written.results.tried), written.left_out, output)


def write(content: bytes, configurations: int, left_out: int, output: Path | None) -> None:
    """Write a file of another format where it is to go, and say how much of a job it holds."""
    if output is None:
        sys.stdout.write(content.decode())
    else:
        write_atomically(output, content)
        print_line(f"{counted(configurations, 'configuration')} written to {output}")
    if left_out:
        ERRORS.print(
            f"{counted(left_out, 'trial')} left out, predicted or with the time of another job: the format "
            "holds what the job measured; --format jsonl keeps all",
            highlight=False,
            soft_wrap=True,
        )


def take_in(file: File, said: Said, origin: str | None, *, as_json: bool) -> None:
    """Keep the results of a file as a recording.

    Raises:
        BadRequest: neither the file nor the command line says the problem or the device, or they contradict.
        InvalidFile: the file is not what its format says, or not of this program's configurations.
    """
    if file.format is Format.T1:
        raise BadRequest(
            f"{file.name} is a T1 file, which holds no results: `xetune import RESULTS --spec` reads it, "
            "`xetune measure` measures what it lists"
        )
    known = known_of(file, said, origin, lambda name: resolve_device(name).spec)
    results, problem, spec, place = known.results, known.problem, known.device, known.origin
    with stored() as store, store.database.write() as session:
        recording, is_new = foreign.take_in(session, results, file.format, problem, spec, place)
        if is_new:
            record(session, COMMAND_LINE, "import", recording.id)
    tell(known, file.name, recording.id, recording.origin, is_new=is_new, as_json=as_json)


def known_of(file: File, said: Said, origin: str | None, find: Callable[[str], D]) -> Known[D]:
    """What a file of results and the command line say together; `find` finds a device by its name.

    Raises:
        BadRequest: neither says the problem or the device, or they contradict.
        InvalidFile: the file is not what its format says.
    """
    results = results_of(file)
    source = results.source or (None if said.spec is None else specification_of(open_file(said.spec)).source)
    place = origin or (file.name if source is None else source.origin)
    return Known(results, _problem(file, said, source), _device(file, said, source, find), place)


def tell(known: Known[D], name: str, recording: UUID | None, origin: str, *, is_new: bool, as_json: bool) -> None:
    """Say as which recording the results of a file of that name are kept."""
    results = known.results
    for note in results.notes:
        ERRORS.print(f"{name}: {note}", highlight=False, soft_wrap=True)
    timed = sum(tried.times is not None for tried in results.tried)
    if as_json:
        counts = {"configurations": len(results.tried), "timed": timed}
        print_json({"recording": str(recording), "new": is_new, "origin": origin, **counts})
        return
    what = (
        f"{counted(len(results.tried), 'configuration')} of {known.problem} on {known.device.id}, {timed} with a time"
    )
    if is_new:
        print_line(f"{what}: imported from {origin} as recording {recording}; measured elsewhere, not proven here")
    else:
        print_line(f"{what}: here before, as recording {recording}")


def _read(store: Stored, job: UUID | None, recording: UUID | None, origin: str) -> Written:
    with store.database.read() as session:
        if job is not None:
            return foreign.of_job(session, job, origin)
        assert recording is not None  # one of both
        found = recordings.get(session, recording)
        if found is None:
            raise NotFound(f"recording {recording} does not exist; `xetune recordings` lists those that do")
        return foreign.of_recording(found)


def _document(format: Format, written: Written) -> dict[str, object]:
    if format is Format.KERNEL_TUNER:
        return to_cache(written.results)
    if format is Format.T4:
        return to_t4(written.results)
    if written.launch is None:
        raise Conflict(
            "a T1 file says how a kernel is launched on a GPU: expected a job with a best kernel of one, got none"
        )
    return to_t1(written.results, written.launch)


def _problem(file: File, said: Said, source: Source | None) -> GemmProblem:
    if source is None and said.problem is None:
        raise BadRequest(f"{file.name} does not say the problem: give --m, --n, --k and types, --problem or --spec")
    if source is not None and said.problem not in (None, source.problem):
        raise BadRequest(f"{file.name} is of {source.problem}: leave the options of the problem out")
    found = said.problem if source is None else source.problem
    assert found is not None  # one of both
    return found


def _device(file: File, said: Said, source: Source | None, find: Callable[[str], D]) -> D:
    named = None if said.device is None else find(said.device)
    if source is None and named is None:
        raise BadRequest(f"{file.name} does not say which device of this program it is of: give --device")
    if source is not None and named is not None and named.id != source.device:
        raise BadRequest(f"{file.name} is of {source.device}: leave --device out")
    if named is not None:
        return named
    assert source is not None  # one of both
    return find(source.device)
