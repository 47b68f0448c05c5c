"""Client of a XeTune service: a method for each operation of its API."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from uuid import UUID, uuid4

import httpx
from pydantic import BaseModel

from xetune_client import models
from xetune_client.async_connection import AsyncConnection
from xetune_client.events import JobEvent
from xetune_client.fetched import Fetched
from xetune_client.retrying import Retries
from xetune_client.server import server
from xetune_client.wire import (
    BYTES,
    JSON,
    JSON_LINES,
    Answer,
    Query,
    Request,
    T,
    Value,
    creation,
    part,
    post,
    query_of,
    read,
    to_json,
    whole_export,
)

_JOBS_A_PAGE, _TRIALS_A_PAGE, _RECORDS_A_PAGE = 200, 1000, 200
"""Largest page sizes."""


class AsyncClient:
    """A XeTune service. Close the client, or use it in a `with` statement.

    The URL is `url`, or XETUNE_SERVER, or http://127.0.0.1:8752; the API key is `api_key`, or XETUNE_API_KEY.
    `retries` is the retry policy, `timeout_s` the read timeout within a request. Every method raises
    ClientError: Refused if the service refuses, NotReached if it does not answer. Client is thread-safe, each
    iterator is for one thread; AsyncClient is for one event loop.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        timeout_s: float = 60.0,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._server = server(url, api_key, timeout_s, retries)
        self._connection = AsyncConnection(self._server, transport)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._server.url)!r})"

    async def close(self) -> None:
        """Close all connections."""
        await self._connection.close()

    async def send(self, request: Request) -> Answer:
        """Send a request, with retries: for operations without a method."""
        return await self._connection.send(request)

    async def devices(self) -> models.DeviceList:
        """List the devices of the service, and those in quarantine."""
        return await self._get("/v1/devices", models.DeviceList)

    async def device(self, name: str) -> models.DeviceOut:
        """Return a device by any of its names."""
        return await self._get(f"/v1/devices/{part(name)}", models.DeviceOut)

    async def accuracy(self, name: str) -> models.AccuracyList:
        """Return the accuracy of predictions for a device."""
        return await self._get(f"/v1/devices/{part(name)}/accuracy", models.AccuracyList)

    async def fleet(
        self, *, period: models.PeriodLength | None = None, periods: int | None = None, device: str | None = None
    ) -> models.FleetOut:
        """Return jobs, trials, failures, prediction errors and gains by device and period."""
        query: Query = {"period": period, "periods": periods, "device": device}
        return await self._get("/v1/fleet", models.FleetOut, query)

    async def release_device(self, name: str, *, host: str | None = None) -> None:
        """Release a quarantined device, on one host or on all."""
        await self._delete(f"/v1/devices/{part(name)}/quarantine", {"host": host})

    async def create_job(self, body: models.JobBody, *, idempotency_key: str | None = None) -> models.JobOut:
        """Queue a job, or return the identical active one. Idempotent."""
        return await self._create("/v1/jobs", body, models.JobOut, idempotency_key)

    async def jobs(
        self,
        *,
        status: Sequence[models.JobStatus] = (),
        kind: Sequence[models.JobKind] = (),
        device: str | None = None,
        m: int | None = None,
        n: int | None = None,
        k: int | None = None,
        before: UUID | None = None,
        limit: int | None = None,
    ) -> models.JobPage:
        """Return a page of jobs that match every filter, newest first."""
        query: Query = {"status": [*status], "kind": [*kind], "device": device, "m": m, "n": n, "k": k}
        return await self._get("/v1/jobs", models.JobPage, {**query, "before": before, "limit": limit})

    async def each_job(
        self,
        *,
        status: Sequence[models.JobStatus] = (),
        kind: Sequence[models.JobKind] = (),
        device: str | None = None,
        m: int | None = None,
        n: int | None = None,
        k: int | None = None,
    ) -> AsyncIterator[models.JobOut]:
        """Iterate over all jobs that match every filter, newest first."""
        before: UUID | None = None
        while True:
            page = await self.jobs(
                status=status, kind=kind, device=device, m=m, n=n, k=k, before=before, limit=_JOBS_A_PAGE
            )
            for job in page.jobs:
                yield job
            before = page.next_before
            if before is None:
                return

    async def job(self, job_id: UUID) -> models.JobOut:
        """Return a job with its progress and its best trial so far."""
        return await self._get(f"/v1/jobs/{part(job_id)}", models.JobOut)

    async def trials(
        self,
        job_id: UUID,
        *,
        status: Sequence[models.TrialStatus] = (),
        after: int | None = None,
        limit: int | None = None,
    ) -> models.TrialPage:
        """Return a page of a job's trials, in order of number."""
        query: Query = {"status": [*status], "after": after, "limit": limit}
        return await self._get(f"/v1/jobs/{part(job_id)}/trials", models.TrialPage, query)

    async def each_trial(
        self, job_id: UUID, *, status: Sequence[models.TrialStatus] = (), after: int | None = None
    ) -> AsyncIterator[models.TrialOut]:
        """Iterate over the trials of a job numbered above `after`, in order of number."""
        while True:
            page = await self.trials(job_id, status=status, after=after, limit=_TRIALS_A_PAGE)
            for trial in page.trials:
                yield trial
            after = page.next_after
            if after is None:
                return

    def events(
        self, job_id: UUID, *, after: int = -1, poll_s: float = 1.0, stream: bool = True
    ) -> AsyncIterator[JobEvent]:
        """Iterate over each trial numbered above `after` and each change of the job, until it is over.

        Reads the event stream and resumes it when it breaks; polls without `stream`, or if streams are not
        available.
        """
        return self._connection.follow(job_id, after, poll_s, stream=stream)

    async def wait(self, job_id: UUID, timeout_s: float | None = None) -> models.JobOut:
        """Return the job when it is over; raise TookTooLong after `timeout_s`."""
        return await self._connection.wait(job_id, timeout_s)

    async def cancel(self, job_id: UUID) -> models.JobOut:
        """Cancel a job; its results are kept."""
        return await self._post(f"/v1/jobs/{part(job_id)}/cancel", models.JobOut)

    async def retry(self, job_id: UUID, *, idempotency_key: str | None = None) -> models.JobOut:
        """Resubmit a failed or cancelled job."""
        return await self._create(f"/v1/jobs/{part(job_id)}/retry", None, models.JobOut, idempotency_key)

    async def lookup(self, body: models.LookupBody) -> models.LookupOut:
        """Return the kernel for a problem on a device, with its confidence."""
        return await self._post("/v1/kernels/lookup", models.LookupOut, body)

    async def find(self, m: int, n: int, k: int, **said: Value) -> models.LookupOut:
        """Look a problem up by query parameters; `said` has further ones, such as dtype="bf16" or device="b580"."""
        return await self._get("/v1/kernels", models.LookupOut, {"m": m, "n": n, "k": k, **said})

    async def lookup_batch(self, body: models.BatchBody) -> models.BatchOut:
        """Look up at most 1,000 problems."""
        return await self._post("/v1/kernels/lookup/batch", models.BatchOut, body)

    async def kernels(
        self, *, before: UUID | None = None, limit: int | None = None, **said: Value
    ) -> models.KernelPage:
        """Return a page of stored kernels, newest first; `said` filters, such as device="b580" or m=512."""
        return await self._get("/v1/kernels/stored", models.KernelPage, {**said, "before": before, "limit": limit})

    async def kernel(self, kernel_id: UUID) -> models.KernelOut:
        """Return a kernel with its launch, files and evidence."""
        return await self._get(f"/v1/kernels/{part(kernel_id)}", models.KernelOut)

    async def artifact(self, sha256: str, fetched: Fetched | None = None) -> bytes:
        """Return a file by its SHA-256, which is verified. Bytes in `fetched` are not requested again."""
        return await self._connection.download(sha256, Fetched() if fetched is None else fetched)

    async def withdraw_kernel(self, kernel_id: UUID, reason: str) -> models.KernelOut:
        """Withdraw a kernel, so that no lookup serves it; it stays stored with the reason. Idempotent."""
        body = models.WithdrawalBody(reason=reason)
        return await self._put(f"/v1/kernels/{part(kernel_id)}/withdrawal", body, models.KernelOut)

    async def restore_kernel(self, kernel_id: UUID) -> None:
        """Serve a withdrawn kernel again. Idempotent."""
        await self._delete(f"/v1/kernels/{part(kernel_id)}/withdrawal")

    async def artifact_size(self, sha256: str) -> int:
        """Return the size of a file, by its SHA-256, in bytes."""
        return _size(await self.send(Request("HEAD", f"/v1/artifacts/{part(sha256)}")))

    async def kernel_file(self, kernel_id: UUID, name: str) -> bytes:
        """Return a file of a kernel by its name, such as kernel.spv."""
        return (await self.send(Request("GET", f"/v1/kernels/{part(kernel_id)}/artifacts/{part(name)}"))).body

    async def kernel_file_size(self, kernel_id: UUID, name: str) -> int:
        """Return the size of a file of a kernel, in bytes."""
        return _size(await self.send(Request("HEAD", f"/v1/kernels/{part(kernel_id)}/artifacts/{part(name)}")))

    async def binaries(self, kernel_id: UUID, *, driver: str | None = None) -> models.BinaryList:
        """Return the native binaries of a kernel, those for `driver` first."""
        return await self._get(f"/v1/kernels/{part(kernel_id)}/binaries", models.BinaryList, {"driver": driver})

    async def build_binary(self, kernel_id: UUID) -> models.BinaryOut:
        """Build the native binary of a kernel with the service's compiler of Intel. Idempotent."""
        return await self._post(f"/v1/kernels/{part(kernel_id)}/binaries", models.BinaryOut)

    async def rebuild_binaries(self, *, most: int | None = None) -> models.RebuildOut:
        """Queue jobs that rebuild binaries of kernels that have none for the driver of the service's compiler."""
        request = Request("POST", "/v1/binaries/rebuild", query_of({"most": most}))
        return read(await self.send(request), models.RebuildOut)

    async def host_codes(self, kernel_id: UUID) -> models.HostCodeList:
        """List the host programs of a kernel."""
        return await self._get(f"/v1/kernels/{part(kernel_id)}/host-code", models.HostCodeList)

    async def host_code(self, kernel_id: UUID, language: models.Language) -> str:
        """Return a complete program that runs a kernel."""
        return (
            await self.send(Request("GET", f"/v1/kernels/{part(kernel_id)}/host-code/{language.value}"))
        ).body.decode()

    async def compile(self, body: models.CompileBody) -> models.CompileOut:
        """Compile a module or a problem; nothing is stored."""
        return await self._post("/v1/compile", models.CompileOut, body)

    async def explain(self, body: models.ExplainBody) -> models.GpuExplanation | models.CpuExplanation:
        """Return the performance breakdown of a configuration."""
        kinds = models.GpuExplanation | models.CpuExplanation
        return read(await self.send(post("/v1/explain", body)), kinds)  # pyright: ignore[reportArgumentType]

    async def xray(self, content: bytes, **said: Value) -> models.XrayOut:
        """Report on the GPU kernels in a file of others, beside ours; nothing is stored.

        `said` has options: name="kernels.whl", device="b580", kernel="*Gemm*", limit=20, m=4096 and so on.
        """
        request = Request("POST", "/v1/xray", query_of(said), {"content-type": BYTES}, content)
        return read(await self.send(request), models.XrayOut)

    async def xray_kernel(self, kernel_id: UUID) -> models.XrayOut:
        """Report on the code of a stored kernel, beside our best for its problem."""
        return await self._get(f"/v1/kernels/{part(kernel_id)}/xray", models.XrayOut)

    async def create_schedule(
        self, body: models.ScheduleBody, *, idempotency_key: str | None = None
    ) -> models.ScheduleOut:
        """Create a schedule."""
        return await self._create("/v1/schedules", body, models.ScheduleOut, idempotency_key)

    async def schedules(self) -> models.ScheduleList:
        """List all schedules."""
        return await self._get("/v1/schedules", models.ScheduleList)

    async def schedule(self, schedule_id: UUID) -> models.ScheduleOut:
        """Return a schedule with its next and last runs."""
        return await self._get(f"/v1/schedules/{part(schedule_id)}", models.ScheduleOut)

    async def pause_schedule(self, schedule_id: UUID) -> models.ScheduleOut:
        """Pause a schedule."""
        return await self._post(f"/v1/schedules/{part(schedule_id)}/pause", models.ScheduleOut)

    async def resume_schedule(self, schedule_id: UUID) -> models.ScheduleOut:
        """Resume a paused schedule."""
        return await self._post(f"/v1/schedules/{part(schedule_id)}/resume", models.ScheduleOut)

    async def run_schedule(self, schedule_id: UUID, *, idempotency_key: str | None = None) -> models.FireOut:
        """Start a run of a schedule now, in addition to its due times. Idempotent."""
        return await self._create(f"/v1/schedules/{part(schedule_id)}/run", None, models.FireOut, idempotency_key)

    async def next_times(self, schedule_id: UUID, *, count: int | None = None) -> models.DueList:
        """Return the next due times of a schedule."""
        return await self._get(f"/v1/schedules/{part(schedule_id)}/next", models.DueList, {"count": count})

    async def fires(self, schedule_id: UUID, *, before: int | None = None, limit: int | None = None) -> models.FirePage:
        """Return a page of a schedule's runs, newest first."""
        return await self._get(
            f"/v1/schedules/{part(schedule_id)}/fires", models.FirePage, {"before": before, "limit": limit}
        )

    async def replace_schedule(self, schedule_id: UUID, body: models.ScheduleBody) -> models.ScheduleOut:
        """Replace a schedule; its id and history are kept."""
        return await self._put(f"/v1/schedules/{part(schedule_id)}", body, models.ScheduleOut)

    async def delete_schedule(self, schedule_id: UUID) -> None:
        """Delete a schedule."""
        await self._delete(f"/v1/schedules/{part(schedule_id)}")

    async def create_shape_set(
        self, body: models.ShapeSetBody, *, idempotency_key: str | None = None
    ) -> models.ShapeSetOut:
        """Queue a shape set, or return the identical active one. Idempotent."""
        return await self._create("/v1/shape-sets", body, models.ShapeSetOut, idempotency_key)

    async def shape_sets(self, *, before: UUID | None = None, limit: int | None = None) -> models.ShapeSetPage:
        """Return a page of shape sets, newest first."""
        return await self._get("/v1/shape-sets", models.ShapeSetPage, {"before": before, "limit": limit})

    async def shape_set(self, set_id: UUID, *, within: float | None = None) -> models.ShapeSetOut:
        """Return a shape set; `within` overrides its bound for recommended kernels, as a fraction."""
        return await self._get(f"/v1/shape-sets/{part(set_id)}", models.ShapeSetOut, {"within": within})

    async def cancel_shape_set(self, set_id: UUID) -> models.ShapeSetOut:
        """Cancel a shape set and its jobs; their results are kept."""
        return await self._post(f"/v1/shape-sets/{part(set_id)}/cancel", models.ShapeSetOut)

    async def delete_shape_set(self, set_id: UUID) -> None:
        """Delete a shape set that is over."""
        await self._delete(f"/v1/shape-sets/{part(set_id)}")

    async def presets(self) -> models.PresetList:
        """List the presets of shape sets."""
        return await self._get("/v1/shape-sets/presets", models.PresetList)

    async def import_results(
        self, content: bytes, *, idempotency_key: str | None = None, **said: Value
    ) -> models.ImportOut:
        """Import a file of results, all or nothing. Idempotent.

        `said` has what the file does not state: format="kernel-tuner", device="b580", m=512 and so on.
        """
        kind = JSON_LINES if said.get("format") in (None, models.Format.JSONL) else BYTES
        headers = {"content-type": kind, "idempotency-key": idempotency_key or str(uuid4())}
        return read(await self.send(Request("POST", "/v1/imports", query_of(said), headers, content)), models.ImportOut)

    async def export_results(self, *, job_id: UUID | None = None, device: str | None = None, **said: Value) -> bytes:
        """Export results as JSON lines, of a job or a device if given; `said` selects a problem or another
        format.

        Raises:
            Damaged: a row or file of the service could not be read after it began to answer.
        """
        query = query_of({"job": job_id, "device": device, **said})
        return whole_export(await self.send(Request("GET", "/v1/exports", query)))

    async def recordings(self, *, before: UUID | None = None, limit: int | None = None) -> models.RecordingPage:
        """Return a page of recordings of other autotuners, newest first."""
        return await self._get("/v1/recordings", models.RecordingPage, {"before": before, "limit": limit})

    async def recording(
        self, recording_id: UUID, *, after: int | None = None, limit: int | None = None
    ) -> models.RecordingOut:
        """Return a recording with a page of its measurements."""
        return await self._get(
            f"/v1/recordings/{part(recording_id)}", models.RecordingOut, {"after": after, "limit": limit}
        )

    async def store_records(
        self, body: models.RecordsBody, *, idempotency_key: str | None = None
    ) -> models.StoredRecords:
        """Store results of another tuner. Idempotent."""
        return await self._create("/v1/records", body, models.StoredRecords, idempotency_key)

    async def records(
        self,
        *,
        tuner: str | None = None,
        kernel: str | None = None,
        device: str | None = None,
        before: UUID | None = None,
        limit: int | None = None,
    ) -> models.RecordPage:
        """Return a page of results of other tuners that match every filter, newest first."""
        query: Query = {"tuner": tuner, "kernel": kernel, "device": device, "before": before, "limit": limit}
        return await self._get("/v1/records", models.RecordPage, query)

    async def each_record(
        self, *, tuner: str | None = None, kernel: str | None = None, device: str | None = None
    ) -> AsyncIterator[models.RecordOut]:
        """Iterate over all results of other tuners that match every filter, newest first."""
        before: UUID | None = None
        while True:
            page = await self.records(tuner=tuner, kernel=kernel, device=device, before=before, limit=_RECORDS_A_PAGE)
            for record in page.records:
                yield record
            before = page.next_before
            if before is None:
                return

    async def find_record(
        self,
        tuner: str,
        kernel: str,
        problem: Mapping[str, object],
        device: str,
        *,
        driver: str | None = None,
        versions: Mapping[str, str] | None = None,
    ) -> models.RecordLookupOut:
        """Look up the result of a tuner for a problem on a device, named by PCI id, id or name."""
        query: Query = {"tuner": tuner, "kernel": kernel, "problem": json.dumps(problem), "device": device}
        stated = [f"{name}={version}" for name, version in (versions or {}).items()]
        return await self._get(
            "/v1/records/lookup", models.RecordLookupOut, {**query, "driver": driver, "version": stated}
        )

    async def record(self, record_id: UUID) -> models.RecordOut:
        """Return a result of another tuner."""
        return await self._get(f"/v1/records/{part(record_id)}", models.RecordOut)

    async def record_schema(self) -> dict[str, object]:
        """Return the JSON Schema of a record."""
        return json.loads((await self.send(Request("GET", "/v1/records/schema"))).body)

    async def delete_record(self, record_id: UUID) -> None:
        """Delete a result of another tuner."""
        await self._delete(f"/v1/records/{part(record_id)}")

    async def create_key(self, body: models.KeyBody, *, idempotency_key: str | None = None) -> models.NewKeyOut:
        """Create an API key. Its secret is None if the first response was lost: revoke it then, and create
        another.
        """
        return await self._create("/v1/keys", body, models.NewKeyOut, idempotency_key)

    async def keys(self) -> models.KeyList:
        """List all keys, without their secrets."""
        return await self._get("/v1/keys", models.KeyList)

    async def revoke_key(self, key_id: UUID) -> models.KeyOut:
        """Revoke a key."""
        return await self._post(f"/v1/keys/{part(key_id)}/revoke", models.KeyOut)

    async def audit(
        self,
        *,
        before: UUID | None = None,
        limit: int | None = None,
        key: UUID | None = None,
        action: str | None = None,
        subject: str | None = None,
    ) -> models.AuditPage:
        """Return a page of the audit log, newest first."""
        query: Query = {"before": before, "limit": limit, "key": key, "action": action, "subject": subject}
        return await self._get("/v1/audit", models.AuditPage, query)

    async def health(self) -> models.Health:
        """Return the liveness of the service."""
        return await self._get("/healthz", models.Health)

    async def metrics(self) -> str:
        """Return the metrics in the format of Prometheus."""
        return (await self.send(Request("GET", "/metrics"))).body.decode()

    async def readiness(self) -> models.Readiness:
        """Return the readiness of the service; raise Failed if it is not ready."""
        return await self._get("/readyz", models.Readiness)

    async def _get(self, path: str, model: type[T], query: Query | None = None) -> T:
        return read(await self.send(Request("GET", path, query_of(query or {}))), model)

    async def _post(self, path: str, model: type[T], body: BaseModel | None = None) -> T:
        return read(await self.send(post(path, body)), model)

    async def _create(self, path: str, body: BaseModel | None, model: type[T], key: str | None) -> T:
        return read(await self.send(creation(path, body, key)), model)

    async def _put(self, path: str, body: BaseModel, model: type[T]) -> T:
        request = Request("PUT", path, headers={"content-type": JSON}, body=to_json(body))
        return read(await self.send(request), model)

    async def _delete(self, path: str, query: Query | None = None) -> None:
        await self._connection.send(Request("DELETE", path, query_of(query or {})), deletes=True)


def _size(answer: Answer) -> int:
    return int(answer.headers["content-length"])
