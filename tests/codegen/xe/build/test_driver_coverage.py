"""The page of what the driver accepts counts every cell, and a sample of them is accepted as it says."""

import re
from pathlib import Path

import pytest

from tests.codegen.xe.build.coverage import Case
from tests.codegen.xe.build.driver_coverage import Accepted, accept, legal_cases, render
from tests.hal.driver.real_driver import real_driver

PAGE = (Path(__file__).parents[4] / "docs/driver_coverage.md").read_text()
CASES = legal_cases()


def test_the_page_counts_every_cell_that_the_rules_allow() -> None:
    rows = re.findall(r"^\| (\w+) \| ([^|]+?) \| (\d+) \| (\d+) \|", PAGE, re.MULTILINE)
    for device, table, cells, _ in rows:
        assert int(cells) == sum((case.device, case.key[0]) == (device, table) for case in CASES)
    assert sum(int(cells) for _, _, cells, _ in rows) == len(CASES)


def test_a_page_names_what_is_refused_and_what_was_logged() -> None:
    two = CASES[:2]
    page = render(
        two, [Accepted("26.27.1", 64, "warning: recompiled\n"), Accepted(fault="KernelBuildFailed: no | bar")]
    )
    assert f"| {two[0].device} | {two[0].key[0]} | 2 | 1 | 1 | 1 |" in page
    assert f"| {two[1].device} | {', '.join(two[1].key)} | KernelBuildFailed: no / bar |" in page
    assert f"| {two[0].device} | warning: recompiled | 1 |" in page


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES[::97], ids=lambda case: "-".join((case.device, *case.key)).replace(" ", "_"))
def test_a_cell_is_accepted(case: Case) -> None:
    real_driver()
    assert accept(case).fault == ""
