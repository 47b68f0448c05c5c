"""The page with a free choice of axes."""

from fastapi.testclient import TestClient

from service.deps import Context
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
    assert client.get(f"/explore?{of}&x=nothing&y=<script>&parts=none").status_code == 200
    parts = client.get(f"/explore?{of}&parts=block m").text
    assert "where block m is" in parts
    assert client.get("/explore?problem=abcdefgh&device=x").status_code == 404
