"""Files hold jobs of CPUs, their wall times, and trials that reuse a time of another job."""

from dataclasses import replace
from typing import Any

import pytest

from tests.tuner.exchange import cpu_lines, lines
from tests.tuner.exchange.cpu_lines import SECOND_JOB, results
from tests.tuner.exchange.lines import JOB, changed, read, text_of
from tests.tuner.exchange.test_jsonl import Change, drop, put
from tuner.errors import InvalidLine
from tuner.exchange.kernel_record import binary_of
from tuner.session.trial import ReusedFrom


def test_jobs_of_cpus_what_they_took_and_trials_that_took_a_time_come_back() -> None:
    exchange = read(text_of(results()))
    assert exchange.jobs[JOB].record.effort == cpu_lines.EFFORT
    assert exchange.jobs[SECOND_JOB].record.effort is None
    assert [line.record for line in exchange.trials.values()] == [cpu_lines.measured(), cpu_lines.taken()]
    (kernel,) = (line.record for line in exchange.kernels.values())
    assert kernel == cpu_lines.kernel()
    assert binary_of(kernel) == cpu_lines.OBJECT


def of_a_failure(document: dict[str, Any]) -> None:
    """A trial that crashed and yet took a time."""
    put("outcome", {"status": "crashed", "reason": "signal 11"})(document)
    put("source", {"job": SECOND_JOB, "number": 3, "scale": 1.0})(document)
    for name in ("compile_key", "versions", "measured_at"):
        put(name, None)(document)


@pytest.mark.parametrize(
    ("line", "change", "said"),
    [
        (4, put("stop", "paused"), "line 4: job: stop: expected what ended the job's search, got paused"),
        (4, put("effort.compile_s", -1.0), "line 4: job: effort.compile_s: expected 0 to 999999999, got -1.0"),
        (6, drop("header"), "line 6: kernel: expected object_code and header of a CPU's kernel, got object_code"),
        (6, put("spirv", "AwIjBw=="), "line 6: kernel: expected object_code and header of a CPU's kernel, got spirv"),
        (6, put("object_code", "AwIjBw=="), "line 6: kernel: object_code: expected a 64-bit ELF file"),
        (6, put("config.strategy.isa", "mmx"), "line 6: kernel: config.strategy.isa: expected one of"),
        (8, put("source.scale", 0.0), "line 8: trial: source.scale: expected 1e-12 to"),
        (8, put("source.number", 9), "line 8: trial: source: expected a trial of a line before, got 9 of job"),
        (8, put("source.job", "x"), "line 8: trial: source.job: expected a UUID"),
        (7, of_a_failure, "line 7: trial: source: expected it of a measured trial, got one that is crashed"),
    ],
)
def test_what_a_line_cannot_be_is_said(line: int, change: Change, said: str) -> None:
    with pytest.raises(InvalidLine, match=f"^{said}"):
        read(changed(results(), line, change))


def test_a_time_is_taken_from_who_measured_it() -> None:
    third = "01970a3c-0000-7000-8000-00000000000d"
    records = [*results()[:5], cpu_lines.job(id=third, best=None), *results()[5:]]
    again = replace(cpu_lines.taken(), job=third, source=ReusedFrom(SECOND_JOB, 3, 1.0))
    with pytest.raises(InvalidLine, match=r"line 10: trial: source: .* was measured itself, got that of line 9"):
        read(text_of([*records, again]))


def test_a_time_is_taken_from_the_same_problem() -> None:
    job = replace(lines.job(best=None), id=SECOND_JOB)
    named = lines.results()[1:3]
    taken = replace(lines.measured(0, 50.0), job=SECOND_JOB, source=ReusedFrom(JOB, 0, 1.0))
    records = [*results()[:4], *named, job, results()[5], results()[6], lines.kernel(0), taken]
    with pytest.raises(InvalidLine, match="line 11: trial: source: expected a trial of the same problem and device"):
        read(text_of(records))
