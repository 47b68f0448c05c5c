"""Audit of dependencies, with a report and without one."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

FILE = Path(__file__).resolve().parents[2] / ".ci" / "audit.py"
SOUND: dict[str, Any] = {"name": "a", "version": "1.0", "vulns": []}
WEAK: dict[str, Any] = {"name": "b", "version": "2.0", "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["2.1"]}]}
UNKNOWN: dict[str, Any] = {"name": "c", "skip_reason": "Dependency not found on PyPI"}


def audit() -> ModuleType:
    """Load the script."""
    spec = importlib.util.spec_from_file_location("audit", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_known_weakness_fails_and_names_the_version_that_mends_it() -> None:
    status, lines = audit().verdict({"dependencies": [SOUND, WEAK]})
    assert (status, lines[0]) == (1, "b 2.0: PYSEC-2026-1, mended in 2.1")
    assert lines[-1] == "2 of 2 dependencies audited, 1 known weaknesses"


def test_what_is_not_in_the_database_is_named_and_does_not_fail() -> None:
    status, lines = audit().verdict({"dependencies": [SOUND, UNKNOWN]})
    assert status == 0
    assert lines[0].endswith("does not know them: c")


def test_an_audit_of_nothing_is_not_passed_off_as_one() -> None:
    for report in ({"dependencies": [UNKNOWN]}, {"dependencies": []}):
        status, (line,) = audit().verdict(report)
        assert (status, line.startswith("SKIPPED: nothing was audited")) == (0, True)
