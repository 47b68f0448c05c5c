"""Published configurations are legal in our terms, or the reason why not is here."""

from pathlib import Path

import pytest

from codegen.xe.rules import violations
from hal import find
from tests.codegen.xe.build.published import Published, read_published

FILE = Path(__file__).parents[5] / "shared/data/gemm_configs_published.csv"
ROWS = read_published(FILE) if FILE.exists() else []

EIGHT_COLUMNS = "a DPAS has 16 columns, one for each lane; of a tile of 8 half of every product would be thrown away"
ALL_REGISTERS = "the accumulator takes all 256 registers: what is multiplied has none, and every K step spills"
REFUSED = {
    13: ("dpas-shape", EIGHT_COLUMNS),
    15: ("dpas-shape", EIGHT_COLUMNS),
    20: ("registers", ALL_REGISTERS),
    21: ("registers", ALL_REGISTERS),
    57: ("dpas-shape", EIGHT_COLUMNS),
    80: ("registers", ALL_REGISTERS),
}
NOT_ONE = {
    26: "how to choose the splits of K, no tile",
    46: "the row is cut off before its K step",
    62: "no K step",
    95: "a space of tiles, of which others here are members",
    101: "names of options, no numbers",
    104: "of a GPU whose sub-groups have 8 lanes, which no kernel here is for",
    105: "of a type that DPAS does not have, and without columns",
}


@pytest.mark.skipif(not ROWS, reason=f"needs the table of published configurations, {FILE}")
def test_the_table_is_the_one_that_was_judged() -> None:
    assert len(ROWS) == 104
    assert {row.line for row in ROWS if row.block is None or not row.devices} == set(NOT_ONE)


@pytest.mark.parametrize("row", [row for row in ROWS if row.line not in NOT_ONE], ids=lambda row: row.name)
def test_a_published_configuration_is_legal_or_refused_for_a_reason(row: Published) -> None:
    for device in row.devices:
        refusals = [violations(row.problem(), config, find(device)) for config in row.configs()]
        if row.line in REFUSED:
            rule, _ = REFUSED[row.line]
            assert all(rule in {refused.rule for refused in found} for found in refusals)
            assert refusals
        else:
            assert [] in refusals, f"{device}: {refusals[0] if refusals else 'no layout'}"
