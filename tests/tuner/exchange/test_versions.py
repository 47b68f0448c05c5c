"""Files of every version are read: each as the program of that version wrote it, with what it had by then."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tuner.exchange import cpu_lines, lines
from tests.tuner.exchange.cpu_lines import SECOND_JOB
from tests.tuner.exchange.lines import JOB, read, text_of
from tuner.errors import InvalidLine
from tuner.exchange.jsonl import Exchange
from tuner.exchange.records import READABLE, VERSION
from tuner.search.objective import Objective
from tuner.session.result import Stop
from tuner.session.trial import Measurement

FILES = Path(__file__).parent / "files"


def text(version: int) -> bytes:
    """The file of a version."""
    return (FILES / f"version_{version}.jsonl").read_bytes()


def times(exchange: Exchange) -> Measurement:
    """Those of the first trial."""
    found = exchange.trials[JOB, 0].record.outcome.measurement
    assert found is not None
    return found


def has_times(exchange: Exchange) -> bool:
    return times(exchange).median_us == 50.0 and len(exchange.kernels) == 2 and len(exchange.trials) == 4


def has_conditions(exchange: Exchange) -> bool:
    return times(exchange).clock_mhz == 2850.0 and times(exchange).first_ratio == 1.25


def has_jobs_of_cpus(exchange: Exchange) -> bool:
    took = exchange.trials[SECOND_JOB, 3].record.source
    return exchange.jobs[JOB].record.effort == cpu_lines.EFFORT and took is not None and took.job == JOB


def has_what_ended_it(exchange: Exchange) -> bool:
    (kernel,) = exchange.kernels.values()
    return exchange.jobs[JOB].record.stop is Stop.NO_GAIN and kernel.record.code_hash is not None


def has_its_search(exchange: Exchange) -> bool:
    job, trial = exchange.jobs[JOB].record, exchange.trials[SECOND_JOB, 3].record
    assert job.search is not None
    asked = job.search.no_gain, job.search.objective, job.warm_start, len(job.donors)
    return asked == (12, Objective.TIME_MEMORY, True, 1) and trial.proposer == "nsga2"


@pytest.mark.parametrize(
    ("version", "has", "lacks"),
    [
        (1, has_times, has_conditions),
        (2, has_conditions, None),
        (3, has_jobs_of_cpus, has_what_ended_it),
        (4, has_what_ended_it, None),
        (5, has_its_search, None),
    ],
)
def test_a_file_of_each_version_is_read(
    version: int, has: Callable[[Exchange], bool], lacks: Callable[[Exchange], bool] | None
) -> None:
    exchange = read(text(version))
    assert exchange.header.version == version
    assert has(exchange)
    assert lacks is None or not lacks(exchange)


def test_there_is_a_file_of_every_version_that_is_read() -> None:
    assert [int(path.stem.removeprefix("version_")) for path in sorted(FILES.iterdir())] == list(READABLE)
    assert max(READABLE) == VERSION


def test_what_programs_of_version_4_wrote_before_it_had_a_number_is_read() -> None:
    early = text(5).replace(b'"version":5', b'"version":4', 1)
    assert has_its_search(read(early))


def test_what_is_written_says_the_newest_version_and_a_later_one_is_refused_by_its_number() -> None:
    written = text_of([lines.header()])
    assert f'"version":{VERSION}'.encode() in written
    later = written.replace(f'"version":{VERSION}'.encode(), f'"version":{VERSION + 1}'.encode())
    with pytest.raises(InvalidLine, match=rf"line 1: version: expected 1 .* or {VERSION}, got {VERSION + 1} \(written"):
        read(later)
