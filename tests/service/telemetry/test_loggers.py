"""Logs of a command: structlog is imported and configured at the first line."""

import subprocess
import sys

import pytest

_LOGGED = """
import logging, sys
from service.telemetry.loggers import Logger, configure_late
from service.settings import Settings
configure_late(Settings(log_level="warning", log_format="json"))
ours, theirs = Logger("ours"), logging.getLogger("theirs")
theirs.info("not shown")
ours.info("not shown")
ours.debug("not shown")
print("structlog" in sys.modules)
{first}
ours.warning("a line", job="7")
ours.info("not shown")
theirs.warning("theirs")
"""


@pytest.mark.parametrize("first", ["pass", "theirs.warning('theirs')"])
def test_the_first_line_configures_the_logs(first: str) -> None:
    run = [sys.executable, "-c", _LOGGED.format(first=first)]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "False\n"
    lines = done.stderr.splitlines()
    assert ['"job": "7"' in line for line in lines] == ([True, False] if first == "pass" else [False, True, False])
    assert all(line.startswith("{") and '"timestamp"' in line for line in lines)
