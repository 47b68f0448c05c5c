"""A set of shapes as its page shows it: each shape with its gain, the fewest kernels, what may change."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from codegen import InvalidProblem
from db.schema.job import Job
from db.schema.kernel import Kernel
from db.schema.shape_set import ShapeSetCell, ShapeSetKernel, ShapeSetMember
from service.api.shapes.schemas import (
    CellOut,
    KernelChoice,
    ShapeOut,
    ShapeSetOut,
)
from service.configurations import ConfigBody
from service.dashboard.charts.answers import csv_cell
from service.dashboard.charts.document import Chart, ChartAxis, Column, Mark, Row, Series
from service.dashboard.evidence import ProofFigure, TimeEvidence
from service.dashboard.naming import config_label
from service.job_summary import Basis, acceptance_words
from service.schemas import Evidence, ProblemBody, to_problem
from tuner.session.evidence import NATIVE

KNOWN_BY = {
    "interleaved": "measured interleaved",
    "trial": "measured by single trials",
    "predicted": "predicted by the model",
    "none": "not known",
}
_NAMES = {
    TimeEvidence.MEASURED: "measured",
    TimeEvidence.EMULATED: "measured, DPAS emulated",
    TimeEvidence.PREDICTED: "predicted",
}

_CSV_HEADINGS = (
    *("number", "name", "problem", "m", "n", "k", "weight", "status", "trials"),
    *("default_us", "tuned_us", "gain", "time_evidence", "compared", "results_verified", "job"),
)


@dataclass(frozen=True, slots=True)
class ShapeRow:
    """A shape in the table, counted from 1. `time` is the evidence of its best; None before there is one."""

    number: int
    shape: ShapeOut
    problem: str
    time: TimeEvidence | None
    proof: ProofFigure | None

    @property
    def by(self) -> str:
        """Basis of the comparison of default and best."""
        if self.time is TimeEvidence.PREDICTED:
            return "by the model"
        return (Basis.INTERLEAVED if self.shape.interleaved else Basis.SINGLE).of_two


@dataclass(frozen=True, slots=True)
class KernelTime:
    """Time of a kernel on a shape. `kernel_id` is its binary for that shape, None if none is stored."""

    shape: int
    time_us: float | None
    slower: float | None
    evidence: TimeEvidence | None
    reason: str | None
    kernel_id: str | None


@dataclass(frozen=True, slots=True)
class KernelRow:
    """A kernel that was tried on all shapes, with its configuration in a line; `times` has a cell for each shape."""

    choice: KernelChoice
    config: str
    needed: bool
    times: tuple[KernelTime | None, ...]

    @property
    def serves(self) -> tuple[KernelTime, ...]:
        """Its times on the shapes that it serves."""
        return tuple(time for time in self.times if time is not None and time.shape in self.choice.serves)


def shape_rows(found: ShapeSetOut) -> list[ShapeRow]:
    """Each shape of a set, in its order."""
    return [
        ShapeRow(number, shape, problem_text(shape.problem), *_evidence(shape.evidence))
        for number, shape in enumerate(found.shapes, start=1)
    ]


def evidence_of_total(rows: list[ShapeRow]) -> TimeEvidence | None:
    """Return the evidence of the sum over all shapes with a gain; None if it differs, so that there is no sum."""
    kinds = {row.time for row in rows if row.shape.gain is not None}
    return kinds.pop() if len(kinds) == 1 else None


def kernel_rows(found: ShapeSetOut, binaries: Mapping[tuple[int, int], UUID], native: bool) -> list[KernelRow]:
    """The kernels that were tried on all shapes, those that are needed first; none before they were compared.

    `binaries` are ids of kernels by number of kernel and shape; measured times are the device's own if `native`.
    """
    if (cover := found.cover) is None:
        return []
    cells = {(cell.kernel, cell.shape): _kernel_time(cell, binaries, native) for cell in cover.cells}
    shapes = range(1, len(found.shapes) + 1)
    rows = [
        KernelRow(
            choice, _config(choice), choice.number in cover.needed, tuple(cells.get((choice.number, n)) for n in shapes)
        )
        for choice in cover.kernels
    ]
    return sorted(rows, key=lambda row: (not row.needed, row.choice.number))


def read_binaries(session: Session, set_id: UUID) -> dict[tuple[int, int], UUID]:
    """The stored kernels of a set, by the number of the kernel in it and of the shape that it was built for."""
    query = (
        select(ShapeSetKernel.position, ShapeSetMember.position, Kernel.id)
        .join(ShapeSetCell, ShapeSetCell.kernel_id == ShapeSetKernel.id)
        .join(ShapeSetMember, ShapeSetMember.id == ShapeSetCell.member_id)
        .join(Job, Job.id == ShapeSetMember.job_id)
        .join(Kernel, (Kernel.problem_id == Job.problem_id) & (Kernel.device_id == Job.device_id))
        .where(ShapeSetKernel.set_id == set_id, Kernel.content_hash == ShapeSetCell.content_hash)
        .order_by(Kernel.id)  # of the same binary the newest
    )
    return {(kernel + 1, shape + 1): kernel_id for kernel, shape, kernel_id in session.execute(query)}


def news_of(found: ShapeSetOut) -> str:
    """Return a text that changes whenever the page would change."""
    states = "".join(shape.status[0] for shape in found.shapes)
    return f"{found.status}-{found.running:d}-{found.trials}-{states}-{len(found.cover.cells) if found.cover else 0}"


def gains_chart(found: ShapeSetOut) -> Chart:
    """Gain of each shape over its default, a series for each evidence."""
    series: dict[TimeEvidence, list[tuple[Row, str]]] = {}
    for row in shape_rows(found):
        shape = row.shape
        if row.time is not None and shape.gain is not None:
            values = row.number, shape.gain, shape.default_us, shape.tuned_us, shape.weight, row.problem, shape.name
            series.setdefault(row.time, []).append(((*values, row.by), f"/jobs/{shape.job_id}"))
    return Chart(
        title="Gain of each shape over its default",
        note=f"{sum(map(len, series.values())):,} of {len(found.shapes):,} shapes have one.",
        columns=(
            Column("Shape"),
            Column("Gain over the default", "x"),
            Column("Default", "µs"),
            Column("Tuned", "µs"),
            Column("Weight"),
            Column("Problem"),
            Column("Name"),
            Column("Compared"),
        ),
        series=tuple(
            Series(_NAMES[evidence], Mark.DOTS, [row for row, _ in rows], evidence, links=[link for _, link in rows])
            for evidence, rows in series.items()
        ),
        x=ChartAxis(0, "Shape", whole=True),
        y=ChartAxis(1, "Gain", "x", from_zero=True),
        empty="No shape has a time for its default and its best yet.",
    )


def shapes_csv(found: ShapeSetOut) -> str:
    """Each shape of a set with what is known of it; a field is empty where nothing is."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(_CSV_HEADINGS)
    for row in shape_rows(found):
        shape, p = row.shape, row.shape.problem
        sizes = p.m, p.n, p.k, shape.weight, shape.status.value, shape.trials
        times = shape.default_us, shape.tuned_us, shape.gain, row.time, row.by if shape.gain is not None else None
        proof = None if row.proof is None else row.proof.kind
        values = row.number, shape.name, row.problem, *sizes, *times, proof, str(shape.job_id)
        writer.writerow([csv_cell(value) for value in values])
    return text.getvalue()


