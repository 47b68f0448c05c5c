"""Energy of launches where people read it, at the command line, over REST and on pages, and only where it is known."""

import re
import sys
from html import unescape
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from db.schema.trial import Measurement
from service.app import Context
from service.cli.main import main
from service.job_summary import energy_text
from tests.service import dashboard_rows as rows

FRUGAL, FAST, NEITHER, UNKNOWN = 0, 1, 2, 3


@pytest.fixture
def job_id(context: Context) -> UUID:
    """A job that weighs energy: a frugal trial, a fast one, one that is neither, and one that does not tell."""
    with context.database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session), "succeeded")
        job.search, job.objective = "nsga2", "time-energy"
        kernel = rows.add_kernel(session, job, problem)
        told = {FRUGAL: (90.0, 1_500.0), FAST: (60.0, 4_250.0), NEITHER: (95.0, 1_700.0), UNKNOWN: (50.0, None)}
        for number, (median_us, uj) in told.items():
            trial = rows.add_measured(session, job, number, median_us, kernel.id)
            session.flush()
            session.execute(update(Measurement).where(Measurement.trial_id == trial.id).values(energy_uj=uj))
        return job.id


@pytest.mark.parametrize(("uj", "text"), [(0.25, "0.25 µJ"), (999.4, "999 µJ"), (5120.0, "5.12 mJ"), (3.5e6, "3.5 J")])
def test_energy_is_told_in_a_unit_of_its_size(uj: float, text: str) -> None:
    assert energy_text(uj) == text


def test_rest_tells_energy_where_it_is_known(client: TestClient, job_id: UUID) -> None:
    assert client.get(f"/v1/jobs/{job_id}").json()["objective"] == "time-energy"
    trials = client.get(f"/v1/jobs/{job_id}/trials").json()["trials"]
    assert [trial["evidence"]["time"]["energy_uj"] for trial in trials] == [1_500.0, 4_250.0, 1_700.0, None]


def test_pages_tell_energy_where_it_is_known(client: TestClient, job_id: UUID) -> None:
    page = client.get(f"/jobs/{job_id}").text
    (front,) = re.findall(r'<table[^>]* id="front">(.*?)</table>', page, re.DOTALL)
    assert re.findall(r"/trials/(\d)", front) == [str(FAST), str(FRUGAL)]
    assert re.findall(r"[\d.]+ mJ", front) == ["4.25 mJ", "1.5 mJ"]
    assert re.search(r"<dt>objective</dt>\s*<dd>time-energy</dd>", page)
    assert "1.7 mJ" in client.get(f"/jobs/{job_id}/trials/{NEITHER}").text
    assert "Energy" not in unescape(client.get(f"/jobs/{job_id}/trials/{UNKNOWN}").text)


def test_a_terminal_tells_energy_and_what_is_left_to_choose_from(
    context: Context, job_id: UUID, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XETUNE_DATABASE_URL", str(context.settings.database_url))
    monkeypatch.setenv("XETUNE_DATA_DIR", str(context.settings.data_dir))
    monkeypatch.setattr(sys, "argv", ["xetune", "jobs", "show", str(job_id)])
    with pytest.raises(SystemExit) as ended:
        main()
    said = " ".join(capsys.readouterr().out.split())
    assert ended.value.code in (0, None), said
    assert said.count("mJ a launch") >= 3
    told = re.findall(
        r"no trial is both faster and uses less energy than (\d): [^:]* ([\d.]+ mJ) a launch, idle power", said
    )
    assert told == [(str(FAST), "4.25 mJ"), (str(FRUGAL), "1.5 mJ")]
