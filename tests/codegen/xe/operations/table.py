"""The table of operations, in markdown: a row for the forms of an operation of which the same holds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass

from codegen.target import target_of
from codegen.xe.subgroup import subgroups_of
from hal.facts.xe import find
from tests.codegen.xe.operations.case import Case, Level
from tests.codegen.xe.operations.verdict import Step, Verdict, judge

YES, NO, NONE, NOT_ASKED, REFUSED = "yes", "no", "-", "not asked", "refused"
DEVICE = "b580"
EIGHT_LANES = ("a770", "mtl")
"""GPUs with sub-groups of 8, without 2-D block messages; the second without DPAS."""
ASKED = {"igc_bmg": "b580", "igc_pvc": "pvc", "igc_dg2": "a770", "igc_mtl": "mtl"}
"""GPUs that Intel's compiler is asked for, by column."""

Verdicts = Mapping[Level, Verdict]

_HEAD = (
    "operation",
    "forms",
    "parses",
    "verifies",
    "interprets",
    "compiles, work-group",
    "compiles, sub-group",
    "compiles, work-item",
    "numbers, work-group",
    "numbers, sub-group",
    "numbers, work-item",
    "numbers, a770",
    "numbers, mtl",
    "IGC, bmg",
    "IGC, pvc",
    "IGC, dg2",
    "IGC, mtl",
)
_FORMS, _NOTES = "## Forms\n", "## Levels that make no sense\n"
_PLAIN, _BETWEEN = "plain", "; "
_ABOUT = f"""# Operations

Every operation that kernels may be written in, in every form, and how far each comes. The kernels are in
`tests/codegen/xe/operations`; `tests/codegen/xe/dialects/test_operations.py` checks every row but for the last four
columns, the numbers of a770 and mtl in turn, and `python -m benchmarks.compiler.operations` writes this page.

- **parses, verifies, interprets**: at its levels; it is printed as it is parsed.
- **compiles, numbers**: it becomes SPIR-V for {DEVICE}, and the simulator's numbers are the interpreter's: the same
  bits where elements only move, else within the tolerance of the kernel.
- **work-item** (SIMT): values are those of one work-item, XeGPU's those that it holds of a block of its sub-group.
- **numbers, a770** and **mtl**: the same on GPUs with sub-groups of 8; `{REFUSED}` with a message that
  names the operation: layouts and blocks of 16 work-items, values of one of 16 work-items, named barriers, products of
  tf32, on a770 f64, and on mtl, which has no DPAS, products of work-items.
- Forms with **8 work-items** are written for these GPUs, by the maps that XeGPU's RFC gives for ARC: columns of GPUs
  with sub-groups of 16 have `{NONE}`.
- **IGC**: Intel's compiler accepts the SPIR-V for that GPU (dg2 is that of a770), of all levels that compile for it,
  and its code calls no function that does not exist; `{REFUSED}` where no level compiles, `{NOT_ASKED}` where the
  compiler was not at hand.

A cell without a level in its head is for all levels that the form has: `{YES}` if each is right. If one is not, it is
`{NO}`, or `{REFUSED}` if each level that is not right was refused, even where another level compiles. `{NONE}` is a
level that the form does not have.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One form of an operation; each cell as it is printed."""

    operation: str
    form: str
    parses: str
    verifies: str
    interprets: str
    compiles_workgroup: str
    compiles_subgroup: str
    compiles_work_item: str
    right_workgroup: str
    right_subgroup: str
    right_work_item: str
    right_a770: str = NOT_ASKED
    right_mtl: str = NOT_ASKED
    igc_bmg: str = NOT_ASKED
    igc_pvc: str = NOT_ASKED
    igc_dg2: str = NOT_ASKED
    igc_mtl: str = NOT_ASKED

    @property
    def cells(self) -> tuple[str, ...]:
        """In the order of the head."""
        return astuple(self)


def verdicts_of(case: Case, device: str, known: Verdicts | None = None) -> Verdicts:
    """Judge a case at each of its levels for a GPU; `known` are verdicts for another with sub-groups of this size."""
    spec = find(device)
    with subgroups_of(target_of(spec).subgroup_size):
        return {level: judge(case, level, spec, known=(known or {}).get(level)) for level in case.sources}


