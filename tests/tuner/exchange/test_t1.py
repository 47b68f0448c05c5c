"""T1 files: the configurations that a condition lists are read, other files are refused by the field at fault."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.tuner.exchange.lines import GEMM
from tuner.exchange.documents import parse
from tuner.exchange.results import Provenance, Results, Tried
from tuner.exchange.t1 import Launch, specification_of, to_t1
from tuner.session.evidence import NATIVE
from tuner.session.trial import Status

SOURCE = Provenance(GEMM, "b580", "Arc B580", "1", NATIVE, "the lab", "xetune")
POINTS: tuple[tuple[Any, ...], ...] = ((64, 1, "row"), (32, 1, "col"), (32, 1, "row"))
LAUNCH = Launch("gemm", "kernel.spv", (64, 2, 1), (64, 1, 1), ())


def written(points: tuple[tuple[Any, ...], ...] = POINTS) -> dict[str, Any]:
    """The T1 document of these points."""
    tried = tuple(Tried(point, Status.CRASHED, reason="signal 11") for point in points)
    return to_t1(Results("gemm", "Arc B580", (96, 64, 128), ("block", "vector", "order"), tried, SOURCE), LAUNCH)


@pytest.mark.parametrize("points", [POINTS, POINTS[:1]])
def test_a_space_comes_back_as_it_was_written(points: tuple[tuple[Any, ...], ...]) -> None:
    found = specification_of(parse("t1.json", json.dumps(written(points))))
    assert found.source == SOURCE
    assert [(c["block"], c["vector"], c["order"]) for c in found.configurations] == list(points)


def condition(text: str) -> Callable[[dict[str, Any]], object]:
    """Puts another expression in the place of the condition."""
    return lambda document: document["ConfigurationSpace"]["Conditions"][0].update(Expression=text)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["General"].pop("xetune"), "General.xetune: expected problem and device, as `xetune export"),
        (lambda d: d["ConfigurationSpace"]["TuningParameters"][0].update(Values="64"), r"TuningParameters\[0\].Values"),
        (condition("block <= 64"), r"expected one that lists configurations, `\(block, order,\) in"),
        (condition("__import__('os').abort()"), "expected one that lists configurations"),
        (condition("(block, order) in [(8, 'row')]"), r"expected values of the parameters block, order, got \(8"),
        (condition("(block, order) in [(64,)]"), "expected values of the parameters block, order, got"),
        (condition("(block,) in [(64,)]"), "expected one that lists configurations"),
        (lambda d: d["ConfigurationSpace"].update(Conditions=[]), "expected one that lists .* got 'none'"),
    ],
)
def test_another_file_is_refused_by_the_field_at_fault(change: Callable[[dict[str, Any]], object], said: str) -> None:
    document = written()
    change(document)
    with pytest.raises(ValueError, match=said):
        specification_of(parse("t1.json", json.dumps(document)))
