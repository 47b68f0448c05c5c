"""The page with a free choice of axes."""

from typing import Any

from fastapi.testclient import TestClient

from service.dashboard.explore.reading import groups_of
from service.dashboard.problems.fields import fields_of
from service.dashboard.problems.samples import Failure
from service.http.context import Context
from tests.service import dashboard_rows as rows


def test_the_address_holds_the_choice_and_no_series_joins_evidence(client: TestClient, context: Context) -> None:
    assert "No problem was tuned yet" in client.get("/explore").text
    with context.database.write() as session:
        problem, device = rows.add_problem(session), rows.add_device(session)
        job = rows.add_job(session, problem, device)
        rows.add_history(session, job, rows.add_kernel(session, job, problem).id, 5)
        rows.add_predicted(session, job, 5, 88.0)
        key = problem.key
    assert f"/explore?problem={key[:16]}" in client.get("/explore").text
    of = f"problem={key[:16]}&device=opencl-cpu-as-b580"
    page = client.get(f"/explore?{of}&x=trial&y=rate").text
    assert "rate over trial" in page
    chart = client.get(f"/explore/chart?{of}&x=trial&y=time").json()
    assert [s["evidence"] for s in chart["series"]] == ["emulated", "predicted"]
    assert chart["series"][1]["rows"][0][:2] == [5, 88.0]
    odd = client.get(f"/explore?{of}&x=nothing&y=<script>&parts=none&outcome=lost&evidence=heard")
    assert odd.status_code == 200
    assert "<script>'" not in odd.text
    for name in ("X", "Y", "Facet by", "Outcome", "Time is"):
        assert f"{name}: expected one of " in odd.text
    assert "expected one of" not in page
    assert "M: expected a whole number" in client.get("/explore?m=abc").text
    parts = client.get(f"/explore?{of}&parts=block m").text
    assert "where block m is" in parts
    assert client.get("/explore?problem=abcdefgh&device=x").status_code == 404


def test_filters_colours_and_one_job_are_words_of_the_address(client: TestClient, context: Context) -> None:
    with context.database.write() as session:
        problem, device = rows.add_problem(session), rows.add_device(session)
        job, other = rows.add_job(session, problem, device), rows.add_job(session, problem, device)
        kernel = rows.add_kernel(session, job, problem)
        for number in range(12):
            rows.add_measured(session, job, number, 50.0 + number, kernel.id)
        rows.add_trial(session, job, 12, "crashed")
        rows.add_trial(session, job, 13, "wrong_result")
        rows.add_predicted(session, job, 14, 30.0)
        rows.add_predicted(session, other, 0, 20.0)
        of_pair = {"problem": problem.key[:16], "device": device.slug}
        of_job = {"job": str(job.id)}

    def series(**words: object) -> dict[str, dict[str, Any]]:
        chart = client.get("/explore/chart", params=words)  # pyright: ignore[reportArgumentType]
        assert chart.status_code == 200, chart.text
        return {each["name"]: each for each in chart.json()["series"]}

    whole = series(**of_pair, x="trial", y="block m", colour="outcome")
    assert {name: len(each["rows"]) for name, each in whole.items()} == {
        "measured, DPAS emulated": 12, "predicted": 2, "crashed": 1, "wrong result": 1,
    }  # fmt: skip
    assert [whole[name]["role"] for name in ("crashed", "wrong result")] == ["failed", "failed"]
    assert whole["crashed"]["palette"] != whole["wrong result"]["palette"], "reasons are told apart"
    assert len(series(**of_job, x="trial", y="time")["predicted"]["rows"]) == 1, "of the one job"
    assert list(series(**of_job, x="trial", y="block m", outcome="crashed")) == ["crashed"]
    assert list(series(**of_job, x="trial", y="time", evidence="predicted")) == ["predicted"]
    sizes = [fields_of(rows.config(n))["block m"] for n in range(12)]
    (only,) = series(**of_job, x="trial", y="time", evidence="emulated", where=f"block m={sizes[0]}").values()
    assert [row[0] for row in only["rows"]] == [n for n in range(12) if sizes[n] == sizes[0]]
    coloured = series(**of_job, x="trial", y="time", colour="block m", evidence="emulated")
    assert {name: len(each["rows"]) for name, each in coloured.items()} == {
        f"block m {size}, measured, DPAS emulated": sizes.count(size) for size in set(sizes)
    }
    assert series(**of_job, x="trial", y="time", where="block m=7") == {}
    asked = {**of_job, "x": "trial", "y": "time", "parts": "block m"}
    divided = [client.get("/explore/chart", params={**asked, "part": str(n)}) for n in sorted(set(sizes))]
    assert {(chart.json()["y"]["low"], chart.json()["y"]["high"]) for chart in divided} == {(30.0, 61.0)}
    page = client.get("/explore", params={**of_job, "where": ["block m=64", "grf mode=256"], "outcome": "measured"})
    assert "Remove: block m is 64" in page.text
    assert client.get("/explore/chart?x=time").status_code == 400
    assert client.get("/explore?job=no").status_code == 404


def test_many_values_share_a_colour_by_range() -> None:
    dots = [Failure("j", n, "crashed", {}, {"distance": n // 2, "word": "abcdefgh"[n % 8]}) for n in range(40)]
    ranges = groups_of(dots, "distance", 5)
    assert [name for name, _ in ranges] == ["0 to 3", "4 to 7", "8 to 11", "12 to 15", "16 to 19"]
    words = groups_of([*dots, *dots[:2]], "word", 5)
    assert [name for name, _ in words][:2] == ["a", "b"]
    assert words[-1][0] == "others"
    assert frozenset().union(*(values for _, values in words)) == frozenset("abcdefgh")