def device_of(case: Case) -> str:
    """Return the GPU by which a case parses, verifies and is interpreted: the page's, or one with its sub-groups."""
    return DEVICE if case.lanes is None else EIGHT_LANES[0]


def row_of(case: Case, verdicts: Verdicts) -> Row:
    """Return a case's row from its verdicts for `device_of`; the columns of other GPUs are not asked."""
    workgroup, subgroup, work_item = (verdicts.get(level) if case.lanes is None else None for level in Level)
    return Row(
        case.operation,
        case.form,
        _said(all(v.passes(Step.PARSE) for v in verdicts.values())),
        _said(all(v.passes(Step.VERIFY) for v in verdicts.values())),
        _said(all(v.passes(Step.INTERPRET) for v in verdicts.values())),
        _compiles(workgroup),
        _compiles(subgroup),
        _compiles(work_item),
        _right(workgroup),
        _right(subgroup),
        _right(work_item),
    )


def cell_of(verdicts: Verdicts) -> str:
    """Return a case's cell for a GPU with sub-groups of 8."""
    faults = [verdict for verdict in verdicts.values() if verdict.fault]
    if not faults:
        return YES
    return REFUSED if all(map(_is_refusal, faults)) else NO


def _is_refusal(verdict: Verdict) -> bool:
    return verdict.failed is Step.COMPILE or "expected the block" in verdict.fault


def render(rows: Sequence[Row], cases: Sequence[Case]) -> str:
    """The whole page."""
    return "\n".join(
        [
            _ABOUT,
            _FORMS,
            *_table(_HEAD, _together(rows)),
            f"\n{_count(rows)}\n",
            _NOTES,
            *_notes(cases),
            "",
        ]
    )


def read(page: str) -> list[Row]:
    """The rows of a page, one for each form."""
    lines = [_cells(line) for line in page.splitlines() if line.startswith("| `")]
    return [
        Row(operation.strip("`"), "" if form == _PLAIN else form, *cells)
        for operation, forms, *cells in lines
        for form in forms.split(_BETWEEN)
    ]


def _together(rows: Iterable[Row]) -> list[tuple[str, ...]]:
    """Rows of the page: the forms of an operation whose cells are equal."""
    forms: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        forms.setdefault((row.operation, *row.cells[2:]), []).append(row.form or _PLAIN)
    return [(operation, _BETWEEN.join(those), *cells) for (operation, *cells), those in forms.items()]


def _notes(cases: Iterable[Case]) -> list[str]:
    """A line for each reason why forms lack a level."""
    names: dict[str, set[str]] = {}
    for case in cases:
        if case.missing:
            names.setdefault(case.missing, set()).add(f"`{case.name}`")
    return sorted(f"- {', '.join(sorted(those))}: {reason}." for reason, those in names.items())


def _all(column: tuple[str, ...]) -> str:
    said = [cell.partition(":")[0] for cell in column if cell != NONE]
    if not said:
        return NONE
    if len(set(said)) == 1:
        return said[0]
    counts = sorted(((said.count(word), word) for word in set(said)), reverse=True)
    return ", ".join(f"{count} {word}" for count, word in counts)


def _count(rows: Sequence[Row]) -> str:
    columns = list(zip(*(row.cells for row in rows), strict=True))
    parts = [f"{len(set(columns[0]))} operations in {len(rows)} forms"]
    for title, column in zip(_HEAD[2:], columns[2:], strict=True):
        parts.append(f"{title}: {_all(column)} of {sum(cell != NONE for cell in column)}")
    return "; ".join(parts) + "."


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(['---'] * len(head))}|"]
    return lines + [f"| `{row[0]}` | {' | '.join(row[1:])} |" for row in rows]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")]


def _compiles(verdict: Verdict | None) -> str:
    return NONE if verdict is None else _said(verdict.passes(Step.COMPILE))


def _right(verdict: Verdict | None) -> str:
    return NONE if verdict is None else _said(not verdict.fault)


def _said(holds: bool) -> str:
    return YES if holds else NO
