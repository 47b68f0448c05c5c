"""Options, the summary, and the databases that rooms share."""

import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Generator
from functools import cache

import pytest

from hal.probe.probe import probe_drivers
from tests.db.databases import (
    compiled_once,
    database,
    migrated_file,
    migrated_postgres,
    postgres_server,
    postgres_url,
    sqlite_url,
)

__all__ = [
    "compiled_once",
    "database",
    "migrated_file",
    "migrated_postgres",
    "postgres_server",
    "postgres_url",
    "sqlite_url",
]

_STARTED_S = time.monotonic()
# Threads of Dask log while a cluster ends, to a stream that pytest has closed; logging would print a traceback of each.
logging.raiseExceptions = False
# Processes that tests start would compile all sources anew where the environment forbids to keep what was compiled.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


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


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave the test out when the time is over."""
    seconds = item.config.getoption("--seconds")
    if seconds is not None and time.monotonic() - _STARTED_S > seconds:
        pytest.skip(f"left out: not begun within {seconds:.0f} s")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many tests were skipped for each reason."""
    reasons = Counter(report.longrepr[2] for report in terminalreporter.getreports("skipped"))
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} {reason.removeprefix('Skipped: ').splitlines()[0]}")
