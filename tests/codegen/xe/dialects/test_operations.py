"""Every form of every operation reaches the stage that docs/operations.md states, and computes the right numbers."""

from dataclasses import fields, replace
from itertools import cycle
from pathlib import Path

import pytest

from hal.facts.xe import find
from tests.codegen.xe.operations.case import Case, Level
from tests.codegen.xe.operations.catalogue import CASES, FILES, SAMPLE
from tests.codegen.xe.operations.table import (
    EIGHT_LANES,
    NOT_ASKED,
    Row,
    cell_of,
    device_of,
    read,
    render,
    row_of,
    verdicts_of,
)
from tests.codegen.xe.operations.verdict import judge

PAGE = (Path(__file__).parents[4] / "docs/operations.md").read_text()
ROWS = {(row.operation, row.form): row for row in read(PAGE)}
FEW = SAMPLE[::12]
OTHERS = [case for case in CASES if case not in FEW]


def name(case: Case | str) -> str:
    """Return the id of a case, or of a device."""
    return case if isinstance(case, str) else case.name.replace(" ", "_")


def check(case: Case) -> None:
    """Check that a case agrees with its row; only the benchmark runs Intel's compiler."""
    verdicts = verdicts_of(case, device_of(case))
    assert not any(verdict.fault for verdict in verdicts.values())
    not_here = {
        f.name: NOT_ASKED for f in fields(Row) if f.name.startswith(("igc_", *(f"right_{g}" for g in EIGHT_LANES)))
    }
    assert row_of(case, verdicts) == replace(row_on_the_page(case), **not_here)


def row_on_the_page(case: Case) -> Row:
    """The row of a case in docs/operations.md."""
    return ROWS.get((case.operation, case.form), Row(*[""] * len(fields(Row))))


@pytest.mark.parametrize("case", FEW, ids=name)
def test_a_case(case: Case) -> None:
    check(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", OTHERS, ids=name)
def test_the_other_cases(case: Case) -> None:
    check(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", SAMPLE, ids=name)  # its SPIR-V is that for b580
def test_the_code_for_pvc_is_right(case: Case) -> None:
    for level in case.sources:
        assert not judge(case, level, find("pvc")).fault


@pytest.mark.slow
@pytest.mark.parametrize(("case", "device"), list(zip(CASES, cycle(EIGHT_LANES), strict=False)), ids=name)
def test_a_case_with_sub_groups_of_8(case: Case, device: str) -> None:
    """Forms of an operation in turn for each device; the benchmark that writes the page judges all for both."""
    assert cell_of(verdicts_of(case, device)) == getattr(row_on_the_page(case), f"right_{device}")


def test_the_page_has_the_cases_and_is_as_it_is_written() -> None:
    assert set(ROWS) == {(case.operation, case.form) for case in CASES}
    assert render(read(PAGE), CASES) == PAGE


def test_every_file_of_kernels_is_there_and_every_case_has_its_own_name() -> None:
    folder = Path(__file__).parents[1] / "operations"
    assert sorted(file.stem for file in folder.glob("*.mlir")) == sorted(FILES)
    assert len(ROWS) == len(CASES)


def test_a_level_that_makes_no_sense_has_a_reason() -> None:
    for case in CASES:
        assert (len(case.sources) < 2 and Level.WORK_ITEM not in case.sources) == bool(case.missing)


def test_kernels_of_sub_groups_have_no_maps_of_work_groups() -> None:
    for case in CASES:
        assert "sg_layout" not in case.sources.get(Level.SUBGROUP, "")
        assert "sg_layout" in case.sources.get(Level.WORKGROUP, "sg_layout")
