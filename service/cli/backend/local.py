"""Commands on the database of this machine."""

from collections.abc import Sequence
from uuid import UUID

from codegen import GemmProblem
from codegen.workers.cache import CompileCache
from db.queries import (
    jobs,
    kernels,
    quarantines,
)
from db.queries.job_filter import JobFilter
from db.schema.base import utc_now
from hal import ListedDevice, UnknownDevice, list_devices, resolve_device
from service.api.audit import service as audit_service
from service.api.audit.log import (
    Outcome,
    record,
)
from service.api.audit.schemas import AuditPage
from service.api.devices.elsewhere import device_elsewhere
from service.api.devices.service import DeviceDirectory
from service.api.hostcode.languages import Language
from service.api.hostcode.service import read_host_code
from service.api.jobs import service as job_service
from service.api.jobs.listing import (
    list_jobs,
    list_trials,
)
from service.api.jobs.requests import (
    submit,
    understand,
)
from service.api.jobs.retrying import asked_by
from service.api.jobs.schemas import (
    JobBody,
    JobOut,
    JobPage,
    JobStatus,
    TrialOut,
)
from service.api.kernels import service as kernel_service
from service.api.kernels.lookup import (
    Lookup,
    kernels_of,
)
from service.api.kernels.lookup_schemas import LookupOut
from service.api.kernels.schemas import (
    KernelOut,
    Tune,
)
from service.api.keys import service as key_service
from service.api.keys.caller import COMMAND_LINE
from service.api.keys.schemas import (
    KeyBody,
    KeyList,
    KeyOut,
    NewKeyOut,
)
from service.api.recordings import service as recording_service
from service.api.recordings.schemas import (
    RecordingLine,
    RecordingOut,
)
from service.api.shapes import service as shape_service
from service.api.shapes.schemas import (
    ShapeSetLine,
    ShapeSetOut,
)
from service.cli.backend.sets import SetAsked
from service.cli.backend.stored import Stored
from service.cli.tuning.running import work_on_job
from service.cli.tuning.running_sets import create_set, work_on_set
from service.errors import NotFound
from service.schemas import to_body

_ALL = 10**6


