"""The client for programs that wait for each answer."""

from collections.abc import Iterator, Sequence
from types import TracebackType
from uuid import UUID

import httpx

from xetune_client import calls, models
from xetune_client.connecting import server
from xetune_client.fetching import Fetched, fetch
from xetune_client.following import JobEvent, follow
from xetune_client.retrying import Retries, converse
from xetune_client.sync import Line
from xetune_client.waiting import wait_for
from xetune_client.wire import Call, T

_JOBS_A_PAGE, _TRIALS_A_PAGE = 200, 1000
"""The most that a page has."""


class Client:
    """A service. Thread-safe; each iterator is for one thread. Close it, or use it in a `with`.

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
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._server = server(url, api_key, timeout_s, retries)
        self._line = Line(self._server, transport)

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._server.url)!r})"

    def close(self) -> None:
        """Let the connections go."""
        self._line.close()

    def send(self, call: Call[T]) -> T:
        """Send a call of `xetune_client.calls`."""
        return self._line.hold(converse(call, self._server.retries))

    def devices(self) -> models.DeviceList:
        """Every device of the service, and those that get no jobs."""
        return self.send(calls.devices())

    def device(self, name: str) -> models.DeviceOut:
        """One device, by any of its names."""
        return self.send(calls.device(name))

    def accuracy(self, name: str) -> models.AccuracyList:
        """How far predictions for a device were off."""
        return self.send(calls.accuracy(name))

    def release_device(self, name: str) -> None:
        """Let a device that kept failing have jobs again."""
        self.send(calls.release_device(name))

    def create_job(self, body: models.JobBody, *, idempotency_key: str | None = None) -> models.JobOut:
        """Queue a job, or get the identical one that is active. Sent twice it makes one."""
        return self.send(calls.create_job(body, idempotency_key))

    def jobs(
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
        return self.send(calls.jobs({**query, "before": before, "limit": limit}))

    def each_job(
        self,
        *,
        status: Sequence[models.JobStatus] = (),
        kind: Sequence[models.JobKind] = (),
        device: str | None = None,
        m: int | None = None,
        n: int | None = None,
        k: int | None = None,
    ) -> Iterator[models.JobOut]:
        """Every job, the newest first, page by page; all that is given must hold."""
        before: UUID | None = None
        while True:
            page = self.jobs(status=status, kind=kind, device=device, m=m, n=n, k=k, before=before, limit=_JOBS_A_PAGE)
            yield from page.jobs
            before = page.next_before
            if before is None:
                return

    def job(self, job_id: UUID) -> models.JobOut:
        """A job: how far it is, and its best so far."""
        return self.send(calls.job(job_id))

    def trials(
        self,
        job_id: UUID,
        *,
        status: Sequence[models.TrialStatus] = (),
        after: int | None = None,
        limit: int | None = None,
    ) -> models.TrialPage:
        """A page of a job's trials, in order of number."""
        query: calls.Query = {"status": [*status], "after": after, "limit": limit}
        return self.send(calls.trials(job_id, query))

    def each_trial(
        self, job_id: UUID, *, status: Sequence[models.TrialStatus] = (), after: int | None = None
    ) -> Iterator[models.TrialOut]:
        """Every trial of a job that is there, numbered above `after`, in order of number, page by page."""
        while True:
            page = self.trials(job_id, status=status, after=after, limit=_TRIALS_A_PAGE)
            yield from page.trials
            after = page.next_after
            if after is None:
                return

    def events(self, job_id: UUID, *, after: int = -1, poll_s: float = 1.0, stream: bool = True) -> Iterator[JobEvent]:
        """Each trial once, numbered above `after`, and the job whenever it changed, until it is over.

        From the event stream, which it comes back to when that breaks; else, or without `stream`, by polling.
        """
        return self._line.follow(follow(job_id, after, self._server.retries, poll_s, stream=stream))

    def wait(self, job_id: UUID, timeout_s: float | None = None) -> models.JobOut:
        """The job when it is over; TookTooLong is raised after `timeout_s`."""
        return self._line.hold(wait_for(job_id, timeout_s, self._server.retries))

    def cancel(self, job_id: UUID) -> models.JobOut:
        """Ask a job to stop; what it found stays."""
        return self.send(calls.cancel_job(job_id))

    def retry(self, job_id: UUID, *, idempotency_key: str | None = None) -> models.JobOut:
        """Do a job anew that failed or was cancelled."""
        return self.send(calls.retry_job(job_id, idempotency_key))

    def lookup(self, body: models.LookupBody) -> models.LookupOut:
        """What to run for a problem on a device, and how far to trust it."""
        return self.send(calls.lookup(body))

    def find(self, m: int, n: int, k: int, **said: calls.Value) -> models.LookupOut:
        """The same by an address: `said` is what else it may say, such as dtype="bf16" or device="b580"."""
        return self.send(calls.find({"m": m, "n": n, "k": k, **said}))

    def lookup_batch(self, body: models.BatchBody) -> models.BatchOut:
        """The same for at most 1,000 problems."""
        return self.send(calls.lookup_batch(body))

    def kernels(
        self, *, before: UUID | None = None, limit: int | None = None, **said: calls.Value
    ) -> models.KernelPage:
        """A page of stored kernels, the newest first; `said` is what must hold, such as device="b580" or m=512."""
        return self.send(calls.kernels({**said, "before": before, "limit": limit}))

    def kernel(self, kernel_id: UUID) -> models.KernelOut:
        """A kernel, its launch, its files and evidence."""
        return self.send(calls.kernel(kernel_id))

    def artifact(self, sha256: str, fetched: Fetched | None = None) -> bytes:
        """A file by the hash of what it holds, which is compared. What `fetched` holds is not asked for again."""
        return self._line.hold(fetch(sha256, Fetched() if fetched is None else fetched, self._server.retries))

    def artifact_size(self, sha256: str) -> int:
        """Bytes of a file, by the hash of what it holds."""
        return self.send(calls.artifact_size(sha256))

    def kernel_file(self, kernel_id: UUID, name: str) -> bytes:
        """A file of a kernel by its name, such as kernel.spv."""
        return self.send(calls.kernel_file(kernel_id, name))

    def kernel_file_size(self, kernel_id: UUID, name: str) -> int:
        """Bytes of a file of a kernel, by its name."""
        return self.send(calls.kernel_file_size(kernel_id, name))

    def host_codes(self, kernel_id: UUID) -> models.HostCodeList:
        """The programs that there are for a kernel."""
        return self.send(calls.host_codes(kernel_id))

    def host_code(self, kernel_id: UUID, language: models.Language) -> str:
        """A complete program that runs a kernel."""
        return self.send(calls.host_code(kernel_id, language))

    def compile(self, body: models.CompileBody) -> models.CompileOut:
        """Compile a text or a problem at once; nothing is kept."""
        return self.send(calls.compile_kernels(body))

    def explain(self, body: models.ExplainBody) -> calls.Explanation:
        """Why a configuration takes its time."""
        return self.send(calls.explain(body))

    def create_schedule(self, body: models.ScheduleBody, *, idempotency_key: str | None = None) -> models.ScheduleOut:
        """Make a schedule."""
        return self.send(calls.create_schedule(body, idempotency_key))

    def schedules(self) -> models.ScheduleList:
        """Every schedule."""
        return self.send(calls.schedules())

    def schedule(self, schedule_id: UUID) -> models.ScheduleOut:
        """A schedule, its next run and its last fires."""
        return self.send(calls.schedule(schedule_id))

    def pause_schedule(self, schedule_id: UUID) -> models.ScheduleOut:
        """Let a schedule fire no more until it is resumed."""
        return self.send(calls.pause_schedule(schedule_id))

    def resume_schedule(self, schedule_id: UUID) -> models.ScheduleOut:
        """Let a paused schedule fire again."""
        return self.send(calls.resume_schedule(schedule_id))

    def run_schedule(self, schedule_id: UUID, *, idempotency_key: str | None = None) -> models.FireOut:
        """Start what a schedule starts, now and beside its due times. Sent twice it starts it once."""
        return self.send(calls.run_schedule(schedule_id, idempotency_key))

    def next_times(self, schedule_id: UUID, *, count: int | None = None) -> models.DueList:
        """When a schedule comes due next."""
        return self.send(calls.next_times(schedule_id, count))

    def fires(self, schedule_id: UUID, *, before: int | None = None, limit: int | None = None) -> models.FirePage:
        """A page of a schedule's runs, the newest first: what each started, and what was missed or refused."""
        return self.send(calls.fires(schedule_id, before, limit))

    def replace_schedule(self, schedule_id: UUID, body: models.ScheduleBody) -> models.ScheduleOut:
        """Make a schedule another one; its id and history stay."""
        return self.send(calls.replace_schedule(schedule_id, body))

    def delete_schedule(self, schedule_id: UUID) -> None:
        """Forget a schedule."""
        self.send(calls.delete_schedule(schedule_id))

    def create_shape_set(self, body: models.ShapeSetBody, *, idempotency_key: str | None = None) -> models.ShapeSetOut:
        """Queue a set of shapes under one budget, or get the identical one that is active."""
        return self.send(calls.create_shape_set(body, idempotency_key))

    def shape_sets(self, *, before: UUID | None = None, limit: int | None = None) -> models.ShapeSetPage:
        """A page of sets of shapes, the newest first."""
        return self.send(calls.shape_sets(before, limit))

    def shape_set(self, set_id: UUID, *, within: float | None = None) -> models.ShapeSetOut:
        """A set of shapes; `within` recommends kernels for another bound than its own, as a fraction."""
        return self.send(calls.shape_set(set_id, within))

    def cancel_shape_set(self, set_id: UUID) -> models.ShapeSetOut:
        """End a set of shapes and its jobs; what was found stays."""
        return self.send(calls.cancel_shape_set(set_id))

    def delete_shape_set(self, set_id: UUID) -> None:
        """Forget a set of shapes that is over."""
        self.send(calls.delete_shape_set(set_id))

    def presets(self) -> models.PresetList:
        """The models whose layers a set can be made of."""
        return self.send(calls.presets())

    def import_results(
        self, content: bytes, *, idempotency_key: str | None = None, **said: calls.Value
    ) -> models.ImportOut:
        """Take in what an export wrote: all of it, or nothing.

        Of other formats `said` says what the file does not: format="kernel-tuner", device="b580", m=512 and so on.
        """
        return self.send(calls.import_results(content, said, idempotency_key))

    def export_results(self, *, job_id: UUID | None = None, device: str | None = None, **said: calls.Value) -> bytes:
        """Results as JSON lines: all, of a job, or of a device; `said` may choose a problem or another format."""
        return self.send(calls.export_results({"job": job_id, "device": device, **said}))

    def recordings(self, *, before: UUID | None = None, limit: int | None = None) -> models.RecordingPage:
        """A page of what was imported from other autotuners, the newest first."""
        return self.send(calls.recordings(before, limit))

    def recording(
        self, recording_id: UUID, *, after: int | None = None, limit: int | None = None
    ) -> models.RecordingOut:
        """A recording, and a page of its measurements."""
        return self.send(calls.recording(recording_id, after, limit))

    def create_key(self, body: models.KeyBody, *, idempotency_key: str | None = None) -> models.NewKeyOut:
        """Make an API key. Its secret is null when the first answer was lost: then revoke it and make another."""
        return self.send(calls.create_key(body, idempotency_key))

    def keys(self) -> models.KeyList:
        """Every key, without its secret."""
        return self.send(calls.keys())

    def revoke_key(self, key_id: UUID) -> models.KeyOut:
        """Let a key work no more, from the next request on."""
        return self.send(calls.revoke_key(key_id))

    def audit(
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
        return self.send(calls.audit(query))

    def health(self) -> models.Health:
        """Whether the process answers."""
        return self.send(calls.health())

    def metrics(self) -> str:
        """Metrics as Prometheus reads them."""
        return self.send(calls.metrics())

    def readiness(self) -> models.Readiness:
        """Whether the service can work; Failed is raised when it cannot."""
        return self.send(calls.readiness())
