"""Import of an uploaded file of any format: read and checked, then written in portions, and completed at last."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from sqlalchemy.orm import Session

from codegen import GemmProblem
from db.session import Database
from hal import ListedDevice
from service.api.exchange import (
    importing,
    measuring,
    recording,
)
from service.api.exchange.importing import Checked
from service.api.exchange.measuring import MeasureRequest
from service.api.exchange.recording import Recorded
from service.api.exchange.schemas import ImportOut, ImportQuery
from service.api.jobs.requests import check_budget, submit
from service.api.keys.caller import Caller
from service.api.keys.scope import Scope
from service.api.keys.scope_check import check_scope
from service.artifacts import StorageError
from service.errors import BadRequest, FieldError, Unavailable
from service.http.context import Context
from service.schemas import check_size
from service.settings import Settings
from tuner.errors import InvalidLine, TunerError
from tuner.exchange.file_format import Format
from tuner.exchange.formats import File, open_file, results_of, specification_of
from tuner.exchange.jsonl import read_lines

_NAME = "the file"


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Options of an import request: format, problem, device and origin.

    `seconds` is the longest run of each job that measures what the file lists.
    """

    format: Format | None
    problem: GemmProblem | None
    device: str | None
    origin: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Queued:
    """Configurations of a file to measure, by problem and device."""

    asked: tuple[MeasureRequest, ...]
    format: Format
    origin: str


def receive(path: Path, query: ImportQuery, context: Context, by: Caller) -> Checked | Recorded | Queued:
    """Read and check a file, and write its rows; `take_in` completes them. Raises as `read_file` and `write`."""
    options = ImportOptions(query.format, query.problem(), query.device, query.origin, query.seconds)
    read = read_file(path, options, context, by)
    write(context.database, read)
    return read


def read_file(path: Path, options: ImportOptions, context: Context, by: Caller) -> Checked | Recorded | Queued:
    """Read a file and check everything that needs no transaction.

    Raises:
        Forbidden: rule `scope`: it brings kernels and their times, which lookups would serve.
        BadRequest: rule `import`: it is not what its format says, a missing option; or a budget.
        Unavailable: the files of its kernels cannot be kept.
        Refused: a rule refuses a problem on its device.
    """
    try:
        file = open_file(path, options.format, context.settings.max_import_bytes)
        match file.format:
            case Format.JSONL:
                return _lines(path, options, context, by)
            case Format.T1:
                specification = specification_of(file)
                _check_count(len(specification.configurations), context.settings)
                space = measuring.understand_space(
                    _NAME, specification, _listed(context), options.device, options.seconds
                )
                return _queued([space], file.format, _NAME, context.settings)
            case _:
                return _recorded(file, options, context)
    except TunerError as error:
        raise refused(error, path) from error
    except StorageError as error:
        raise Unavailable(str(error), rule="artifact-files") from error


def write(database: Database, read: Checked | Recorded | Queued) -> None:
    """Write the rows of what was read in portions, so that other writers do not wait for the whole file.

    Raises:
        BadRequest: rule `import`: it contradicts what was stored since it was read.
    """
    match read:
        case Checked():
            try:
                importing.write(database, read)
            except InvalidLine as error:
                message = f"{error}; the lines before it may be imported, and the same import adds no line twice"
                raise BadRequest(message, rule="import") from error
        case Recorded():
            recording.write(database, read)
        case Queued():
            pass


def take_in(session: Session, read: Checked | Recorded | Queued, by: Caller, settings: Settings) -> ImportOut:
    """Complete what was written, or queue the jobs, with the events in the audit log.

    Raises:
        TooMany: the limit of active jobs is reached.
    """
    match read:
        case Checked():
            return importing.add(session, read, by)
        case Recorded():
            return recording.add(session, read, by)
        case Queued():
            return _queue(session, read, by, settings.max_active_jobs)


def refused(error: TunerError, path: Path) -> BadRequest:
    """Return the error for an invalid file, without its name: that of a request is a temporary one."""
    named, message = f"{path.name}: ", str(error)
    if message.startswith(named):
        message = f"{_NAME}: {message.removeprefix(named)}"
    return BadRequest(f"{message}; nothing of the file is imported", rule="import")


def _lines(path: Path, options: ImportOptions, context: Context, by: Caller) -> Checked | Queued:
    with path.open("rb") as stream:
        exchange = read_lines(stream)
    count = len(exchange.trials) + len(exchange.candidates) + len(exchange.tuner_records)
    _check_count(count, context.settings)
    if exchange.candidates and not exchange.trials and not exchange.tuner_records:
        _check_not_given(options.problem, None)
        asked = measuring.understand(exchange, _listed(context), options.device, options.seconds)
        return _queued(asked, Format.JSONL, options.origin or exchange.header.origin, context.settings)
    # Others run what lookups answer; what the other formats bring is measured here before it is served, or never is.
    check_scope(context, by, Scope.ADMIN, "POST /v1/imports", "the import of kernels and times that lookups serve")
    _check_not_given(options.problem, options.device)
    return importing.check(
        exchange,
        context.database,
        context.artifacts,
        lambda name: _listed(context)(name).spec,
        options.origin,
        context.settings,
    )


def _check_not_given(problem: GemmProblem | None, device: str | None) -> None:
    said = next((name for name, value in (("m", problem), ("device", device)) if value is not None), None)
    if said is not None:
        message = "JSON lines say the problem and the device themselves: leave them out"
        raise BadRequest(message, rule="import", errors=[FieldError(field=said, message=message)])


def _recorded(file: File, options: ImportOptions, context: Context) -> Recorded:
    results = results_of(file)
    _check_count(len(results.tried), context.settings)
    source = results.source
    problem, device = options.problem, None if options.device is None else _listed(context)(options.device).spec
    if source is None:
        if problem is None:
            raise _lacking("m", "the file does not say the problem: give m, n, k and types")
        if device is None:
            raise _lacking("device", "the file does not say which device of this program it is of: give device")
    else:
        if problem not in (None, source.problem):
            raise _lacking("m", f"the file is of {source.problem}: leave m, n, k and what goes with them out")
        if device is not None and device.id != source.device:
            raise _lacking("device", f"the file is of {source.device}: leave device out")
        problem, device = source.problem, device or _listed(context)(source.device).spec
    check_size(problem, context.settings)
    origin = options.origin or ("a request" if source is None else source.origin)
    return recording.check(results, file.format, problem, device, origin)


def _check_count(count: int, settings: Settings) -> None:
    if count > settings.max_import_configurations:
        raise BadRequest(
            f"expected at most {settings.max_import_configurations} configurations in a file, got {count}; divide it",
            rule="import",
        )


def _lacking(field: str, message: str) -> BadRequest:
    return BadRequest(message, rule="import", errors=[FieldError(field=field, message=message)])


def _queued(asked: list[MeasureRequest], format: Format, origin: str, settings: Settings) -> Queued:
    for each in asked:
        check_size(each.job.problem, settings)
        check_budget(each.job.budget, settings)
    return Queued(tuple(asked), format, origin)


def _queue(session: Session, read: Queued, by: Caller, max_active: int) -> ImportOut:
    queued: list[UUID] = []
    for each in read.asked:
        job, _ = submit(session, each.job, max_active, by, configs=each.configs)
        queued.append(job.id)
    configurations = sum(len(each.configs) for each in read.asked)
    return ImportOut(format=read.format, origin=read.origin, configurations=configurations, queued=queued)


def _listed(context: Context) -> Callable[[str], ListedDevice]:
    return lambda name: context.devices.resolve(name, None)
