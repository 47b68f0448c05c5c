"""The same client for programs with an event loop, of asyncio or trio."""

from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from uuid import UUID

import httpx

from xetune_client import calls, models
from xetune_client.asynchronous import Line
from xetune_client.connecting import server
from xetune_client.fetching import Fetched, fetch
from xetune_client.following import JobEvent, follow
from xetune_client.retrying import Retries, converse
from xetune_client.waiting import wait_for
from xetune_client.wire import Call, T

_JOBS_A_PAGE, _TRIALS_A_PAGE = 200, 1000
"""The most that a page has."""


class AsyncClient:
    """A service, for one event loop. Close it, or use it in an `async with`.

    The address is `url`, else XETUNE_SERVER, else http://127.0.0.1:8752; the key `api_key`, else XETUNE_API_KEY.
    Requests are repeated as `retries` says; `timeout_s` is the longest silence within one. Every method raises
    ClientError: Refused where the service says no, NotReached where it says nothing.
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
        self._line = Line(self._server, transport)

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._server.url)!r})"

    async def close(self) -> None:
        """Let the connections go."""
        await self._line.close()

    async def send(self, call: Call[T]) -> T:
        """Send a call of `xetune_client.calls`."""
        return await self._line.hold(converse(call, self._server.retries))

    async def devices(self) -> models.DeviceList:
        """Every device of the service, and those that get no jobs."""
        return await self.send(calls.devices())

    async def device(self, name: str) -> models.DeviceOut:
        """One device, by any of its names."""
        return await self.send(calls.device(name))

    async def accuracy(self, name: str) -> models.AccuracyList:
        """How far predictions for a device were off."""
        return await self.send(calls.accuracy(name))

    async def release_device(self, name: str) -> None:
        """Let a device that kept failing have jobs again."""
        await self.send(calls.release_device(name))

    async def create_job(self, body: models.JobBody, *, idempotency_key: str | None = None) -> models.JobOut:
        """Queue a job, or get the identical one that is active. Sent twice it makes one."""
        return await self.send(calls.create_job(body, idempotency_key))

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
        """A page of jobs, the newest first; all that is given must hold."""
        query: calls.Query = {"status": [*status], "kind": [*kind], "device": device, "m": m, "n": n, "k": k}
        return await self.send(calls.jobs({**query, "before": before, "limit": limit}))

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
        """Every job, the newest first, page by page; all that is given must hold."""
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
        """A job: how far it is, and its best so far."""
        return await self.send(calls.job(job_id))

    async def trials(
        self,
        job_id: UUID,
        *,
        status: Sequence[models.TrialStatus] = (),
        after: int | None = None,
        limit: int | None = None,
    ) -> models.TrialPage:
        """A page of a job's trials, in order of number."""
        query: calls.Query = {"status": [*status], "after": after, "limit": limit}
        return await self.send(calls.trials(job_id, query))

    async def each_trial(
        self, job_id: UUID, *, status: Sequence[models.TrialStatus] = (), after: int | None = None
    ) -> AsyncIterator[models.TrialOut]:
        """Every trial of a job that is there, numbered above `after`, in order of number, page by page."""
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
        """Each trial once, numbered above `after`, and the job whenever it changed, until it is over.

        From the event stream, which it comes back to when that breaks; else, or without `stream`, by polling.
        """
        return self._line.follow(follow(job_id, after, self._server.retries, poll_s, stream=stream))

    async def wait(self, job_id: UUID, timeout_s: float | None = None) -> models.JobOut:
        """The job when it is over; TookTooLong is raised after `timeout_s`."""
        return await self._line.hold(wait_for(job_id, timeout_s, self._server.retries))

    async def cancel(self, job_id: UUID) -> models.JobOut:
        """Ask a job to stop; what it found stays."""
        return await self.send(calls.cancel_job(job_id))

    async def retry(self, job_id: UUID, *, idempotency_key: str | None = None) -> models.JobOut:
        """Do a job anew that failed or was cancelled."""
        return await self.send(calls.retry_job(job_id, idempotency_key))

    async def lookup(self, body: models.LookupBody) -> models.LookupOut:
        """What to run for a problem on a device, and how far to trust it."""
        return await self.send(calls.lookup(body))

    async def find(self, m: int, n: int, k: int, **said: calls.Value) -> models.LookupOut:
        """The same by an address: `said` is what else it may say, such as dtype="bf16" or device="b580"."""
        return await self.send(calls.find({"m": m, "n": n, "k": k, **said}))

    async def lookup_batch(self, body: models.BatchBody) -> models.BatchOut:
        """The same for at most 1,000 problems."""
        return await self.send(calls.lookup_batch(body))

    async def kernels(
        self, *, before: UUID | None = None, limit: int | None = None, **said: calls.Value
    ) -> models.KernelPage:
        """A page of stored kernels, the newest first; `said` is what must hold, such as device="b580" or m=512."""
        return await self.send(calls.kernels({**said, "before": before, "limit": limit}))

    async def kernel(self, kernel_id: UUID) -> models.KernelOut:
        """A kernel, its launch, its files and evidence."""
        return await self.send(calls.kernel(kernel_id))

    async def artifact(self, sha256: str, fetched: Fetched | None = None) -> bytes:
        """A file by the hash of what it holds, which is compared. What `fetched` holds is not asked for again."""
        return await self._line.hold(fetch(sha256, Fetched() if fetched is None else fetched, self._server.retries))

    async def artifact_size(self, sha256: str) -> int:
        """Bytes of a file, by the hash of what it holds."""
        return await self.send(calls.artifact_size(sha256))

    async def kernel_file(self, kernel_id: UUID, name: str) -> bytes:
        """A file of a kernel by its name, such as kernel.spv."""
        return await self.send(calls.kernel_file(kernel_id, name))

    async def kernel_file_size(self, kernel_id: UUID, name: str) -> int:
        """Bytes of a file of a kernel, by its name."""
        return await self.send(calls.kernel_file_size(kernel_id, name))

    async def host_codes(self, kernel_id: UUID) -> models.HostCodeList:
        """The programs that there are for a kernel."""
        return await self.send(calls.host_codes(kernel_id))

    async def host_code(self, kernel_id: UUID, language: models.Language) -> str:
        """A complete program that runs a kernel."""
        return await self.send(calls.host_code(kernel_id, language))

    async def compile(self, body: models.CompileBody) -> models.CompileOut:
        """Compile a text or a problem at once; nothing is kept."""
        return await self.send(calls.compile_kernels(body))

    async def explain(self, body: models.ExplainBody) -> calls.Explanation:
        """Why a configuration takes its time."""
        return await self.send(calls.explain(body))

    async def create_schedule(
        self, body: models.ScheduleBody, *, idempotency_key: str | None = None
    ) -> models.ScheduleOut:
        """Make a schedule."""
        return await self.send(calls.create_schedule(body, idempotency_key))

    async def schedules(self) -> models.ScheduleList:
        """Every schedule."""
        return await self.send(calls.schedules())

    async def schedule(self, schedule_id: UUID) -> models.ScheduleOut:
        """A schedule, its next run and its last fires."""
        return await self.send(calls.schedule(schedule_id))

    async def pause_schedule(self, schedule_id: UUID) -> models.ScheduleOut:
        """Let a schedule fire no more until it is resumed."""
        return await self.send(calls.pause_schedule(schedule_id))

    async def resume_schedule(self, schedule_id: UUID) -> models.ScheduleOut:
        """Let a paused schedule fire again."""
        return await self.send(calls.resume_schedule(schedule_id))

    async def run_schedule(self, schedule_id: UUID, *, idempotency_key: str | None = None) -> models.FireOut:
        """Start what a schedule starts, now and beside its due times. Sent twice it starts it once."""
        return await self.send(calls.run_schedule(schedule_id, idempotency_key))

    async def next_times(self, schedule_id: UUID, *, count: int | None = None) -> models.DueList:
        """When a schedule comes due next."""
        return await self.send(calls.next_times(schedule_id, count))

    async def fires(self, schedule_id: UUID, *, before: int | None = None, limit: int | None = None) -> models.FirePage:
        """A page of a schedule's runs, the newest first: what each started, and what was missed or refused."""
        return await self.send(calls.fires(schedule_id, before, limit))

    async def replace_schedule(self, schedule_id: UUID, body: models.ScheduleBody) -> models.ScheduleOut:
        """Make a schedule another one; its id and history stay."""
        return await self.send(calls.replace_schedule(schedule_id, body))

    async def delete_schedule(self, schedule_id: UUID) -> None:
        """Forget a schedule."""
        await self.send(calls.delete_schedule(schedule_id))

    async def create_shape_set(
        self, body: models.ShapeSetBody, *, idempotency_key: str | None = None
    ) -> models.ShapeSetOut:
        """Queue a set of shapes under one budget, or get the identical one that is active."""
        return await self.send(calls.create_shape_set(body, idempotency_key))

    async def shape_sets(self, *, before: UUID | None = None, limit: int | None = None) -> models.ShapeSetPage:
        """A page of sets of shapes, the newest first."""
        return await self.send(calls.shape_sets(before, limit))

    async def shape_set(self, set_id: UUID, *, within: float | None = None) -> models.ShapeSetOut:
        """A set of shapes; `within` recommends kernels for another bound than its own, as a fraction."""
        return await self.send(calls.shape_set(set_id, within))

    async def cancel_shape_set(self, set_id: UUID) -> models.ShapeSetOut:
        """End a set of shapes and its jobs; what was found stays."""
        return await self.send(calls.cancel_shape_set(set_id))

    async def delete_shape_set(self, set_id: UUID) -> None:
        """Forget a set of shapes that is over."""
        await self.send(calls.delete_shape_set(set_id))

    async def presets(self) -> models.PresetList:
        """The models whose layers a set can be made of."""
        return await self.send(calls.presets())

    async def import_results(
        self, content: bytes, *, idempotency_key: str | None = None, **said: calls.Value
    ) -> models.ImportOut:
        """Take in what an export wrote: all of it, or nothing.

        Of other formats `said` says what the file does not: format="kernel-tuner", device="b580", m=512 and so on.
        """
        return await self.send(calls.import_results(content, said, idempotency_key))

    async def export_results(
        self, *, job_id: UUID | None = None, device: str | None = None, **said: calls.Value
    ) -> bytes:
        """Results as JSON lines: all, of a job, or of a device; `said` may choose a problem or another format."""
        return await self.send(calls.export_results({"job": job_id, "device": device, **said}))

    async def recordings(self, *, before: UUID | None = None, limit: int | None = None) -> models.RecordingPage:
        """A page of what was imported from other autotuners, the newest first."""
        return await self.send(calls.recordings(before, limit))

    async def recording(
        self, recording_id: UUID, *, after: int | None = None, limit: int | None = None
    ) -> models.RecordingOut:
        """A recording, and a page of its measurements."""
        return await self.send(calls.recording(recording_id, after, limit))

    async def create_key(self, body: models.KeyBody, *, idempotency_key: str | None = None) -> models.NewKeyOut:
        """Make an API key. Its secret is null when the first answer was lost: then revoke it and make another."""
        return await self.send(calls.create_key(body, idempotency_key))

    async def keys(self) -> models.KeyList:
        """Every key, without its secret."""
        return await self.send(calls.keys())

    async def revoke_key(self, key_id: UUID) -> models.KeyOut:
        """Let a key work no more, from the next request on."""
        return await self.send(calls.revoke_key(key_id))

    async def audit(
        self,
        *,
        before: UUID | None = None,
        limit: int | None = None,
        key: UUID | None = None,
        action: str | None = None,
        subject: str | None = None,
    ) -> models.AuditPage:
        """A page of who changed what, the newest first."""
        query: calls.Query = {"before": before, "limit": limit, "key": key, "action": action, "subject": subject}
        return await self.send(calls.audit(query))

    async def health(self) -> models.Health:
        """Whether the process answers."""
        return await self.send(calls.health())

    async def metrics(self) -> str:
        """Metrics as Prometheus reads them."""
        return await self.send(calls.metrics())

    async def readiness(self) -> models.Readiness:
        """Whether the service can work; Failed is raised when it cannot."""
        return await self.send(calls.readiness())
