"""Every request of the service as a Call: what is sent, and what its answer is read as.

What makes something carries an Idempotency-Key, so that sent twice it makes one thing.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from uuid import UUID, uuid4

from pydantic import BaseModel

from xetune_client import models as m
from xetune_client.wire import BYTES, JSON, JSON_LINES, Answer, Call, Request, T, part, reading, to_json

Value = str | int | float | bool | UUID | datetime | None
Query = Mapping[str, Value | Sequence[str]]
_ONE = (str, int, float, UUID, datetime)
Explanation = m.GpuExplanation | m.CpuExplanation


def devices() -> Call[m.DeviceList]:
    """Every device of the service, and those that get no jobs."""
    return _get("/v1/devices", m.DeviceList)


def device(name: str) -> Call[m.DeviceOut]:
    """One device, by any of its names."""
    return _get(f"/v1/devices/{part(name)}", m.DeviceOut)


def accuracy(name: str) -> Call[m.AccuracyList]:
    """How far predictions for a device were off."""
    return _get(f"/v1/devices/{part(name)}/accuracy", m.AccuracyList)


def release_device(name: str) -> Call[None]:
    """Let a device that kept failing have jobs again."""
    return _delete(f"/v1/devices/{part(name)}/quarantine")


def create_job(body: m.JobBody, key: str | None = None) -> Call[m.JobOut]:
    """Queue a job, or get the identical one that is active."""
    return _create("/v1/jobs", body, m.JobOut, key)


def jobs(query: Query) -> Call[m.JobPage]:
    """A page of jobs, the newest first."""
    return _get("/v1/jobs", m.JobPage, query)


def job(job_id: UUID) -> Call[m.JobOut]:
    """A job."""
    return _get(f"/v1/jobs/{part(job_id)}", m.JobOut)


def trials(job_id: UUID, query: Query) -> Call[m.TrialPage]:
    """A page of a job's trials, in order of number."""
    return _get(f"/v1/jobs/{part(job_id)}/trials", m.TrialPage, query)


def cancel_job(job_id: UUID) -> Call[m.JobOut]:
    """Ask a job to stop."""
    return _post(f"/v1/jobs/{part(job_id)}/cancel", m.JobOut)


def retry_job(job_id: UUID, key: str | None = None) -> Call[m.JobOut]:
    """Do a job anew that failed or was cancelled."""
    return _create(f"/v1/jobs/{part(job_id)}/retry", None, m.JobOut, key)


def lookup(body: m.LookupBody) -> Call[m.LookupOut]:
    """What to run for a problem on a device."""
    return _post("/v1/kernels/lookup", m.LookupOut, body)


def lookup_batch(body: m.BatchBody) -> Call[m.BatchOut]:
    """The same for at most 1,000 problems."""
    return _post("/v1/kernels/lookup/batch", m.BatchOut, body)


def find(query: Query) -> Call[m.LookupOut]:
    """The same by an address that says the problem."""
    return _get("/v1/kernels", m.LookupOut, query)


def kernels(query: Query) -> Call[m.KernelPage]:
    """A page of stored kernels, the newest first."""
    return _get("/v1/kernels/stored", m.KernelPage, query)


def kernel(kernel_id: UUID) -> Call[m.KernelOut]:
    """A kernel."""
    return _get(f"/v1/kernels/{part(kernel_id)}", m.KernelOut)


def kernel_file(kernel_id: UUID, name: str) -> Call[bytes]:
    """A file of a kernel by its name."""
    return Call(Request("GET", f"/v1/kernels/{part(kernel_id)}/artifacts/{part(name)}"), _bytes)


def kernel_file_size(kernel_id: UUID, name: str) -> Call[int]:
    """Bytes of a file of a kernel, by its name."""
    return Call(Request("HEAD", f"/v1/kernels/{part(kernel_id)}/artifacts/{part(name)}"), _size)


def artifact_size(sha256: str) -> Call[int]:
    """Bytes of a file, by its hash."""
    return Call(Request("HEAD", f"/v1/artifacts/{part(sha256)}"), _size)


