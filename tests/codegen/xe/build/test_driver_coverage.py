"""The page of what the driver accepts counts every cell, and each is accepted as it says."""

import os
import re
from functools import cache
from pathlib import Path

import pytest

from benchmarks.compiler.fresh_workers import each
from tests.codegen.xe.build.driver_coverage import Accepted, accept, legal_cases, render
from tests.hal.driver.real_driver import real_driver

PAGE = (Path(__file__).parents[4] / "docs/driver_coverage.md").read_text()
SHARDS, _PROCESSES = 26, os.cpu_count() or 2  # 103 or 104 cells each
_cases = cache(legal_cases)


def test_the_page_counts_every_cell_that_the_rules_allow() -> None:
    rows = re.findall(r"^\| (\w+) \| ([^|]+?) \| (\d+) \| (\d+) \|", PAGE, re.MULTILINE)
    for device, table, cells, accepted in rows:
        assert accepted == cells
        assert int(cells) == sum((case.device, case.key[0]) == (device, table) for case in _cases())
    assert sum(int(cells) for _, _, cells, _ in rows) == len(_cases())


def test_a_page_names_what_is_refused_and_what_was_logged() -> None:
    two = _cases()[:2]
    page = render(
        two, [Accepted("26.27.1", 64, "warning: recompiled\n"), Accepted(fault="KernelBuildFailed: no | bar")]
    )
    assert f"| {two[0].device} | {two[0].key[0]} | 2 | 1 | 1 | 1 |" in page
    assert f"| {two[1].device} | {', '.join(two[1].key)} | KernelBuildFailed: no / bar |" in page
    assert f"| {two[0].device} | warning: recompiled | 1 |" in page


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_cell_is_accepted_as_the_page_says(shard: int) -> None:
    real_driver()
    cases = _cases()[shard::SHARDS]
    pairs = list(zip(cases, each(accept, cases, _PROCESSES), strict=True))
    assert [(case.device, case.key, result.fault) for case, result in pairs if result.fault] == []
    assert [(case.device, case.key, result.spill_bytes) for case, result in pairs if result.spill_bytes] == []
    logged = {(case.device, line.strip()) for case, result in pairs for line in result.log.splitlines() if line.strip()}
    assert [line for line in logged if f"| {line[0]} | {line[1]} |" not in PAGE] == []
