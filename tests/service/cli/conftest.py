"""Commands run within this process, and a service for them that has their database."""

import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient
from starlette.types import Receive, Scope, Send

import xetune_client
from service.api.keys.caller import COMMAND_LINE
from service.app import create_app
from service.cli.access.opening import Access, ClientAccess
from service.cli.access.own_context import command_settings
from service.cli.main import main
from tests.service.cli.both_transports import Run
from tests.service.passed import Passed
from tests.tuner.exchange.lines import JOB, results, text_of
from xetune_client import Client


@pytest.fixture
def one_database(tmp_path: Path, sqlite_url: str, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands and service have the same database; the client's requests stay within this process."""
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("XETUNE_DATABASE_URL", sqlite_url)
    monkeypatch.setenv("COLUMNS", "100")
    transport = Passed(client._transport)

    def asked(url: str, key: str | None = None, **how: object) -> Client:
        return Client(url, key, **({"transport": transport} | how))  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(xetune_client, "Client", asked)


@pytest.fixture
def served(one_database: None) -> Iterator[Access]:
    """Access by the application of this machine's database, as the command line."""
    del one_database
    app = create_app(command_settings())

    async def as_command_line(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "state": {"caller": COMMAND_LINE}}, receive, send)

    transport = Passed(TestClient(as_command_line)._transport)
    with Client("http://localhost", "", transport=transport) as client:
        yield ClientAccess(client)
    app.state.context.close()


@pytest.fixture
def spaced_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each id is a millisecond later than the one before: those of one millisecond begin alike."""
    passed = count(time.time_ns(), 1_000_000)
    monkeypatch.setattr("db.values.time", SimpleNamespace(time_ns=lambda: next(passed)))
    monkeypatch.setattr("db.values._last", 0)  # of earlier tests, whose ids may be ahead of time


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`xetune` with some arguments: its status, standard output and errors."""

    def command(*arguments: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["xetune", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    return command


@pytest.fixture
def job(run: Run, tmp_path: Path) -> str:
    """A job of a B580 that was imported: two times, one failure, one prediction."""
    file = tmp_path / "results.jsonl"
    file.write_bytes(text_of(results()))
    assert run("import", str(file))[0] == 0
    return JOB
