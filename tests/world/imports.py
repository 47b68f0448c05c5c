"""Imports of result files of another machine in the world, whole and tampered ones, and invariants of their rows."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID, uuid5

from codegen import GemmProblem
from hal.devices.listed import ListedDevice, Runtime, listed
from service.api.exchange import import_upload
from service.api.exchange.import_upload import ImportOptions
from service.api.kernels.schemas import KernelOut
from service.api.keys.caller import COMMAND_LINE
from service.errors import BadRequest
from service.http.idempotency import Once
from tests.tuner.exchange import lines
from tests.world.virtual import Broken, Scheduler
from tuner.exchange.jsonl import seal
from tuner.exchange.records import DeviceRecord, JobRecord, ProblemRecord, Record, TrialRecord

if TYPE_CHECKING:
    from service.http.context import Context

PORTION = 3  # lines of a transaction: a file of the product's 40 would be one
PROBLEMS = (lines.GEMM, GemmProblem(80, 48, 112))
ELSEWHERE: ListedDevice = listed(lines.b580(), Runtime.TABLE, None, runnable=False)
Keep = Callable[[Once, Any, UUID], None]
"""Stores the answer to a request."""
_IDS = UUID(lines.JOB)
_TAMPERED = ("a byte of the file", "the code of a kernel", "a time that no device reaches", "the best trial")


@dataclass(frozen=True)
class ResultFile:
    """A file of one or two jobs. `tampered` says what was changed in it; None: nothing."""

    name: str
    jobs: tuple[JobRecord, ...]
    trials: tuple[TrialRecord, ...]
    data: bytes
    tampered: str | None = None


def drawn(seed: int) -> list[ResultFile]:
    """Return the files of a seed; the worlds of most import none."""
    numbers = random.Random(f"imports {seed}")
    if numbers.random() > 0.35:
        return []
    found = [_file(seed, 0, numbers)]
    if numbers.random() < 0.4:
        found.append(_tampered(_file(seed, 1, numbers), numbers))
    return found


def take_in(file: ResultFile, context: Context, folder: Path, once: Once, keep: Keep) -> UUID | None:
    """Import a file as the route does; None if it is refused.

    Raises:
        Broken: a file that nobody changed is.
    """
    path = folder / "uploads" / file.name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(file.data)
    options = ImportOptions(format=None, problem=None, device=None, origin=None, seconds=60.0)
    try:
        read = import_upload.read_file(path, options, context, COMMAND_LINE)
        import_upload.write(context.database, read)
    except BadRequest as error:
        if file.tampered is None:
            raise Broken(f"{file.name} is refused: {error}") from error
        return None
    with once.write() as session:
        import_upload.take_in(session, read, COMMAND_LINE, context.settings)
        made = UUID(file.jobs[0].id)
        keep(once, session, made)
        return made


@dataclass
class Imported:
    """Invariants of imported rows."""

    rows: sqlite3.Connection
    scheduler: Scheduler
    files: list[ResultFile] = field(default_factory=list)

    def at_job(self, job_id: str) -> None:
        """Check the row of an imported job.

        Raises:
            Broken: it is of a file that was changed, or of none.
        """
        changed = [file.tampered for file in self.files for job in file.jobs if UUID(job.id).hex == job_id]
        if changed != [None]:
            raise Broken(f"job {job_id[-6:]} was imported, and in its file {changed} was changed")

    def at_trial(self, job_id: str, number: int) -> None:
        """Check the row of an imported trial.

        Raises:
            Broken: it is not what its file says.
        """
        query = (
            "SELECT t.config_hash, t.status, k.content_hash, m.median_us FROM trial t"
            " LEFT JOIN kernel k ON k.id = t.kernel_id LEFT JOIN measurement m ON m.trial_id = t.id"
            " WHERE t.job_id = ? AND t.number = ?"
        )
        (row,) = self.rows.execute(query, [job_id, number]).fetchall()
        told = [
            (each.config.key, each.outcome.status.value, each.outcome.kernel_hash, m and m.median_us)
            for file in self.files
            for each in file.trials
            if (UUID(each.job).hex, each.number) == (job_id, number)
            for m in [each.outcome.measurement]
        ]
        if told != [row]:
            raise Broken(f"trial {number} of job {job_id[-6:]} was imported as {row}, its file says {told}")

    def at_answer(self, file: ResultFile) -> None:
        """Check that a file whose import was answered is stored whole: each trial once, and each job with its best.

        Raises:
            Broken: it is not, or rows of a refused file are.
        """
        self.scheduler.tell(f"{file.name} is {'stored' if file.tampered is None else 'refused'}")
        for job in file.jobs:
            numbers = [row[0] for row in self._ask("SELECT number FROM trial WHERE job_id = ? ORDER BY number", job.id)]
            expected = [] if file.tampered else [each.number for each in file.trials if each.job == job.id]
            if numbers != expected:
                raise Broken(f"the import of {file.name} was answered: {expected} are its trials, {numbers} are stored")
            query = "SELECT t.number, k.withdrawn FROM job j JOIN trial t ON t.id = j.best_trial_id"
            best = self._ask(f"{query} LEFT JOIN kernel k ON k.id = t.kernel_id WHERE j.id = ?", job.id)
            query = "SELECT 1 FROM kernel k JOIN trial t ON t.kernel_id = k.id WHERE k.withdrawn IS NOT NULL"
            withdrawn = self._ask(f"{query} AND t.job_id = ?", job.id)
            if not file.tampered and not withdrawn and best != [(job.best, None)]:
                raise Broken(f"the best of job {job.id[-6:]} is {job.best} by its file, and {best} here")

    def at_lookup(self, kernel: KernelOut) -> None:
        """Check that a kernel that is served for the device of the files is of one that nobody changed.

        Raises:
            Broken: it is not, or it is withdrawn.
        """
        hashes = [each.outcome.kernel_hash for file in self.files if not file.tampered for each in file.trials]
        if kernel.content_hash not in hashes:
            raise Broken(f"kernel {kernel.content_hash[:8]} is served, and no whole file has it")
        if self.rows.execute("SELECT withdrawn FROM kernel WHERE id = ?", [kernel.id.hex]).fetchall() != [(None,)]:
            raise Broken(f"kernel {kernel.content_hash[:8]} is served, and it is withdrawn")

    def _ask(self, query: str, job: str) -> list[Any]:
        return self.rows.execute(query, [UUID(job).hex]).fetchall()


def _file(seed: int, place: int, numbers: random.Random) -> ResultFile:
    """Return a file of measured, predicted and failed trials."""
    jobs: list[JobRecord] = []
    trials: list[TrialRecord] = []
    records: list[Record] = [lines.header(f"machine {place}"), DeviceRecord(lines.b580())]
    for problem in PROBLEMS[: numbers.randint(1, 2)]:
        id = str(uuid5(_IDS, f"{seed} {place} {problem.key}"))
        first = 10 * place + 5 * len(jobs)  # kernels of two files differ
        measured = [lines.measured(first + i, 60.0 - i + 20 * place, job=id) for i in range(numbers.randint(1, 3))]
        more = [lines.predicted(first + 3, 30.0, id), lines.failed(first + 4, id)][: numbers.randint(0, 2)]
        own = [replace(trial, number=number) for number, trial in enumerate([*measured, *more])]
        job = lines.job(best=len(measured) - 1, id=id, problem=problem.key)
        records += [ProblemRecord(problem.key, problem), job]
        for number, trial in enumerate(own):
            kernel = [_kernel(first + number, problem)] if number < len(measured) else []
            records += [*kernel, trial]
        jobs.append(job)
        trials += own
    return ResultFile(f"file {place}", tuple(jobs), tuple(trials), lines.text_of(records))


@cache
def _kernel(number: int, problem: GemmProblem) -> Any:
    return lines.kernel(number, problem)


def _tampered(file: ResultFile, numbers: random.Random) -> ResultFile:
    """Return a file in which somebody changed something, and sealed it again unless it was a byte."""
    what = numbers.choice(_TAMPERED)
    if what == _TAMPERED[0]:
        place = numbers.randrange(len(file.data))
        data = file.data[:place] + bytes([file.data[place] ^ 1]) + file.data[place + 1 :]
        return replace(file, data=data, tampered=what)
    documents = [cast(dict[str, Any], json.loads(line)) for line in file.data.decode().splitlines()[:-1]]
    kinds = {"the code of a kernel": "kernel", "a time that no device reaches": "trial", "the best trial": "job"}
    document = next(each for each in documents if each["record"] == kinds[what])
    match what:
        case "the code of a kernel":
            document["spirv"] = document["spirv"][:-8] + "AAAAAAA="
        case "a time that no device reaches":
            measurement = document["outcome"]["measurement"]
            measurement |= {name: 1e-5 for name in measurement if name in ("median_us", "min_us", "p10_us", "p90_us")}
        case _:
            document["best"] = 99
    return replace(file, data="".join(seal(json.dumps(each) + "\n" for each in documents)).encode(), tampered=what)
