"""`xetune serve` has one worker as long as it lives, and none after."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest
import uvicorn

from service.cli.operating.serving import Server, check_port_is_free, config_of
from service.settings import InvalidSettings, Settings

ENDS_S = 20.0


@pytest.fixture
def serve(tmp_path: Path) -> Generator[psutil.Process]:
    """`xetune serve` on a free port with its own data folder."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("XETUNE_")}
    environment |= {"XETUNE_DATA_DIR": str(tmp_path), "XETUNE_PORT": "0"}
    command = [sys.executable, "-m", "service.cli", "serve"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        yield psutil.Process(process.pid)
        process.kill()


def test_the_address_is_announced_once_it_answers() -> None:
    announced: list[tuple[str, int]] = []

    def connect(host: str, port: int) -> None:
        with socket.create_connection((host, port), timeout=5):
            announced.append((host, port))
        server.should_exit = True

    async def app(_scope: object, _receive: object, _send: object) -> None:
        raise NotImplementedError

    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, lifespan="off", ws="none")
    server = Server(config, [], 5.0, connect)
    server.run()
    assert len(announced) == 1
    assert announced[0][1] > 0


def worker_of(serve: psutil.Process, but_not: int = 0) -> psutil.Process:
    """The worker that `serve` has, or soon has."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for child in serve.children():
            if child.pid != but_not and child.status() != psutil.STATUS_ZOMBIE and "worker" in child.cmdline():
                return child
        time.sleep(0.05)
    raise AssertionError("it has no worker")


@pytest.mark.opencl  # its worker opens the device
@pytest.mark.slow
def test_a_killed_service_takes_its_worker_along(serve: psutil.Process) -> None:
    worker = worker_of(serve)
    serve.kill()
    _, alive = psutil.wait_procs([worker], timeout=ENDS_S)
    assert alive == []


@pytest.mark.slow
@pytest.mark.opencl  # its worker opens the device
def test_a_killed_worker_is_replaced_and_a_killed_service_takes_its_worker_along(serve: psutil.Process) -> None:
    first = worker_of(serve)
    first.kill()
    second = worker_of(serve, but_not=first.pid)
    serve.kill()
    _, alive = psutil.wait_procs([second], timeout=ENDS_S)
    assert alive == []


@pytest.mark.slow
@pytest.mark.opencl  # its worker opens the device
def test_sigterm_ends_the_service_after_its_worker(serve: psutil.Process) -> None:
    worker = worker_of(serve)
    serve.send_signal(signal.SIGTERM)
    _, alive = psutil.wait_procs([worker, serve], timeout=ENDS_S)
    assert alive == []


def test_a_connection_outlives_the_pools_of_those_who_ask(tmp_path: Path) -> None:
    usual = Settings(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path / 'x.sqlite'}")
    assert config_of(usual).timeout_keep_alive > 60  # seconds, what proxies in front keep one
    assert config_of(usual.model_copy(update={"keep_alive_s": 7})).timeout_keep_alive == 7


def test_a_port_that_is_taken_is_told_before_anything_starts() -> None:
    here = "127.0.0.97"  # an address of this test alone: others may get the port once it is free
    with socket.create_server((here, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidSettings, match=f"port {port} of {here} is taken.*--port"):
            check_port_is_free(here, port)
    check_port_is_free(here, port)
