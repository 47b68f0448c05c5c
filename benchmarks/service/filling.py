"""Fills a database with made-up results, to see what the service does when much is stored.

Run: XETUNE_DATA_DIR=DIR python -m benchmarks.service.filling [--kernels 100000] [--trials 1000000]

The database that the settings name is made if it is missing, and must hold no job. Two devices have measured results,
two predicted ones; one job has 10,000 trials, all others 50. Configurations are legal and results agree with each other
as a worker's do; times are drawn, and every kernel names the same three files.
"""

import argparse
import random
import time
from dataclasses import replace
from datetime import datetime
from itertools import islice

from sqlalchemy import bindparam, func, insert, select, text, update
from sqlalchemy.orm import Session

from benchmarks.service.filled_rows import (
    LARGE_JOB,
    OF_A_JOB,
    Blob,
    Rows,
    Target,
    jobs_of,
    target_of,
)
from db.migrate import prepare
from db.schema.job import Job as JobRow
from db.schema.kernel import Kernel as KernelRow
from db.schema.trial import Trial as TrialRow
from db.session import Database
from db.values import utc_now
from hal import find
from service.api.devices.elsewhere import store_device
from service.artifacts import ArtifactStore
from service.settings import read_settings

DRIVER = "26.27.35096"
_MEASURED, _PREDICTED = ("b580", "b60"), ("b570", "max1100")
_FILES = {
    "kernel.spv": (b"\x03\x02\x23\x07" * 4096, "application/octet-stream"),
    "kernel.json": (b"{}", "application/json"),
    "xetile.mlir": (b"func.func @gemm() {\n  return\n}\n" * 100, "text/plain; charset=utf-8"),
}
_JOBS_AT_ONCE = 200


def main() -> None:
    """Fill the database of the settings and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=100_000)
    parser.add_argument("--trials", type=int, default=1_000_000)
    options = parser.parse_args()
    settings = read_settings()
    database = prepare(settings.database_url, create=True)
    begun = time.monotonic()
    counts = fill(database, ArtifactStore(settings.artifacts_dir), options.kernels, options.trials)
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    print(f"{told} in {time.monotonic() - begun:.0f} s: {database.engine.url!r}")
    database.close()


def fill(
    database: Database,
    artifacts: ArtifactStore,
    kernels: int,
    trials: int,
    *,
    seed: int = 8,
    until: datetime | None = None,
) -> dict[str, int]:
    """Add so many kernels and trials of the half year before `until` (now), and tell how many rows there then are.

    Raises:
        ValueError: there are jobs already, or kernels and trials do not go together.
    """
    rng = random.Random(seed)
    with database.write() as session:
        if session.scalar(select(JobRow.id).limit(1)) is not None:
            raise ValueError("expected a database without jobs; name an empty one (XETUNE_DATA_DIR)")
        configs = [LARGE_JOB if trials >= 10 * LARGE_JOB else OF_A_JOB, OF_A_JOB, OF_A_JOB, OF_A_JOB]
        names = *_MEASURED, *_PREDICTED
        targets = [_target(session, name, rng, count) for name, count in zip(names, configs, strict=True)]
    blobs = [Blob(name, artifacts.put(data), len(data), kind) for name, (data, kind) in _FILES.items()]
    made = jobs_of(targets, blobs, kernels, trials, until or utc_now(), rng)
    while jobs := list(islice(made, _JOBS_AT_ONCE)):
        with database.write() as session:
            _add(session, jobs)
    with database.write() as session:
        _settle(session)
    with database.read() as session:
        tables = JobRow, TrialRow, KernelRow
        return {t.__tablename__ + "s": session.scalar(select(func.count()).select_from(t)) or 0 for t in tables}


def _target(session: Session, name: str, rng: random.Random, count: int) -> Target:
    spec, measured = find(name), name in _MEASURED
    if measured:
        spec = replace(spec, driver=DRIVER, provenance={**spec.provenance, "driver": "probed"})
    return target_of(store_device(session, spec).id, spec, count, rng, measured=measured)


def _add(session: Session, jobs: list[Rows]) -> None:
    for table in jobs[0].of:
        if rows := [row for job in jobs for row in job.of[table]]:
            session.execute(insert(table.__table__), rows)  # pyright: ignore[reportArgumentType]
    if best := [row for job in jobs for row in job.best]:
        job = JobRow.__table__
        named = update(job).where(job.c.id == bindparam("of_job")).values(best_trial_id=bindparam("best"))  # pyright: ignore
        session.execute(named, best)


def _settle(session: Session) -> None:
    """Let PostgreSQL count on after the ids that were given, and look at what there is, as it does by itself later."""
    if session.get_bind().dialect.name != "postgresql":
        return
    for table in ("problem", "trial"):
        session.execute(text(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"))
    session.execute(text("ANALYZE"))


if __name__ == "__main__":
    main()
