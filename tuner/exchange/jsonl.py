"""Exchange files: versioned JSON lines, read completely and checked line by line before use."""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import BinaryIO, Generic, NoReturn, TypeVar, cast

from codegen import CodegenError, GemmProblem
from codegen.config.kernel_config import decode_config
from codegen.serialization import (
    Malformed,
    decode,
    to_json,
)
from hal import DeviceSpec
from tuner.errors import InvalidLine
from tuner.exchange.documents import check_texts, strict_object
from tuner.exchange.kernel_record import KernelRecord, binary_of, emulated_of
from tuner.exchange.records import (
    FORMAT,
    VERSION,
    BrokenRecord,
    CandidateRecord,
    DeviceRecord,
    EndRecord,
    Header,
    JobRecord,
    ProblemRecord,
    Record,
    TrialRecord,
    TunerRecord,
    label_of,
)
from tuner.session.trial import ReusedFrom

MAX_LINE_BYTES = 16 * 2**20
MAX_FILE_BYTES = 512 * 2**20
_KINDS: dict[str, type[Record]] = {
    "header": Header,
    "device": DeviceRecord,
    "problem": ProblemRecord,
    "job": JobRecord,
    "kernel": KernelRecord,
    "trial": TrialRecord,
    "candidate": CandidateRecord,
    "tuner_record": TunerRecord,
    "end": EndRecord,
    "broken": BrokenRecord,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_SHOWN = 160  # characters of a message that quotes the input

R = TypeVar("R")
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Line(Generic[R]):
    """A record and the number of its line."""

    number: int
    record: R


@dataclass(slots=True)
class Exchange:
    """A file that was read: records by the key that others refer to, in order of the lines."""

    header: Header
    devices: dict[tuple[str, str], Line[DeviceSpec]] = field(default_factory=dict)
    problems: dict[str, Line[GemmProblem]] = field(default_factory=dict)
    jobs: dict[str, Line[JobRecord]] = field(default_factory=dict)
    kernels: dict[tuple[str, str], Line[KernelRecord]] = field(default_factory=dict)
    trials: dict[tuple[str, int], Line[TrialRecord]] = field(default_factory=dict)
    candidates: dict[tuple[str, str, str, str], Line[CandidateRecord]] = field(default_factory=dict)
    tuner_records: dict[str, Line[TunerRecord]] = field(default_factory=dict)
    numbers: dict[tuple[str, str], int] = field(default_factory=dict)  # of trials, by job and configuration


def write_lines(records: Iterable[Record]) -> Iterator[str]:
    """Yield the lines of a file, each with its line end; the first record is the header, the end is added."""
    return seal(map(_line, records))


def seal(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a file, and then its end."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode())
        yield line
    yield _line(EndRecord(digest.hexdigest()))


def broken_line(error: str) -> str:
    """Return the last line of a file that broke off."""
    return _line(BrokenRecord(error))


def error_of(lines: bytes) -> str | None:
    """Return why a file broke off; None for one with its end."""
    last = lines[lines.rfind(b"\n", 0, -1) + 1 :]
    return str(json.loads(last)["error"]) if last.startswith(b'{"record":"broken"') else None


def join_files(files: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of several files as one with the header of the first; equal lines are written once."""
    lines = [file.decode().splitlines(keepends=True)[:-1] for file in files]
    return seal(chain([lines[0][0]], dict.fromkeys(line for of_file in lines for line in of_file[1:])))


def read_lines(stream: BinaryIO) -> Exchange:
    """Read and check a whole file.

    Raises:
        InvalidLine: the first invalid line.
    """
    exchange: Exchange | None = None
    number, size, digest, ended = 0, 0, hashlib.sha256(), False
    while text := stream.readline(MAX_LINE_BYTES + 1):
        number, size = number + 1, size + len(text)
        if len(text) > MAX_LINE_BYTES:
            raise InvalidLine(number, f"expected at most {MAX_LINE_BYTES} bytes, got more")
        if size > MAX_FILE_BYTES:
            raise InvalidLine(number, f"expected at most {MAX_FILE_BYTES} bytes in all lines; export fewer problems")
        record = _read(number, text, is_first=exchange is None)
        if ended:
            raise InvalidLine(number, f"expected nothing after the end of the file, got a {_NAMES[type(record)]}")
        if exchange is None:
            assert isinstance(record, Header)
            exchange = Exchange(record)
        elif isinstance(record, EndRecord):
            ended = True
            _check_end(number, record, digest.hexdigest())
        elif isinstance(record, BrokenRecord):
            raise InvalidLine(number, f"the export broke off: {record.error}")
        else:
            try:
                _add(exchange, number, record)
            except (ValueError, CodegenError) as error:
                raise InvalidLine(number, f"{_NAMES[type(record)]}: {error}") from error
        digest.update(text)
    if exchange is None:
        raise InvalidLine(1, f"expected the header of a {FORMAT} file, got an empty file")
    if not ended:
        raise InvalidLine(number + 1, "end: expected it, got no more lines: the file was cut; export or copy it again")
    return exchange


def _check_end(number: int, end: EndRecord, found: str) -> None:
    if end.sha256 != found:
        raise InvalidLine(
            number,
            f"end: expected SHA-256 {end.sha256} of the lines before, got {found}: the file was edited or damaged; "
            "export or copy it again",
        )


def _line(record: Record) -> str:
    told = cast("dict[str, object]", to_json(_plain(record)))
    return json.dumps({"record": _NAMES[type(record)], **told}, separators=(",", ":"), allow_nan=False) + "\n"


def _plain(record: Record) -> object:
    """Return a record in a form that JSON can express: provenance of device facts is not a plain mapping."""
    if not isinstance(record, DeviceRecord):
        return record
    names = (name for name in DeviceSpec.__dataclass_fields__ if name != "provenance")
    known: dict[str, object] = {name: value for name in names if (value := getattr(record.spec, name)) is not None}
    return {"spec": known | {"provenance": dict(record.spec.provenance)}}


def _read(number: int, text: bytes, *, is_first: bool) -> Record:
    try:
        document = _parsed(text)
        kind = document.pop("record", None)
        if (kind == "header") != is_first:
            what = "the header" if is_first else f"one of {', '.join(name for name in _KINDS if name != 'header')}"
            _refuse(f"record: expected {what}, got {kind!r}")
        if is_first:
            _check_version(document)
        if not isinstance(kind, str) or kind not in _KINDS:
            _refuse(f"record: expected one of {', '.join(_KINDS)}, got {kind!r}")
        return _decoded(kind, document)
    except InvalidLine:
        raise
    except (ValueError, CodegenError, RecursionError) as error:
        raise InvalidLine(number, _short(str(error))) from error


def _decoded(kind: str, document: dict[str, object]) -> Record:
    try:
        return decode(_KINDS[kind], document)
    except Malformed as error:
        raise ValueError(f"{kind}: {error if error.field else error.message}") from error
    except (ValueError, CodegenError) as error:
        raise ValueError(f"{kind}: {error}") from error


def _parsed(text: bytes) -> dict[str, object]:
    try:
        document = json.loads(
            text.decode(), parse_constant=_no_number, parse_float=_finite, object_pairs_hook=strict_object
        )
    except UnicodeDecodeError as error:
        raise ValueError(f"expected UTF-8: {error.reason} at byte {error.start}") from error
    except json.JSONDecodeError as error:
        fault = error.msg.removesuffix(" at")
        raise ValueError(f"expected one JSON object, got {text[:40]!r}: {fault} at character {error.pos}") from error
    if not isinstance(document, dict):
        _refuse(f"expected one JSON object, got {text[:40]!r}")
    check_texts(cast(object, document))
    return cast("dict[str, object]", document)


def _check_version(document: Mapping[str, object]) -> None:
    if document.get("format") != FORMAT:
        _refuse(f"format: expected {FORMAT!r}, got {document.get('format')!r}")
    version = document.get("version")
    if type(version) is not int or version != VERSION:
        program = document.get("program")
        by = "" if program is None else f" (written by {program!r})"
        _refuse(f"version: expected {VERSION}, got {version!r}{by}: export it again with this version")


def _no_number(text: str) -> NoReturn:
    _refuse(f"expected a finite number, got {text}")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_number(text)


def _add(exchange: Exchange, number: int, record: Record) -> None:
    """Add a record after checking it against earlier ones.

    Raises:
        ValueError: it refers to a missing record, or is a duplicate.
    """
    match record:
        case Header() | EndRecord() | BrokenRecord():
            raise AssertionError("read as the first line and the last")
        case DeviceRecord(spec):
            _put(exchange.devices, record.identity, Line(number, spec))
        case ProblemRecord(key, definition):
            _put(exchange.problems, key, Line(number, definition))
        case JobRecord():
            _check_named(exchange, record.problem, record.device, record.driver)
            _put(exchange.jobs, record.id, Line(number, record))
        case KernelRecord():
            _check_kernel(exchange, record)
            _put(exchange.kernels, (record.compile_key, record.content_hash), Line(number, record))
        case TrialRecord():
            _check_trial(exchange, record)
            _put(exchange.trials, (record.job, record.number), Line(number, record))
        case CandidateRecord():
            _check_named(exchange, record.problem, record.device, record.driver)
            place = record.problem, record.device, record.driver, record.config.key
            _put(exchange.candidates, place, Line(number, record))
        case TunerRecord():
            _put(exchange.tuner_records, record.id, Line(number, record))


def _put(known: dict[K, Line[R]], name: K, line: Line[R]) -> None:
    if name in known:
        raise ValueError(f"expected it once, got {_short(str(name))} again after line {known[name].number}")
    known[name] = line


def _check_named(exchange: Exchange, problem: str, device: str, driver: str) -> None:
    if problem not in exchange.problems:
        raise ValueError(f"problem: expected the key of a problem in a line before, got {problem!r}")
    if (device, driver) not in exchange.devices:
        known = ", ".join(f"{id} with driver {of!r}" for id, of in exchange.devices) or "none"
        raise ValueError(f"device: expected a device of a line before ({known}), got {device} with driver {driver!r}")


def _check_kernel(exchange: Exchange, kernel: KernelRecord) -> None:
    binary_of(kernel)
    emulated_of(kernel)
    if kernel.problem not in exchange.problems:
        raise ValueError(f"problem: expected the key of a problem in a line before, got {kernel.problem!r}")
    said, problem = kernel.manifest, exchange.problems[kernel.problem].record
    made_from = decode(GemmProblem, said.get("problem")), decode_config(said.get("configuration"))
    if made_from != (problem, kernel.config) or said.get("compiled_for") != kernel.target:
        raise ValueError("manifest: expected the problem, the configuration and the target of the kernel, got others")


def _check_trial(exchange: Exchange, trial: TrialRecord) -> None:
    if trial.job not in exchange.jobs:
        raise ValueError(f"job: expected the id of a job in a line before, got {trial.job}")
    job = exchange.jobs[trial.job].record
    same = exchange.numbers.setdefault((trial.job, trial.config.key), trial.number)
    if same != trial.number:
        raise ValueError(f"config: expected each configuration once in a job, got that of trial {same}")
    if trial.compile_key is not None and trial.outcome.kernel_hash is not None:
        kernel = exchange.kernels.get((trial.compile_key, trial.outcome.kernel_hash))
        if kernel is None:
            raise ValueError(f"kernel_hash: expected a kernel of a line before, got {trial.outcome.kernel_hash}")
        if (kernel.record.problem, kernel.record.config) != (job.problem, trial.config):
            raise ValueError(f"kernel_hash: expected a kernel of this configuration, got that of line {kernel.number}")
    if trial.source is not None:
        _check_source(exchange, trial.source, job)
    times = trial.outcome.measurement
    expected = label_of(exchange.devices[job.device, job.driver].record)
    if times is not None and (times.label != expected or times.driver != job.driver):
        raise ValueError(
            f"outcome.measurement: expected label {expected!r} and driver {job.driver!r} on {job.device}, got "
            f"{times.label!r} and {times.driver!r}"
        )


def _check_source(exchange: Exchange, source: ReusedFrom, job: JobRecord) -> None:
    line = exchange.trials.get((source.job, source.number))
    if line is None:
        raise ValueError(f"source: expected a trial of a line before, got {source.number} of job {source.job}")
    of = exchange.jobs[source.job].record
    if line.record.source is not None or line.record.outcome.measurement is None:
        raise ValueError(f"source: expected a trial that was measured itself, got that of line {line.number}")
    if (of.problem, of.device) != (job.problem, job.device):
        raise ValueError(f"source: expected a trial of the same problem and device, got that of line {line.number}")


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)


def _short(text: str) -> str:
    return text if len(text) <= 2 * _SHOWN else f"{text[:_SHOWN]} ... {text[-_SHOWN:]}"