def problem_text(body: ProblemBody) -> str:
    """A problem in a line; its sizes alone where this version would refuse it."""
    try:
        return str(to_problem(body))
    except InvalidProblem:
        return f"{body.m}x{body.n}x{body.k}"


def _evidence(evidence: Evidence | None) -> tuple[TimeEvidence | None, ProofFigure | None]:
    if evidence is None:
        return None, None
    p, time = evidence.proof, evidence.time
    proof = ProofFigure(
        p.kind,
        p.checked,
        p.total,
        p.max_error,
        p.tolerance,
        p.method,
        accepted=acceptance_words(evidence.acceptance),
        refusal=p.refusal,
    )
    if time is None:
        return None, proof
    if time.kind == "predicted":
        return TimeEvidence.PREDICTED, proof
    return (TimeEvidence.MEASURED if time.label == NATIVE else TimeEvidence.EMULATED), proof


def _kernel_time(cell: CellOut, binaries: Mapping[tuple[int, int], UUID], native: bool) -> KernelTime:
    kernel_id = binaries.get((cell.kernel, cell.shape))
    evidence = None
    if cell.time_us is not None:
        measured = TimeEvidence.MEASURED if native else TimeEvidence.EMULATED
        evidence = TimeEvidence.PREDICTED if cell.evidence == "predicted" else measured
    stored = None if kernel_id is None else str(kernel_id)
    return KernelTime(cell.shape, cell.time_us, cell.slower, evidence, cell.reason, stored)


def _config(choice: KernelChoice) -> str:
    config = choice.config
    return config_label(config.model_dump(mode="json") if isinstance(config, ConfigBody) else config)
