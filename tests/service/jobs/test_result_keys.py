"""Each measurement is stored with its result key, by trials and by imports."""

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from codegen.backend import backend_of
from codegen.serialization import (
    content_hash,
    to_json,
)
from db.queries import (
    devices,
    jobs,
    problems,
)
from db.queries.cluster import leases
from db.schema.result_key import ResultKey
from db.session import Database
from hal import DeviceSpec, Fact, emulated_spec, find
from hal.facts.spec import (
    DeviceKind,
    spec_from_facts,
)
from service.artifacts import ArtifactStore
from service.device_json import spec_to_json
from service.gemm_json import problem_to_json
from service.jobs.store import DbTrialStore
from tests.conformance.trial_samples import PROBLEM, artifact, config, measured
from tests.db.rows import digest
from tuner.measure.result_key import result_key

_CPU = spec_from_facts("cpu", "A CPU", DeviceKind.CPU, [Fact("cores", 2, "probed"), Fact("driver", "9", "probed")])
SPECS = {"b580": find("b580"), "a CPU as b580": emulated_spec(_CPU, find("b580"))}


@pytest.fixture(params=SPECS)
def spec(request: pytest.FixtureRequest) -> DeviceSpec:
    """A device with all its facts."""
    return SPECS[request.param]


@pytest.fixture
def store(database: Database, spec: DeviceSpec, tmp_path: Path) -> DbTrialStore:
    """Return the store of a claimed job on the device."""
    with database.write() as session:
        problem = problems.upsert(session, key=PROBLEM.key, definition=problem_to_json(PROBLEM))
        known = {"slug": spec.id, "driver": spec.driver or "", "name": spec.name, "kind": spec.kind.value}
        device = devices.upsert(session, **known, emulates=spec.emulates, spec=spec_to_json(spec))
        job = jobs.create(
            session,
            problem_id=problem.id,
            device_id=device.id,
            budget_trials=9,
            budget_seconds=60.0,
            seed=1,
            request_hash=digest("a request"),
        )
        assert job is not None
        leases.claim(session, job.id, "worker", 60.0)
    return DbTrialStore(database, ArtifactStore(tmp_path / "artifacts"), job.id, "worker")


def keys(database: Database) -> list[tuple[str, str, dict[str, object]]]:
    """Return the stored keys."""
    with database.read() as session:
        rows = session.scalars(select(ResultKey).order_by(ResultKey.trial_id))
        return [(row.key, row.run, row.parts) for row in rows]


def test_a_measurement_has_its_key(store: DbTrialStore, spec: DeviceSpec) -> None:
    made = artifact(1)
    if spec.emulates is not None:
        emulated = replace(made.stages[-1], name="emulated-spirv", file_name="emulated.spv", data=b"for a CPU")
        launch = replace(made.launch, binary=b"for a CPU")
        made = replace(made, stages=(*made.stages, emulated), launch=launch)
    store.begin(0, config(1))
    store.end(0, measured(1), made)
    expected = result_key(made, backend_of(made.config).manifest(made), spec, "2026.1")
    assert keys(store.database) == [(expected.key, expected.run, to_json(expected))]
    assert content_hash(keys(store.database)[0][2]) == expected.key  # whoever reads the parts can check it
