"""The table of faults names tests that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FAULTS = 19


def test_each_fault_names_tests_that_exist() -> None:
    rows = [line for line in (ROOT / "docs/faults.md").read_text().splitlines() if "`tests/" in line]
    assert len(rows) == FAULTS
    named = {path for row in rows for path in re.findall(r"`(tests/[\w/]+\.py)`", row)}
    assert [path for path in sorted(named) if not (ROOT / path).is_file()] == []
