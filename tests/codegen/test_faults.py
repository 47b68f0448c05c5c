"""Each fault of the pinned MLIR that we work around is there, and is named: mended ones fail here."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from codegen.xe.mlir.faults import (
    FAULTS,
    upstream_faults,
)
from tests.codegen.upstream import Array, Outcome, lowered, run_upstream

FILES = sorted((Path(__file__).parent / "upstream_faults").glob("*.mlir"))
# Bytes are multiplied from blocks of bytes; columns, and few bytes in a row, are too narrow for messages as well.
ALSO = {
    "transposed_store": {"turned_value"},
    "blocked_vector": {"turned_value"},
    "dpas_integers": {"block_elements", "surface"},
    "block_columns": {"surface"},
    "block_elements": {"surface"},
}
EXPECTED: dict[str, Callable[[Array], Array]] = {
    "C == A": lambda a: a,
    "C == A.T": lambda a: a.T,
    "C == A below.T": lambda a: a[64:].T,
    "C == column maxima": lambda a: np.broadcast_to(2 * a.max(axis=0), a.shape),
    "C == A in rows": lambda a: a.reshape(64, 48),
    "C == A in chunks": lambda a: np.where(np.arange(512) % 8 < 4, a, 0),
    "C == A and ones below": lambda a: np.concatenate([a, np.ones((64 - a.shape[0], a.shape[1]), a.dtype)]),
}


def outcome_of(source: str) -> tuple[str, str]:
    """What a file says becomes of it: `ends`, `fails TEXT` or `wrong EXPECTATION`."""
    said = re.search(r"^// OUTCOME: (\w+) ?(.*)$", source, re.MULTILINE)
    assert said is not None
    return said[1], said[2]


def test_each_fault_has_its_module_and_each_module_its_fault() -> None:
    assert sorted(rule.name for rule in FAULTS) == [file.stem for file in FILES]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_module_is_known_by_its_fault(file: Path) -> None:
    faults = upstream_faults(lowered(file.read_text()))
    assert {fault.name for fault in faults} == {file.stem} | ALSO.get(file.stem, set())
    assert all(fault.operation for fault in faults)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_fault_is_there(file: Path) -> None:
    source = file.read_text()
    kind, detail = outcome_of(source)
    outcome = run_upstream(source)
    if kind == "ends":
        assert outcome == Outcome()
    elif kind == "wrong":
        assert outcome.arrays is not None, outcome.message
        assert not np.array_equal(outcome.arrays["C"], EXPECTED[detail](outcome.arrays["A"]))
    else:
        assert outcome.message is not None
        assert detail in outcome.message
