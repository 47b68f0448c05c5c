"""A worker answers whether it is ready, from its start until it is stopped."""

from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

from db.migrate import prepare
from tests.system.processes import Processes, free_port, until


@pytest.fixture
def processes(tmp_path: Path) -> Generator[Processes]:
    """Processes with a database in a folder of its own, whose worker answers."""
    url = f"sqlite:///{tmp_path / 'database' / 'xetune.sqlite'}"
    prepare(url, create=True).close()
    made = Processes(tmp_path, url, settings={"XETUNE_WORKER_PORT": str(free_port())})
    yield made
    made.stop_all()


@pytest.mark.slow
def test_a_worker_is_ready_until_its_database_is_gone(processes: Processes) -> None:
    processes.start("worker", "worker")
    address = f"http://127.0.0.1:{processes.settings['XETUNE_WORKER_PORT']}"

    def status() -> int | None:
        try:
            return httpx.get(f"{address}/readyz", timeout=30).status_code
        except httpx.ConnectError:
            return None

    until(lambda: status() == 200, "the worker is ready")
    (processes.folder / "database").rename(processes.folder / "elsewhere")
    answer = httpx.get(f"{address}/readyz", timeout=30)
    assert answer.status_code == 503
    assert [finding["check"] for finding in answer.json()["findings"]] == ["database"]
    assert httpx.get(f"{address}/healthz", timeout=30).status_code == 200
