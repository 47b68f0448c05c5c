"""Annotated listing of a K loop: clock of issue, clocks waited, and the reason, for each instruction."""

from collections.abc import Iterator

from codegen.xe.machine.pipeline.analysis import PipelineReport
from codegen.xe.machine.pipeline.issue import Issued

_WIDTH = 110


def annotated(report: PipelineReport) -> str:
    """Return the issue of one iteration of one thread, in the steady state, below a summary."""
    return "\n".join([*(f"// {line}" for line in summary(report)), *_lines(report)]) + "\n"


def summary(report: PipelineReport) -> Iterator[str]:
    """Yield the figures of a report, in words."""
    threads = f"{report.threads} thread{'s' * (report.threads != 1)}"
    yield f"kernel {report.kernel}, K loop: {threads} on an engine, operands from {report.level}"
    least = "1 thread reaches" if report.hiding == 1 else f"{report.hiding} threads reach"
    yield (
        f"{report.clocks:.0f} clocks for an iteration of each thread, {report.dpas} dpas: "
        f"{report.utilisation:.0%} of dpas used; {least} 95 % of the best"
    )
    uses = (f"{n}: {clocks:.0f} ({n * report.busy_clks / clocks:.0%})" for n, clocks in report.by_threads.items())
    yield f"clocks by threads: {', '.join(uses)}"
    waits = sorted(report.stalls.items(), key=lambda stall: -stall[1])
    yield "a thread waits for: " + (", ".join(f"{name} {clocks:.0f}" for name, clocks in waits) or "nothing")


def _lines(report: PipelineReport) -> Iterator[str]:
    begin = report.issues[0].clock if report.issues else 0.0
    yield f"{'clock':>7} {'waits':>6}  {'for':<32} instruction"
    for issued in report.issues:
        text = report.instructions[issued.number].text.partition("//")[0]
        shown = " ".join(text.split())[:_WIDTH]
        waited = f"{issued.stall:.0f}" if issued.stall else ""
        yield f"{issued.clock - begin:>7.0f} {waited:>6}  {_reason(report, issued):<32} {shown}"


def _reason(report: PipelineReport, issued: Issued) -> str:
    if issued.waits_for is None:
        return str(issued.reason)
    return f"{issued.reason}, line {report.instructions[issued.waits_for].line}"
