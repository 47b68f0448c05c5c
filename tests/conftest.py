"""Options, the summary, and the databases that rooms share."""

import gc
import logging
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Generator
from datetime import date
from functools import cache
from pathlib import Path

import hypothesis
import pytest
import structlog

from hal.probe.probe import probe_drivers
from tests.db.databases import (
    compiled_once,
    database,
    migrated_file,
    migrated_postgres,
    postgres_server,
    postgres_url,
    shared_postgres,
    sqlite_url,
)

__all__ = [
    "compiled_once",
    "database",
    "migrated_file",
    "migrated_postgres",
    "postgres_server",
    "postgres_url",
    "shared_postgres",
    "sqlite_url",
]

_STARTED_S = time.monotonic()
_MEMORY, _ROOM_BYTES = Path("/dev/shm"), 4 << 30
# By default a tenth of the time of collecting and running is that of garbage collections.
gc.set_threshold(50_000, 20, 20)
# Property tests draw the same each time, however busy the machine is.
hypothesis.settings.register_profile(
    "xetune", derandomize=True, database=None, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)
hypothesis.settings.load_profile("xetune")
# Threads of Dask log while a cluster ends, to a stream that pytest has closed; logging would print a traceback of each.
logging.raiseExceptions = False
# Without `configure_logs`, structlog prints all variables of a traceback, which takes seconds for those of an app.
structlog.get_config()["processors"][-1].exception_formatter = structlog.dev.plain_traceback
# Processes that tests start would compile all sources anew where the environment forbids to keep what was compiled.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.fixture(scope="session", autouse=True)
def unsynced() -> Generator[None]:
    """Leave files to the system's cache: those of tests need not outlive a crash of the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda _: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def probed_once() -> Generator[None]:
    """Probe this machine's drivers once, in about a second; tests of probing call it themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hal.devices.listing.probe_drivers", cache(probe_drivers))
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--seconds`."""
    parser.addoption(
        "--seconds", type=float, metavar="S", help="begin no further test after S seconds; those left out are counted"
    )
    parser.addoption(
        "--order", type=int, metavar="N", help="order of the tests under --seconds; the number of today by default"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Choose the order, which xdist passes on to its workers, and the place of temporary folders."""
    if config.option.order is None:
        config.option.order = date.today().toordinal()
    if _memory_holds_files():  # several times faster than most disks, for thousands of small folders
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))


def _memory_holds_files() -> bool:
    """Return whether this system has a file system in memory, with room and for programs too."""
    if not _MEMORY.is_dir():
        return False
    of = os.statvfs(_MEMORY)
    return of.f_bavail * of.f_frsize > _ROOM_BYTES and not of.f_flag & os.ST_NOEXEC


@pytest.hookimpl(trylast=True)  # after those that -m leaves out are gone
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Under --seconds, begin with one case of each test, then a second of each, and so on."""
    if config.getoption("--seconds") is not None:
        items[:] = in_rounds(items, random.Random(config.option.order))


def pytest_collection_finish() -> None:
    """Spare garbage collections the objects of loaded modules and collected tests."""
    gc.collect()
    gc.freeze()


def in_rounds(items: list[pytest.Item], rng: random.Random) -> list[pytest.Item]:
    """Return the items in rounds of one case of each function, by file, dealt to the workers in the order of rounds."""
    shuffled, round_of = rng.sample(items, len(items)), Counter[str]()
    rounds: dict[tuple[int, Path], list[pytest.Item]] = {}
    for item in shuffled:
        function = item.nodeid.partition("[")[0]
        rounds.setdefault((round_of[function], item.path), []).append(item)
        round_of[function] += 1
    groups = [rounds[key] for key in sorted(rounds, key=lambda key: key[0])]
    # xdist gives each worker a contiguous part of the list.
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return [item for worker in range(workers) for group in groups[worker::workers] for item in group]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave the test out when the time is over."""
    seconds = item.config.getoption("--seconds")
    if seconds is not None and time.monotonic() - _STARTED_S > seconds:
        pytest.skip(f"left out: not begun within {seconds:.0f} s")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many tests were skipped for each reason, and the order of those under --seconds."""
    if terminalreporter.config.getoption("--seconds") is not None:
        terminalreporter.write_line(f"--order {terminalreporter.config.option.order}")
    reasons = Counter(report.longrepr[2] for report in terminalreporter.getreports("skipped"))
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} {reason.removeprefix('Skipped: ').splitlines()[0]}")