class Local:
    """The database of this machine, and its files."""

    def __init__(self, store: Stored) -> None:
        self._store, self._database = store, store.database

    def release_device(self, device: str, host: str | None) -> None:
        with self._database.write() as session:
            if not quarantines.release(session, device, host):
                where = "" if host is None else f" on {host}"
                raise NotFound(f"{device}{where} is not kept from jobs; `xetune devices` lists what is")
            record(session, COMMAND_LINE, "device.release", device)

    def create_job(self, body: JobBody) -> tuple[JobOut, str, bool]:
        directory = DeviceDirectory(list_devices, self._store.settings.devices_ttl_s)
        request = understand(body, directory, self._store.settings)
        with self._database.write() as session:
            job, is_new = submit(session, request, self._store.settings.max_active_jobs)
            record(session, COMMAND_LINE, "job.create", job.id, Outcome.DONE if is_new else Outcome.UNCHANGED)
            made = job_service.describe(session, job)
        return made, f"{request.device.id} ({request.device.name})", is_new

    def read_job(self, job_id: UUID) -> JobOut:
        with self._database.read() as session:
            return job_service.read_job(session, job_id)

    def list_jobs(self, statuses: Sequence[JobStatus], device: str | None, limit: int) -> JobPage:
        with self._database.read() as session:
            return list_jobs(session, JobFilter(tuple(statuses), device=device), limit)

    def trials(self, job_id: UUID) -> list[TrialOut]:
        with self._database.read() as session:
            return list_trials(session, job_id, -1, _ALL).trials

    def cancel_job(self, job_id: UUID) -> JobOut:
        with self._database.write() as session:
            job = job_service.cancel(session, job_id)
            record(session, COMMAND_LINE, "job.cancel", job_id)
        return job

    def retry_job(self, job_id: UUID) -> tuple[JobOut, bool]:
        with self._database.read() as session:
            body = asked_by(session, job_service.find_job(session, job_id))
        directory = DeviceDirectory(list_devices, self._store.settings.devices_ttl_s)
        request = understand(body, directory, self._store.settings)
        with self._database.write() as session:
            job, is_new = submit(session, request, self._store.settings.max_active_jobs)
            if is_new:
                jobs.set_retry(session, job.id, job_id)
            record(session, COMMAND_LINE, "job.retry", job.id, Outcome.DONE if is_new else Outcome.UNCHANGED)
            return job_service.read_job(session, job.id), is_new

    def work_on(self, job_id: UUID, quiet: bool) -> None:
        work_on_job(self._store, job_id, quiet)

    def look_up(self, problem: GemmProblem, device: str, target: str | None, tune: Tune) -> LookupOut:
        listed = self._device(device, target)
        known = kernels_of(CompileCache(self._store.settings.cache_dir), listed.spec)
        with self._database.read() as session:
            found = Lookup(session, problem, listed, utc_now(), known).answer()
        if not found.source.is_reason_for(tune):
            return found
        job, _, _ = self.create_job(JobBody(problem=to_body(problem), device=listed.spec.id))
        return found.model_copy(update={"job": job.id})

    def list_kernels(self, device: str | None, limit: int) -> list[KernelOut]:
        with self._database.read() as session:
            rows = kernels.list_page(session, limit=limit, device=device)
            best = kernel_service.telling_trials(session, [row.id for row in rows])
            return [kernel_service.describe(row, best.get(row.id)) for row in rows]

    def read_kernel(self, kernel_id: UUID) -> KernelOut:
        with self._database.read() as session:
            return kernel_service.read_kernel(session, kernel_id)

    def host_code(self, kernel_id: UUID, language: Language) -> str:
        with self._database.read() as session:
            return read_host_code(session, kernel_id, language)

    def places_of(self, kernel: KernelOut) -> dict[str, str]:
        store = self._store.artifacts
        return {artifact.name: str(store.path(artifact.sha256)) for artifact in kernel.artifacts}

    def read_file(self, sha256: str) -> bytes:
        return self._store.artifacts.get(sha256)

    def create_set(self, asked: SetAsked) -> tuple[UUID, str, bool]:
        return create_set(self._store, asked)

    def work_on_set(self, set_id: UUID, quiet: bool) -> bool:
        return work_on_set(self._store, set_id, quiet)

    def list_sets(self, limit: int) -> list[ShapeSetLine]:
        with self._database.read() as session:
            return shape_service.list_sets(session, limit).shape_sets

    def read_set(self, set_id: UUID, within: float | None) -> ShapeSetOut:
        with self._database.read() as session:
            return shape_service.read_set(session, set_id, within)

    def cancel_set(self, set_id: UUID) -> ShapeSetOut:
        with self._database.write() as session:
            found = shape_service.cancel(session, set_id)
            record(session, COMMAND_LINE, "shapes.cancel", set_id)
        return found

    def delete_set(self, set_id: UUID) -> None:
        with self._database.write() as session:
            shape_service.forget(session, set_id)
            record(session, COMMAND_LINE, "shapes.delete", set_id)

    def list_recordings(self) -> list[RecordingLine]:
        with self._database.read() as session:
            return recording_service.list_recordings(session, _ALL, None).recordings

    def read_recording(self, recording_id: UUID, limit: int) -> RecordingOut:
        with self._database.read() as session:
            return recording_service.read_recording(session, recording_id, 0, limit)

    def create_key(self, body: KeyBody) -> NewKeyOut:
        with self._database.write() as session:
            made = key_service.create(session, body, utc_now())
            record(session, COMMAND_LINE, "key.create", made.id)
        return made

    def list_keys(self) -> KeyList:
        with self._database.read() as session:
            return key_service.list_keys(session)

    def revoke_key(self, key: str) -> KeyOut:
        with self._database.write() as session:
            revoked = key_service.revoke(session, key_service.find(session, key), utc_now())
            record(session, COMMAND_LINE, "key.revoke", revoked.id)
        return revoked

    def audit(self, limit: int, before: UUID | None, action: str | None, subject: str | None) -> AuditPage:
        with self._database.read() as session:
            return audit_service.list_events(session, before, limit, None, action, subject)

    def _device(self, name: str, target: str | None) -> ListedDevice:
        """The device of that name here or in the table, else the one that the database was told of."""
        try:
            return resolve_device(name, target)
        except UnknownDevice:
            with self._database.read() as session:
                known = device_elsewhere(session, name.strip().lower()) if target is None else None
            if known is None:
                raise
            return known
