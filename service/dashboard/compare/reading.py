"""Data of the comparison page of two kernels, or of the candidates to compare a kernel with."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from db.schema.kernel import Kernel
from service.dashboard.charts.document import Chart, ChartAxis, Column, Mark, Row, Series
from service.dashboard.compare.cost import Cost, cost
from service.dashboard.compare.differences import Group, groups
from service.dashboard.compare.texts import TextDifference, difference
from service.dashboard.evidence import TimeEvidence
from service.dashboard.kernels.reading import read_code
from service.dashboard.kernels.rows import KernelRow, kernel_rows
from service.dashboard.kernels.runners_up import elsewhere, same_place
from service.dashboard.kernels.stages import TITLES, ReadArtifact, texts

_SAME = Cost(None, "A and B are the same kernel.")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two kernels. `stage` is the compared text, of those that both have; `difference` None if one is missing."""

    left: KernelRow
    right: KernelRow
    cost: Cost
    groups: tuple[Group, ...]
    stages: tuple[tuple[str, str], ...]
    stage: str | None
    difference: TextDifference | None

    @property
    def href(self) -> str:
        """The address of this comparison."""
        return f"/compare?kernel={self.left.id}&kernel={self.right.id}"


@dataclass(frozen=True, slots=True)
class Candidates:
    """A kernel, and others of its problem: on the same device, and on others."""

    kernel: KernelRow
    here: tuple[KernelRow, ...]
    elsewhere: tuple[KernelRow, ...]


def compare(session: Session, left: Kernel, right: Kernel, read: ReadArtifact, stage: str) -> Comparison:
    """Compare two kernels, with the texts of `stage`, or of the first stage that both have."""
    a, b = kernel_rows(session, [left.id, right.id])
    theirs = set(texts(right.artifacts))
    both = [name for name in texts(left.artifacts) if name in theirs]
    chosen = stage if stage in both else next(iter(both), None)
    return Comparison(
        left=a,
        right=b,
        cost=_SAME if left.id == right.id else cost(a.time, b.time, left.problem_id == right.problem_id),
        groups=tuple(groups(left, right, (read_code(left, read), read_code(right, read)))),
        stages=tuple((name, TITLES[name]) for name in both),
        stage=chosen,
        difference=None if chosen is None else _difference(left, right, chosen, read),
    )


def candidates(session: Session, kernel: Kernel) -> Candidates:
    """Return the kernels that a kernel can be compared with."""
    here, there = same_place(session, kernel), elsewhere(session, kernel)
    row, *others = kernel_rows(session, [kernel.id, *here, *there])
    return Candidates(row, tuple(others[: len(here)]), tuple(others[len(here) :]))


def times_chart(session: Session, ids: tuple[UUID, UUID]) -> Chart:
    """Both times with their spread; a series for each evidence."""
    rows: dict[TimeEvidence, list[Row]] = {}
    for name, kernel in zip("AB", kernel_rows(session, ids), strict=True):
        if (time := kernel.time) is not None:
            row = name, time.time_us, time.low_us, time.high_us, time.label, kernel.config
            rows.setdefault(time.evidence, []).append(row)
    bars = [Series(e.words, Mark.BARS, found, e) for e, found in rows.items()]
    spans = [
        Series(f"{e.words}, spread", Mark.SPANS, found, e, part_of=e.words, low=2, high=3) for e, found in rows.items()
    ]
    columns = (Column("Kernel"), Column("Time", "µs"), Column("Low", "µs"), Column("High", "µs"))
    return Chart(
        title="Times of both",
        note="Medians, from p10 to p90 where measured in a single run; with the model's interval where predicted.",
        columns=(*columns, Column("Evidence"), Column("Configuration")),
        series=(*bars, *spans),
        x=ChartAxis(0, "Kernel", scale="category", categories=("A", "B")),
        y=ChartAxis(1, "Time", "µs", from_zero=True),
        empty="Neither kernel has a time.",
    )


def _difference(left: Kernel, right: Kernel, name: str, read: ReadArtifact) -> TextDifference | None:
    found = [read(next(a.sha256 for a in kernel.artifacts if a.name == name)) for kernel in (left, right)]
    if found[0] is None or found[1] is None:
        return None
    return difference(found[0].decode(errors="replace"), found[1].decode(errors="replace"))
