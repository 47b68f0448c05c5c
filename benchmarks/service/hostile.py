"""The service under an upload of many configurations, and under distinct questions of one reader.

Run: python -m benchmarks.service.hostile [--configurations 50000] [--seconds 22]

While the file is imported, another process's commits are timed: a coordinator loses its lease if one waits for long.
While the questions come, each with a query of 6 KB that no other has, the memory of the service is sampled.
"""

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
from sqlalchemy import text

from benchmarks.service.serving import Served, serving
from codegen import GemmProblem
from db.errors import DatabaseError
from db.migrate import prepare
from db.session import Database
from db.values import new_id, utc_now
from hal import find
from tuner.backend import tuning_for
from tuner.exchange.jsonl import write_lines
from tuner.exchange.records import (
    FORMAT,
    VERSION,
    DeviceRecord,
    Ended,
    Header,
    JobRecord,
    ProblemRecord,
    Record,
    TrialRecord,
)
from tuner.session.budget import Budget
from tuner.session.job_spec import JobOptions
from tuner.session.trial import Outcome, Prediction, Status

_DEVICE = "b580"
_OF_A_JOB = 10_000
_READERS, _PADDING = 8, 6_000


def main() -> None:
    """Print both measurements."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service.hostile", description=__doc__)
    parser.add_argument("--configurations", type=int, default=50_000)
    parser.add_argument("--seconds", type=float, default=22.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = f"sqlite:///{folder / 'xetune.sqlite'}"
        database = prepare(url, create=True)
        variables = {"XETUNE_DATA_DIR": name, "XETUNE_DATABASE_URL": url, "XETUNE_RATE_PER_S": "0"}
        with serving(folder, variables) as served:
            _upload(served, database, folder, given.configurations)
            _ask(served, given.seconds)
        database.close()


def _upload(served: Served, database: Database, folder: Path, count: int) -> None:
    file = folder / "file.jsonl"
    with file.open("w") as lines:
        lines.writelines(write_lines(_records(count)))
    over, waits_s, failed = threading.Event(), list[float](), list[str]()

    def commit() -> None:
        while not over.wait(0.05):
            began_s = time.perf_counter()
            try:
                with database.write() as session:
                    session.execute(text("UPDATE device SET name = name WHERE id < 0"))
            except DatabaseError as error:
                failed.append(str(error))
            waits_s.append(time.perf_counter() - began_s)

    writer = threading.Thread(target=commit)
    writer.start()
    began_s = time.perf_counter()
    answer = httpx.post(f"{served.url}/v1/imports", content=file.read_bytes(), timeout=600.0)
    took_s = time.perf_counter() - began_s
    over.set()
    writer.join()
    waits_s.sort()
    print(
        f"upload of {count} configurations, {file.stat().st_size / 1e6:.1f} MB: {answer.status_code} after"
        f" {took_s:.1f} s; {len(waits_s)} commits of another process meanwhile: median"
        f" {waits_s[len(waits_s) // 2] * 1e3:.0f} ms, p99 {waits_s[len(waits_s) * 99 // 100] * 1e3:.0f} ms, the longest"
        f" {waits_s[-1] * 1e3:.0f} ms, {len(failed)} failed"
    )
    if answer.status_code >= 300:
        print(answer.text[:500])


def _records(count: int) -> Iterator[Record]:
    spec, now = find(_DEVICE), utc_now().isoformat()
    yield Header(FORMAT, VERSION, "a stranger", "xetune", now)
    yield DeviceRecord(spec)
    for begin in range(0, count, _OF_A_JOB):
        problem, job = GemmProblem(4096, 2048 + begin // _OF_A_JOB * 64, 8192), str(new_id())
        space, trials = tuning_for(spec).space(problem, spec), min(_OF_A_JOB, count - begin)
        options = JobOptions(budget=Budget(trials, 3600.0), seed=1)
        yield ProblemRecord(problem.key, problem)
        yield JobRecord(job, problem.key, spec.id, spec.driver or "", Ended.SUCCEEDED, options, now, now, now, best=0)
        for number in range(trials):
            time_us = 1e4 + number
            outcome = Outcome(Status.PREDICTED, prediction=Prediction(time_us, time_us / 2, time_us * 2, "xe-1"))
            yield TrialRecord(job, number, space.config(number), outcome, now, now, predicted_at=now)


def _ask(served: Served, seconds: float) -> None:
    before_mb, ends_s = served.rss_mb, time.perf_counter() + seconds
    asked, most_mb = [0] * _READERS, [before_mb]

    def read(place: int) -> None:
        with httpx.Client(base_url=served.url, timeout=60.0) as client:
            while time.perf_counter() < ends_s:
                padding = f"{place}.{asked[place]}.".ljust(_PADDING, "x")
                sizes = {"m": 64, "n": 48, "k": 80, "device": _DEVICE}
                client.get("/v1/kernels", params={**sizes, "padding": padding})
                asked[place] += 1

    readers = [threading.Thread(target=read, args=(place,)) for place in range(_READERS)]
    for reader in readers:
        reader.start()
    while any(reader.is_alive() for reader in readers):
        most_mb.append(served.rss_mb)
        time.sleep(0.2)
    print(
        f"{sum(asked)} distinct questions of {_PADDING} bytes in {seconds:.0f} s: {before_mb:.0f} MB before,"
        f" at most {max(most_mb):.0f} MB, {served.rss_mb:.0f} MB after"
    )


if __name__ == "__main__":
    main()