def host_codes(kernel_id: UUID) -> Call[m.HostCodeList]:
    """The programs that there are for a kernel."""
    return _get(f"/v1/kernels/{part(kernel_id)}/host-code", m.HostCodeList)


def host_code(kernel_id: UUID, language: m.Language) -> Call[str]:
    """A program that runs a kernel."""
    return Call(Request("GET", f"/v1/kernels/{part(kernel_id)}/host-code/{language.value}"), _text)


def compile_kernels(body: m.CompileBody) -> Call[m.CompileOut]:
    """Compile a text or a problem at once; nothing is kept."""
    return _post("/v1/compile", m.CompileOut, body)


def explain(body: m.ExplainBody) -> Call[Explanation]:
    """Why a configuration takes its time."""
    read: Callable[[Answer], Explanation] = reading(Explanation)  # pyright: ignore[reportArgumentType]
    return Call(_post("/v1/explain", m.GpuExplanation, body).request, read)


def create_schedule(body: m.ScheduleBody, key: str | None = None) -> Call[m.ScheduleOut]:
    """Make a schedule."""
    return _create("/v1/schedules", body, m.ScheduleOut, key)


def schedules() -> Call[m.ScheduleList]:
    """Every schedule."""
    return _get("/v1/schedules", m.ScheduleList)


def schedule(schedule_id: UUID) -> Call[m.ScheduleOut]:
    """A schedule."""
    return _get(f"/v1/schedules/{part(schedule_id)}", m.ScheduleOut)


def pause_schedule(schedule_id: UUID) -> Call[m.ScheduleOut]:
    """Let a schedule fire no more until it is resumed."""
    return _post(f"/v1/schedules/{part(schedule_id)}/pause", m.ScheduleOut)


def resume_schedule(schedule_id: UUID) -> Call[m.ScheduleOut]:
    """Let a paused schedule fire again."""
    return _post(f"/v1/schedules/{part(schedule_id)}/resume", m.ScheduleOut)


def run_schedule(schedule_id: UUID, key: str | None = None) -> Call[m.FireOut]:
    """Start what a schedule starts, now."""
    return _create(f"/v1/schedules/{part(schedule_id)}/run", None, m.FireOut, key)


def next_times(schedule_id: UUID, count: int | None) -> Call[m.DueList]:
    """When a schedule comes due next."""
    return _get(f"/v1/schedules/{part(schedule_id)}/next", m.DueList, {"count": count})


def fires(schedule_id: UUID, before: int | None, limit: int | None) -> Call[m.FirePage]:
    """A page of a schedule's runs, the newest first."""
    return _get(f"/v1/schedules/{part(schedule_id)}/fires", m.FirePage, {"before": before, "limit": limit})


def replace_schedule(schedule_id: UUID, body: m.ScheduleBody) -> Call[m.ScheduleOut]:
    """Make a schedule another one; its id and history stay."""
    return _put(f"/v1/schedules/{part(schedule_id)}", body, m.ScheduleOut)


def delete_schedule(schedule_id: UUID) -> Call[None]:
    """Forget a schedule."""
    return _delete(f"/v1/schedules/{part(schedule_id)}")


def create_shape_set(body: m.ShapeSetBody, key: str | None = None) -> Call[m.ShapeSetOut]:
    """Queue a set of shapes, or get the identical one that is active."""
    return _create("/v1/shape-sets", body, m.ShapeSetOut, key)


def shape_sets(before: UUID | None, limit: int | None) -> Call[m.ShapeSetPage]:
    """A page of sets of shapes, the newest first."""
    return _get("/v1/shape-sets", m.ShapeSetPage, {"before": before, "limit": limit})


def shape_set(set_id: UUID, within: float | None) -> Call[m.ShapeSetOut]:
    """A set of shapes; `within` recommends kernels for another bound than its own, as a fraction."""
    return _get(f"/v1/shape-sets/{part(set_id)}", m.ShapeSetOut, {"within": within})


def cancel_shape_set(set_id: UUID) -> Call[m.ShapeSetOut]:
    """End a set of shapes and its jobs."""
    return _post(f"/v1/shape-sets/{part(set_id)}/cancel", m.ShapeSetOut)


