"""The table of faults names tests that are there."""

import re
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_fault_names_tests_that_exist() -> None:
    lines = (ROOT / "docs/faults.md").read_text().splitlines()
    rows = [*takewhile(bool, lines[lines.index("| fault | effect | test |") + 2 :])]
    tests = {row: re.findall(r"`(tests/[\w/]+\.py)`", row) for row in rows}
    assert rows
    assert [row for row, named in tests.items() if not named] == []
    assert [path for named in tests.values() for path in named if not (ROOT / path).is_file()] == []
