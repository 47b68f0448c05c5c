"""This version reads the output of releases: a database of each, and a file of each format.

`0.1.0/` was written by that release: two jobs (a CPU, a predicted B580), a schedule, a key, a record; its exports, the
results of a measuring kit, the kernel.json of both kernels, a record.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from codegen.artifact.manifest_launch import launch_from_manifest
from db.migrate import current, head, upgrade
from db.session import make_engine
from hal.devices.listed import Runtime
from service.api.hostcode.manifest import read_manifest
from service.api.kernels.launch_schemas import to_launch
from service.app import create_app
from service.settings import Settings
from tests.service.rest import Clock, invented_devices

HERE = Path(__file__).parent
MIGRATIONS = HERE.parents[1] / "migrations"
RELEASES = [pytest.param(folder, id=folder.name) for folder in sorted(HERE.glob("[0-9]*"))]
HASHES = {
    "versions/0001_initial.py": "2613bd002d3c2b4ac82f740071ce23354d9036b1cda02633425132d5a5b65937",
    "tables_0001.py": "56e7c1ddbe46786c35dc33890b98a05f8263a94dfb25f8f730c5a881534be363",
}
"""SHA-256 of the migrations that releases have."""


@pytest.mark.parametrize("name", HASHES)
def test_a_migration_that_was_released_is_never_changed(name: str) -> None:
    assert hashlib.sha256((MIGRATIONS / name).read_bytes()).hexdigest() == HASHES[name], (
        f"databases at this revision exist: undo the change of migrations/{name}, and write a new revision"
    )


@pytest.mark.parametrize("release", RELEASES)
def test_a_database_of_the_release_is_upgraded_and_its_results_are_served(release: Path, tmp_path: Path) -> None:
    file = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(file)) as old:
        old.executescript((release / "database.sql").read_text())
    engine = make_engine(f"sqlite:///{file}")
    assert current(engine) == "0001"
    upgrade(engine)
    assert current(engine) == head()
    engine.dispose()
    with closing(sqlite3.connect(file)) as old, old:
        assert old.execute("DELETE FROM api_key").rowcount == 1  # whose secret is not known
    settings = Settings(
        data_dir=tmp_path, database_url=f"sqlite:///{file}", allowed_hosts="testserver", scheduler=False
    )
    app = create_app(settings, invented_devices, Clock())
    with closing(app.state.context.database):
        client = TestClient(app, headers={"Accept": "application/json"})
        jobs = client.get("/v1/jobs").json()["jobs"]
        assert {job["status"] for job in jobs} == {"succeeded"}
        assert len(jobs) == 2
        for job in jobs:
            trials = client.get(f"/v1/jobs/{job['id']}/trials").json()["trials"]
            assert {trial["status"] for trial in trials} <= {"measured", "predicted"}
        found = client.get("/v1/kernels", params={"m": 24, "n": 96, "k": 48, "dtype": "bf16", "device": "b580"}).json()
        assert found["source"] in {"exact", "stale"}
        assert client.get("/v1/schedules").json()["schedules"][0]["name"] == "nightly"
        assert client.get("/v1/records").json()["records"][0]["tuner"] == "triton"


@pytest.fixture
def elsewhere(settings: Settings, clock: Clock) -> Generator[TestClient]:
    """A client of a service on another machine than those whose results it imports."""
    app = create_app(settings, lambda: [each for each in invented_devices() if each.runtime is Runtime.TABLE], clock)
    with closing(app.state.context.database):
        yield TestClient(app, headers={"Accept": "application/json"})


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("name", "trials"), [("results.jsonl", 5), ("found.jsonl", 1)])
def test_exports_and_results_of_kits_are_imported(release: Path, name: str, trials: int, elsewhere: TestClient) -> None:
    answer = elsewhere.post("/v1/imports", content=(release / name).read_bytes())
    assert answer.status_code == 200, answer.text
    assert answer.json()["trials"] == trials
    again = elsewhere.post("/v1/imports", content=(release / name).read_bytes())
    assert again.json()["trials"] == 0


@pytest.mark.parametrize("release", RELEASES)
def test_a_record_is_stored(release: Path, client: TestClient) -> None:
    record = json.loads((release / "record.json").read_text())
    answer = client.post("/v1/records", json={"records": [record]})
    assert answer.is_success, answer.text


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", ["gpu", "cpu"])
@pytest.mark.parametrize("read", [to_launch, read_manifest])
def test_the_launch_of_a_kernel_is_read(release: Path, kind: str, read: Callable[[dict[str, object]], object]) -> None:
    assert read(json.loads((release / f"kernel_{kind}.json").read_text())) is not None


@pytest.mark.parametrize("release", RELEASES)
def test_the_launch_of_a_gpu_is_built_from_its_file(release: Path) -> None:
    launch = launch_from_manifest(json.loads((release / "kernel_gpu.json").read_text()), b"spirv")
    assert launch.subgroup_size == 16
    assert len(launch.arguments) == 3