def delete_shape_set(set_id: UUID) -> Call[None]:
    """Forget a set of shapes that is over."""
    return _delete(f"/v1/shape-sets/{part(set_id)}")


def presets() -> Call[m.PresetList]:
    """The models whose layers a set can be made of."""
    return _get("/v1/shape-sets/presets", m.PresetList)


def import_results(content: bytes, query: Query, key: str | None = None) -> Call[m.ImportOut]:
    """Take in a file of results: all of it, or nothing. What is there already is not taken in twice."""
    kind = JSON_LINES if query.get("format") in (None, m.Format.JSONL) else BYTES
    headers = {"content-type": kind, "idempotency-key": key or str(uuid4())}
    return Call(Request("POST", "/v1/imports", _query(query), headers, content), reading(m.ImportOut))


def export_results(query: Query) -> Call[bytes]:
    """Results as JSON lines, or a job or recording in another format."""
    return Call(Request("GET", "/v1/exports", _query(query)), _bytes)


def recordings(before: UUID | None, limit: int | None) -> Call[m.RecordingPage]:
    """A page of what was imported from other autotuners."""
    return _get("/v1/recordings", m.RecordingPage, {"before": before, "limit": limit})


def recording(recording_id: UUID, after: int | None, limit: int | None) -> Call[m.RecordingOut]:
    """A recording, and a page of its measurements."""
    return _get(f"/v1/recordings/{part(recording_id)}", m.RecordingOut, {"after": after, "limit": limit})


def create_key(body: m.KeyBody, key: str | None = None) -> Call[m.NewKeyOut]:
    """Make an API key. Its secret is in the first answer alone: null when that was lost and the request sent again."""
    return _create("/v1/keys", body, m.NewKeyOut, key)


def keys() -> Call[m.KeyList]:
    """Every key, without its secret."""
    return _get("/v1/keys", m.KeyList)


def revoke_key(key_id: UUID) -> Call[m.KeyOut]:
    """Let a key work no more."""
    return _post(f"/v1/keys/{part(key_id)}/revoke", m.KeyOut)


def audit(query: Query) -> Call[m.AuditPage]:
    """A page of who changed what, the newest first."""
    return _get("/v1/audit", m.AuditPage, query)


def readiness() -> Call[m.Readiness]:
    """Whether the service can work; Failed when it cannot."""
    return _get("/readyz", m.Readiness)


def health() -> Call[m.Health]:
    """Whether the process answers."""
    return _get("/healthz", m.Health)


def metrics() -> Call[str]:
    """Metrics as Prometheus reads them."""
    return Call(Request("GET", "/metrics"), _text)


def _get(path: str, model: type[T], query: Query | None = None) -> Call[T]:
    return Call(Request("GET", path, _query(query or {})), reading(model))


def _post(path: str, model: type[T], body: BaseModel | None = None) -> Call[T]:
    sent = None if body is None else to_json(body)
    return Call(
        Request("POST", path, headers={} if sent is None else {"content-type": JSON}, body=sent), reading(model)
    )


def _create(path: str, body: BaseModel | None, model: type[T], key: str | None) -> Call[T]:
    call = _post(path, model, body)
    return Call(call.request.with_headers(idempotency_key=key or str(uuid4())), call.read)


def _put(path: str, body: BaseModel, model: type[T]) -> Call[T]:
    return Call(Request("PUT", path, headers={"content-type": JSON}, body=to_json(body)), reading(model))


def _delete(path: str) -> Call[None]:
    return Call(Request("DELETE", path), _nothing, deletes=True)


def _query(values: Query) -> tuple[tuple[str, str], ...]:
    """What is not None, a list as several of its name."""
    return tuple(
        (name, _said(one))
        for name, value in values.items()
        for one in ([value] if value is None or isinstance(value, _ONE) else value)
        if one is not None
    )


def _said(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


def _nothing(answer: Answer) -> None:
    del answer


def _bytes(answer: Answer) -> bytes:
    return answer.body


def _text(answer: Answer) -> str:
    return answer.body.decode()


def _size(answer: Answer) -> int:
    return int(answer.headers["content-length"])
