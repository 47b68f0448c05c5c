"""The page of coverage holds every cell, none of them wrong, and a sample of them is as it says."""

from pathlib import Path

import pytest

from tests.codegen.xe.build.coverage import NARROW, VERIFIED, Case, cases, read, render
from tests.codegen.xe.build.judge import cell_of

PAGE = (Path(__file__).parents[4] / "docs/coverage.md").read_text()
CASES = list(cases())
SAMPLE = CASES[::61]


def test_the_page_has_the_cells_and_is_as_it_is_written() -> None:
    assert list(read(PAGE)) == [case.key for case in CASES]
    assert render(read(PAGE), CASES) == PAGE


def test_a_cell_is_verified_or_refused_by_the_rule_that_it_names() -> None:
    cells = read(PAGE)
    for case in CASES:
        refused = case.refusal()
        assert cells[case.key] == (VERIFIED if refused is None else refused.rule)


@pytest.mark.parametrize("device", ["a770", "mtl"])
def test_the_page_says_how_many_cells_differ_for_sub_groups_of_8(device: str) -> None:
    cells = read(PAGE)
    refused = {case.key: refused.rule for case in cases(device) if (refused := case.refusal()) is not None}
    differing = {rule for key, rule in refused.items() if rule != cells[key]}
    count = sum(rule != cells[key] for key, rule in refused.items())
    assert f"{count} of {len(cells)} differ" in PAGE
    of_both = {"device-tf32", "prefetch-effect"}
    assert differing == of_both | ({"registers", "weights"} if device == "mtl" else {"workspace-operands"})


@pytest.mark.slow
@pytest.mark.parametrize("device", NARROW)
def test_a_sample_for_sub_groups_of_8_is_verified_or_refused(device: str) -> None:
    for case in list(cases(device))[::29]:
        assert cell_of(case) == (VERIFIED if (refused := case.refusal()) is None else refused.rule, "")


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: "-".join(case.key).replace(" ", "_"))
def test_a_cell_is_as_the_page_says(case: Case) -> None:
    assert cell_of(case) == (read(PAGE)[case.key], "")
