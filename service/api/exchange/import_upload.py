"""Import of an uploaded file of any format: read and checked before the transaction, added within it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from sqlalchemy.orm import Session

from codegen import GemmProblem
from db.queries import jobs
from db.schema import ACTIVE_STATUSES
from hal import DeviceSpec, ListedDevice
from service.api.audit.log import record
from service.api.exchange import (
    foreign,
    importing,
    measuring,
)
from service.api.exchange.importing import Checked
from service.api.exchange.measuring import Asked
from service.api.exchange.schemas import ImportOut
from service.api.keys.callers import Caller
from service.api.keys.guard import check_scope
from service.api.keys.scopes import Scope
from service.artifacts import StorageError
from service.errors import BadRequest, FieldError, TooMany, Unavailable
from service.http.deps import Context
from service.schemas import check_size
from service.settings import Settings
from tuner.errors import TunerError
from tuner.exchange.formats import File, Format, open_file, results_of, specification_of
from tuner.exchange.jsonl import read_lines
from tuner.exchange.results import Results

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
class Recorded:
    """Checked results of a Kernel Tuner cache or T4 file, to be stored as a recording."""

    results: Results
    format: Format
    problem: GemmProblem
    device: DeviceSpec
    origin: str


@dataclass(frozen=True, slots=True)
class Queued:
    """Configurations of a file to measure, by problem and device."""

    asked: tuple[Asked, ...]
    format: Format
    origin: str


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
                space = measuring.understand_space(
                    _NAME, specification_of(file), _listed(context), options.device, options.seconds
                )
                return _queued([space], file.format, _NAME, context.settings)
            case _:
                return _recorded(file, options, context)
    except TunerError as error:
        raise refused(error, path) from error
    except StorageError as error:
        raise Unavailable(str(error), rule="artifact-files") from error


def take_in(session: Session, read: Checked | Recorded | Queued, by: Caller, settings: Settings) -> ImportOut:
    """Add what was read, with its events in the audit log.

    Raises:
        TunerError: it contradicts what is stored, or holds configurations that are not XeTune's.
        TooMany: the limit of active jobs is reached.
    """
    match read:
        case Checked():
            return _results(importing.add(session, read, by))
        case Recorded():
            return _recording(session, read, by)
        case Queued():
            return _jobs(session, read, by, settings.max_active_jobs)


def refused(error: TunerError, path: Path) -> BadRequest:
    """Return the error for an invalid file, without the name of the temporary file."""
    message = str(error).replace(path.name, _NAME)
    return BadRequest(f"{message}; nothing of the file is imported", rule="import")


def _lines(path: Path, options: ImportOptions, context: Context, by: Caller) -> Checked | Queued:
    with path.open("rb") as stream:
        exchange = read_lines(stream)
    if exchange.candidates and not exchange.trials:
        _check_not_given(options.problem, None)
        asked = measuring.understand(exchange, _listed(context), options.device, options.seconds)
        return _queued(asked, Format.JSONL, options.origin or exchange.header.origin, context.settings)
    # Others run what lookups answer; what the other formats bring is measured here before it is served, or never is.
    check_scope(context, by, Scope.ADMIN, "POST /v1/imports", "the import of kernels and times that lookups serve")
    _check_not_given(options.problem, options.device)
    return importing.check(
        exchange, context.database, context.artifacts, lambda name: _listed(context)(name).spec, options.origin
    )


def _check_not_given(problem: GemmProblem | None, device: str | None) -> None:
    said = next((name for name, value in (("m", problem), ("device", device)) if value is not None), None)
    if said is not None:
        message = "JSON lines say the problem and the device themselves: leave them out"
        raise BadRequest(message, rule="import", errors=[FieldError(field=said, message=message)])


def _recorded(file: File, options: ImportOptions, context: Context) -> Recorded:
    results = results_of(file)
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
    return Recorded(results, file.format, problem, device, origin)


def _lacking(field: str, message: str) -> BadRequest:
    return BadRequest(message, rule="import", errors=[FieldError(field=field, message=message)])


def _queued(asked: list[Asked], format: Format, origin: str, settings: Settings) -> Queued:
    for of in asked:
        check_size(of.problem, settings)
        trials = len(of.configs) + 1  # and the default
        if trials > settings.max_trials:
            message = f"expected at most {settings.max_trials - 1} configurations of {of.problem}, got {trials - 1}"
            raise BadRequest(f"{message} (XETUNE_MAX_TRIALS)", rule="budget")
        if of.seconds > settings.max_seconds:
            message = f"seconds: expected at most {settings.max_seconds:g}, got {of.seconds:g}"
            raise BadRequest(message, rule="budget", errors=[FieldError(field="seconds", message=message)])
    return Queued(tuple(asked), format, origin)


def _results(done: importing.Imported) -> ImportOut:
    return ImportOut(
        format=Format.JSONL,
        origin=done.origin,
        jobs=done.jobs,
        trials=done.trials,
        kernels=done.kernels,
        known=done.known,
        judged=dict(done.judged),
    )


def _recording(session: Session, read: Recorded, by: Caller) -> ImportOut:
    found, is_new = foreign.take_in(session, read.results, read.format, read.problem, read.device, read.origin)
    if is_new:
        record(session, by, "import", found.id)
    tried = len(read.results.tried)
    return ImportOut(
        format=read.format,
        origin=found.origin,
        known=0 if is_new else tried,
        recording=found.id,
        configurations=tried,
        timed=sum(each.times is not None for each in read.results.tried),
        notes=list(read.results.notes),
    )


def _jobs(session: Session, read: Queued, by: Caller, max_active: int) -> ImportOut:
    active = sum(count for status, count in jobs.count_by_status(session).items() if status in ACTIVE_STATUSES)
    if active + len(read.asked) > max_active:
        message = f"{active + len(read.asked)} jobs would be queued or running, {max_active} may be"
        raise TooMany(message, rule="active-jobs")
    queued: list[UUID] = []
    for of in read.asked:
        queued.append(measuring.submit(session, of))
        record(session, by, "job.create", queued[-1])
    configurations = sum(len(of.configs) for of in read.asked)
    return ImportOut(format=read.format, origin=read.origin, configurations=configurations, queued=queued)


def _listed(context: Context) -> Callable[[str], ListedDevice]:
    return lambda name: context.devices.resolve(name, None)
