"""Lines of what searches were made from: they come back as they were written, and what cannot be is refused."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.conformance.trial_samples import config
from tests.tuner.exchange.lines import JOB, b580, changed, read, results, text_of
from tuner.errors import InvalidLine
from tuner.exchange.records import Record, SearchRecord
from tuner.search.start import SearchStart

START = SearchStart(2, b580(), True, 30, (config(5), config(6)), "a space", {"numpy": "2.4.6", "processor": "amd-epyc"})
UNKNOWN = "01970a3c-0000-7000-8000-0000000000ff"


def whole() -> list[Record]:
    """The results, with two searches of their job as lines 5 and 6."""
    found = results()
    searches = [SearchRecord(JOB, replace(START, told=0, donors=())), SearchRecord(JOB, START)]
    return [*found[:4], *searches, *found[4:]]


def test_searches_come_back_as_they_were_written() -> None:
    found = read(text_of(whole())).searches
    assert [line.record.start for line in found.values()] == [replace(START, told=0, donors=()), START]
    assert list(found) == [(JOB, 0), (JOB, 2)]


def put(name: str, value: object) -> Callable[[dict[str, Any]], object]:
    """Sets a field of what the search was made from."""
    return lambda document: document["start"].update({name: value})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda document: document.update(job=UNKNOWN),
            f"job: expected the id of a job in a line before, got {UNKNOWN}",
        ),
        (lambda document: document.update(start=[]), "start: expected an object"),
        (put("told", 0), "expected it once, got .* again after line 5"),
        (put("told", -1), "expected told of at least 0"),
        (put("trials", 2**31), "start.trials: expected 1 to"),
        (put("donors", [7]), "start.donors: expected"),
        (put("space", "a\nb"), "start.space and start.versions: expected 1 to 200 printable"),
        (put("versions", {str(n): "1" for n in range(101)}), "start.versions: expected at most 100, got 101"),
        (put("measured", 1), "start.measured: expected bool, got 1"),
        (lambda document: document["start"]["spec"].update(id="b570"), "start.spec.id: expected 'b580', the device of"),
        (lambda document: document["start"]["spec"].update(xe_cores=2**60), "spec.xe_cores: expected 0 to"),
    ],
)
def test_a_search_that_cannot_be_is_refused(change: Callable[[dict[str, Any]], object], said: str) -> None:
    with pytest.raises(InvalidLine, match=f"line 6: search: ({said})"):
        read(changed(whole(), 6, change))
