"""Stored measurements of a job's problem on its device."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from codegen import AnyArtifact, GemmProblem, KernelConfig
from codegen.backend import backend_of
from codegen.serialization import to_json
from db.queries.results import measurement_reuse
from db.schema.trial import Trial as TrialRow
from db.session import Database
from hal import DeviceSpec
from service.row_mapping import measurement_from_row, proof_from_row
from tuner.measure.measurement_reuse import KnownTime
from tuner.measure.result_key import identity_of, result_key


@dataclass(frozen=True, slots=True)
class StoredTimes:
    """Measurements known when the job began. `runs` of a job are the measured medians in us, by run."""

    database: Database
    job_id: UUID
    problem: GemmProblem
    spec: DeviceSpec
    by_compile_key: Mapping[str, KnownTime]
    by_run: Mapping[str, KnownTime]
    runs: Mapping[str, Mapping[str, float]]
    _default: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])

    def of_config(self, config: KernelConfig) -> KnownTime | None:
        """Return the time of the kernel that a configuration was compiled to with the current versions."""
        if not self.by_compile_key:
            return None
        return self.by_compile_key.get(backend_of(config).compile_key(self.problem, config, self.spec))

    def of_kernel(self, artifact: AnyArtifact) -> KnownTime | None:
        """Return the time of a kernel, independent of the versions that generated it."""
        driver = self.spec.driver
        if not self.by_run or driver is None:
            return None
        manifest = backend_of(artifact.config).manifest(artifact)
        return self.by_run.get(result_key(artifact, manifest, self.spec, driver).run)

    def scale(self, known: KnownTime) -> float | None:
        """Return the time of the default now over its time in that job; None if either job did not measure it."""
        if not self._default and (found := self._default_now()) is not None:
            self._default.append(found)
        if not self._default:
            return None
        (run, now_us), *_ = self._default
        then_us = self.runs[known.job].get(run)
        return None if then_us is None else now_us / then_us

    def _default_now(self) -> tuple[str, float] | None:
        with self.database.read() as session:
            return measurement_reuse.default_of(session, self.job_id)


def known_of(database: Database, job_id: UUID, problem: GemmProblem, spec: DeviceSpec) -> StoredTimes:
    """Return what other jobs measured of a problem on the identical device, with its current driver.

    Of several measurements of the same binary the newest is used.
    """
    by_compile_key: dict[str, KnownTime] = {}
    by_run: dict[str, KnownTime] = {}
    runs: dict[str, dict[str, float]] = {}
    identity = to_json(identity_of(spec))
    with database.read() as session:
        rows = measurement_reuse.measured(session, problem.key, spec.id, spec.driver) if spec.driver is not None else []
        for row, key in rows:
            assert row.kernel is not None  # it was measured
            time = _known_time(row)
            if row.job_id == job_id or key.parts["device"] != identity:
                continue
            by_compile_key[row.kernel.compile_key] = by_run[key.run] = time
            runs.setdefault(time.job, {})[key.run] = time.measurement.median_us
    return StoredTimes(database, job_id, problem, spec, by_compile_key, by_run, runs)


def _known_time(row: TrialRow) -> KnownTime:
    assert row.measurement is not None  # by the query
    assert row.kernel is not None
    measurement = measurement_from_row(row.measurement)
    return KnownTime(str(row.job_id), row.number, measurement, proof_from_row(row), row.kernel.content_hash)
