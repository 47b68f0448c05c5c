"""The table of drawn kernels counts each once by its types and its layout, and once by each of its strategies."""

from benchmarks.compiler.random_gemms import table
from tests.codegen.xe.build.draws import draw


def test_drawn_and_right_kernels_are_counted_by_types_layout_and_strategy() -> None:
    verdicts = [(draw(seed, small=True), seed != 3) for seed in range(40)]
    head, rule, *lines = table(verdicts)
    assert (head, rule) == ("| | | b580 | pvc |", "|---|---|---:|---:|")
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    assert {row[0] for row in rows} == {"types", "layout", "strategy"}
    for axis in ("types", "layout"):
        cells = [cell.split(" of ") for row in rows if row[0] == axis for cell in row[2:] if cell]
        assert (sum(int(right) for right, _ in cells), sum(int(drawn) for _, drawn in cells)) == (39, 40)
    assert {"prefetch", "split K", "shared local memory"} <= {row[1] for row in rows}
