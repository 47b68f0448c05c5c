"""Conditions of T1 spaces: what they mean, what is not read, and the configurations that meet them."""

import json
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuner.errors import InvalidFile
from tuner.exchange.conditions import parse_condition
from tuner.exchange.documents import parse
from tuner.exchange.t1 import configurations_of, specification_of

NAMES = frozenset({"a", "b", "word"})


def document(conditions: list[str], **values: list[Any]) -> str:
    """A T1 file of parameters and conditions."""
    kinds = {int: "int", float: "float", str: "string"}
    return json.dumps(
        {
            "ConfigurationSpace": {
                "TuningParameters": [
                    {"Name": name, "Type": kinds[type(of[0])], "Values": repr(of)} for name, of in values.items()
                ],
                "Conditions": [{"Parameters": list(values), "Expression": text} for text in conditions],
            },
            "KernelSpecification": {
                "Language": "OpenCL",
                "KernelName": "k",
                "KernelFile": "k.cl",
                "GlobalSize": {"X": "1"},
                "LocalSize": {"X": "1"},
            },
        }
    )


def found(conditions: list[str], **values: list[Any]) -> list[tuple[Any, ...]]:
    """The configurations of such a file, as values in order of the parameters."""
    specification = specification_of("t1.json", parse("t1.json", document(conditions, **values)))
    return [tuple(each[name] for name in values) for each in configurations_of("t1.json", specification)]


EXPRESSIONS = [
    "a * b <= 24",
    "a % b == 0 and not a > 8",
    "word == 'row' or b in [3, 5]",
    "(a, b) in [(2, 3), (4, 5)]",
    "2 < a // b + 1 <= a - -b",
    "min(a, b, 4) == 4 if word != 'row' else max(a, b) < abs(-6)",
    "a / b < 1.5",
    "(word, b) not in (('row', 3),)",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
@given(a=st.integers(1, 16), b=st.sampled_from([3, 5, 7]), word=st.sampled_from(["row", "column"]))
def test_an_expression_means_what_python_means(text: str, a: int, b: int, word: str) -> None:
    values: dict[str, int | float | str] = {"a": a, "b": b, "word": word}
    condition = parse_condition(text, NAMES)
    assert condition.holds(values) is bool(eval(text, {"min": min, "max": max, "abs": abs}, values))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a ** b < 3", r"got 'a \*\* b'"),
        ("__import__('os').system('true')", "expected numbers, parameters"),
        ("a.real > 0", "got 'a.real'"),
        ("[x for x in (1, 2)] == a", "expected numbers, parameters"),
        ("open('x')", "expected numbers, parameters"),
        ("c > 1", "expected one of the parameters a, b, word, got 'c'"),
        ("a = 1", "expected an expression"),
        ("a <", "expected an expression"),
        ("(" * 2000 + "a" + ")" * 2000, "expected an expression"),
    ],
)
def test_what_is_no_condition_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_condition(text, NAMES)


@pytest.mark.parametrize("text", ["word * 3 == word", "word < 3", "a * a * a * a > 0"])
def test_what_cannot_be_computed_says_so(text: str) -> None:
    with pytest.raises(ValueError, match=r"word|at most 1e\+18"):
        parse_condition(text, NAMES).holds({"a": 10**9, "b": 1, "word": "row"})


def test_a_division_by_nothing_is_no_configuration() -> None:
    assert not parse_condition("a % b == 0", NAMES).holds({"a": 4, "b": 0, "word": ""})


def test_a_space_is_the_combinations_that_meet_all_conditions() -> None:
    values = {"m": [16, 32, 64, 128], "n": [8, 24, 40], "depth": [1, 2, 3], "unit": ["x"]}
    every = list(product(*values.values()))
    legal = [(m, n, d, u) for m, n, d, u in every if m * n <= 1280 and (d == 1 or m % (d * 16) == 0)]
    assert found(["m * n <= 1280", "depth == 1 or m % (depth * 16) == 0"], **values) == legal != every
    assert found([], **values) == every
    listed = "(m, n, depth) in [(16, 24, 2), (64, 8, 1), (32, 40, 3)]"
    assert found([listed, "n < 40"], **values) == [(16, 24, 2, "x"), (64, 8, 1, "x")]


def test_a_space_of_none_or_of_too_many_is_refused() -> None:
    with pytest.raises(InvalidFile, match="that some combination of values meets, got none"):
        found(["a > 9"], a=[1, 2], b=[3])
    with pytest.raises(InvalidFile, match="at most 100000 configurations"):
        found([], a=list(range(400)), b=list(range(400)))
    with pytest.raises(InvalidFile, match=r"t1.json: .*Conditions\[1\].Expression: expected one of the parameters"):
        found(["a > 0", "depth > 0"], a=[1, 2])


def test_a_sparse_space_of_many_combinations_is_found_early(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {name: list(range(30)) for name in "abcdef"}
    chain = [f"{x} + 1 == {y}" for x, y in zip("abcde", "bcdef", strict=True)]
    assert found(chain, **values) == [tuple(range(first, first + 6)) for first in range(25)]
    monkeypatch.setattr("tuner.exchange.t1.MOST_STEPS", 500)
    with pytest.raises(InvalidFile, match="within 500 partial combinations"):
        found(["a + b + c == 0"], **values)
