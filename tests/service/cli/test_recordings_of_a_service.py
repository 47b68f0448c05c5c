"""`xetune recordings` tells a service's as those of the own database."""

import json
from pathlib import Path

import pytest

from service.cli.exchange import recording_tables
from tests.service.cli.both_transports import Run, both

UNKNOWN = "01970a3c-0000-7000-8000-000000000000"

pytestmark = pytest.mark.usefixtures("one_database")


@pytest.mark.slow
def test_recordings_are_listed_and_shown_alike(
    run: Run, tmp_path: Path, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    local, served = both(run, "recordings")
    assert local == served == (0, local[1], "")
    assert local[1].startswith("No recordings.")
    for format in ("kernel-tuner", "t4"):
        file = tmp_path / f"{format}.json"
        origin = ("--origin", f"lab {format}")  # else the second says what the first did
        assert run("export", "--job", job, "--format", format, *origin, "-o", str(file))[0] == 0
        assert run("import", str(file), *origin)[0] == 0
    listed = json.loads(run("recordings", "--json")[1])["recordings"]
    monkeypatch.setattr(recording_tables, "_PAGE", 2)  # so that a recording is of several pages
    one = listed[0]["id"]
    for arguments in (
        ("recordings",),
        ("recordings", "--json"),
        ("recordings", "show", one),
        ("recordings", "show", one, "--json"),
        ("recordings", "show", one, "--limit", "1", "--json"),
        ("recordings", "show", one, "--limit", "1"),
    ):
        local, served = both(run, *arguments)
        assert (local[0], local) == (0, served), arguments
    assert local[1].endswith("\n2 more not shown (--limit)\n")
    shown = json.loads(run("--server", "http://testserver", "recordings", "show", one, "--json")[1])["configurations"]
    assert len(shown) == listed[0]["tried"] == 3
    timed = [row["time_us"] for row in shown if row["time_us"] is not None]
    assert (len(timed), timed) == (2, sorted(timed))
    local, served = both(run, "recordings", "show", UNKNOWN)
    assert local == served
    assert local[2] == f"error: recording {UNKNOWN} does not exist; `xetune recordings` lists those that do\n"
