"""Grafana's own SDK reads every field of the dashboard: none is unknown to the schema of dashboards and panels."""

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.peers import peer_folder, run_with_peers

BOARD: dict[str, Any] = json.loads((Path(__file__).resolve().parents[2] / "docker/grafana/xetune.json").read_text())
READER = """
import json, sys
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
register_default_plugins()
print(JSONEncoder().encode(Dashboard.from_json(json.load(open(sys.argv[1])))))
"""


def read(board: dict[str, Any], folder: Path) -> list[str]:
    """Return the fields that the SDK lost."""
    peer_folder("grafana_foundation_sdk")
    file = folder / "board.json"
    file.write_text(json.dumps(board))
    return list(lost(board, json.loads(run_with_peers(READER, file)), "board"))


def lost(ours: Any, theirs: Any, place: str) -> Iterator[str]:
    """Yield each place where what was read is not what was written."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name, value in ours.items():
            if name in theirs:
                yield from lost(value, theirs[name], f"{place}.{name}")
            else:
                yield f"{place}.{name}"
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from lost(one, other, f"{place}.{number}")
    elif ours != theirs:
        yield place


def test_every_field_of_the_dashboard_is_of_the_schema(tmp_path: Path) -> None:
    assert read(BOARD, tmp_path) == []


@pytest.mark.parametrize("place", [("panels", 1, "titel"), ("panels", 1, "options", "legendd"), ("refreshh",)])
def test_a_field_that_is_not_of_the_schema_is_found(tmp_path: Path, place: tuple[str | int, ...]) -> None:
    board = deepcopy(BOARD)
    inner: Any = board
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = "x"
    assert read(board, tmp_path) == [".".join(map(str, ("board", *place)))]
