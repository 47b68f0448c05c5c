"""Imports of the same results at the same moment."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text

from db.session import open_database
from hal import find
from service.api.exchange.schemas import ImportOut
from service.artifacts import ArtifactStore
from tests.service.api.exchange.data_folders import take_in
from tests.tuner.exchange.lines import read, results, text_of

_WAITING = text("SELECT count(*) FROM pg_locks WHERE NOT granted")


@pytest.mark.postgres
def test_of_two_imports_at_once_one_adds_and_the_other_finds_it_there(postgres_url: str, tmp_path: Path) -> None:
    database, artifacts = open_database(postgres_url), ArtifactStore(tmp_path)

    def bring() -> ImportOut:
        return take_in(read(text_of(results())), database, artifacts, find)

    with ThreadPoolExecutor(2) as pool:
        with database.write() as session:
            # Both have begun, and neither can end, before the table is free again.
            session.execute(text("LOCK TABLE trial IN SHARE MODE"))
            found = [pool.submit(bring) for _ in range(2)]
            deadline_s = time.monotonic() + 8
            while session.scalar(_WAITING) != 2 and time.monotonic() < deadline_s:
                time.sleep(0.01)
        done = sorted((f.result() for f in found), key=lambda imported: imported.known)
    database.close()
    assert [(d.jobs, d.trials, d.kernels, d.known) for d in done] == [(1, 4, 2, 0), (0, 0, 0, 4)]
