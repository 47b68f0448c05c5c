"""Commands on a service, through the client."""

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import httpx
import typer
from pydantic import BaseModel

from codegen import GemmProblem
from service import errors
from service.api.accuracy.schemas import AccuracyList
from service.api.audit.schemas import AuditPage
from service.api.compile.schemas import (
    CompileBody,
    CompileOut,
)
from service.api.devices.schemas import (
    DeviceList,
    DeviceOut,
)
from service.api.exchange.schemas import ImportOut
from service.api.hostcode.languages import Language
from service.api.jobs.schemas import (
    JobBody,
    JobOut,
    JobPage,
    JobStatus,
    TrialOut,
)
from service.api.kernels.lookup_schemas import LookupOut
from service.api.kernels.schemas import (
    KernelOut,
    LookupBody,
    Tune,
)
from service.api.keys.schemas import (
    KeyBody,
    KeyList,
    KeyOut,
    NewKeyOut,
)
from service.api.keys.service import none_named
from service.api.recordings.schemas import (
    RecordingLine,
    RecordingOut,
    RecordingPage,
)
from service.api.shapes.schemas import (
    CommonBody,
    SetBudgetBody,
    ShapeBody,
    ShapeSetBody,
    ShapeSetLine,
    ShapeSetOut,
    ShapeSetPage,
)
from service.cli.backend.refusing import not_there
from service.cli.backend.sets import SetAsked
from service.cli.printing.progress import INTERRUPTED, bar, tell, update
from service.schemas import to_body
from tuner.shapes.presets import is_preset
from xetune_client import Client, ClientError, JobChanged, Misused, NotReached, Refused, Retries, calls, models
from xetune_client.connecting import address
from xetune_client.wire import Answer, Call, reading

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")
_PAGE = 1000
_POLL_S = 1.0
_BY_A_RULE = "urn:xetune:problem:refused"
_OF_STATUS: dict[int, type[errors.ServiceError]] = {
    401: errors.Unauthorized,
    403: errors.Forbidden,
    404: errors.NotFound,
    409: errors.Conflict,
    413: errors.TooLarge,
    503: errors.Unavailable,
}


@dataclass(frozen=True, slots=True)
class Exported:
    """A file that a service wrote; of JSON lines the counts are 0."""

    content: bytes
    configurations: int
    left_out: int


class Remote:
    """A service, whose workers run what is asked for."""

    def __init__(self, url: str, attempts: int | None = None, transport: httpx.BaseTransport | None = None) -> None:
        retries = Retries() if attempts is None else Retries(attempts=attempts)
        try:
            self._url = str(address(url)).rstrip("/")
            self._client = Client(url, retries=retries, transport=transport)
        except Misused as error:
            raise errors.BadRequest(str(error)) from error

    def close(self) -> None:
        """Let the connections go."""
        self._client.close()

    def list_devices(self) -> DeviceList:
        return self.send(calls.devices().into(DeviceList))

    def read_device(self, name: str) -> DeviceOut:
        return self.send(calls.device(name).into(DeviceOut))

    def accuracy(self, device: str) -> AccuracyList:
        return self.send(calls.accuracy(device).into(AccuracyList))

    def release_device(self, device: str, host: str | None) -> None:
        if host is not None:
            raise not_there("--host", "a service lets the device have jobs again on all its hosts")
        try:
            self.send(calls.release_device(device))
        except errors.NotFound as error:
            raise errors.NotFound(f"{device} is not kept from jobs; `xetune devices` lists what is") from error

    def create_job(self, body: JobBody) -> tuple[JobOut, str, bool]:
        call = calls.create_job(same(models.JobBody, body))
        read = reading(JobOut)
        made, is_new = self.send(Call(call.request, lambda answer: (read(answer), answer.status == 202)))
        return made, f"{made.device} of {self._url}", is_new

    def read_job(self, job_id: UUID) -> JobOut:
        return self.send(calls.job(job_id).into(JobOut))

    def list_jobs(self, statuses: Sequence[JobStatus], device: str | None, limit: int) -> JobPage:
        query: calls.Query = {"status": [*statuses], "device": device}
        found: list[JobOut] = []
        before: UUID | None = None
        while True:
            part = min(limit - len(found), 200)
            page = self.send(calls.jobs({**query, "limit": part, "before": before}).into(JobPage))
            found, before = found + page.jobs, page.next_before
            if before is None or len(found) >= limit:
                return JobPage(jobs=found, next_before=before)

    def trials(self, job_id: UUID) -> list[TrialOut]:
        found: list[TrialOut] = []
        after: int | None = -1
        while after is not None:
            page = self.send(calls.trials(job_id, {"after": after, "limit": _PAGE}))
            found += [same(TrialOut, trial) for trial in page.trials]
            after = page.next_after
        return found

    def cancel_job(self, job_id: UUID) -> JobOut:
        return self.send(calls.cancel_job(job_id).into(JobOut))

    def retry_job(self, job_id: UUID) -> tuple[JobOut, bool]:
        call = calls.retry_job(job_id)
        read = reading(JobOut)
        return self.send(Call(call.request, lambda answer: (read(answer), answer.status == 202)))

    def work_on(self, job_id: UUID, quiet: bool) -> None:
        with bar(quiet) as progress, _told_alike(self._url):
            task = progress.add_task("waiting for a worker", total=None)
            try:
                for event in self._client.events(job_id):
                    if isinstance(event, JobChanged):
                        update(progress, task, same(JobOut, event.job))
            except KeyboardInterrupt:
                tell(
                    f"job {job_id} goes on at {self._url}; `xetune --server {self._url} jobs cancel {job_id}` stops it"
                )
                raise typer.Exit(INTERRUPTED) from None

    def look_up(self, problem: GemmProblem, device: str, target: str | None, tune: Tune) -> LookupOut:
        body = LookupBody(problem=to_body(problem), device=device, target=target, tune=tune)
        return self.send(calls.lookup(same(models.LookupBody, body)).into(LookupOut))

    def list_kernels(self, device: str | None, limit: int) -> list[KernelOut]:
        found: list[UUID] = []
        before: UUID | None = None
        while True:
            page = self.send(calls.kernels({"device": device, "before": before, "limit": min(limit - len(found), 200)}))
            found, before = [*found, *(line.id for line in page.kernels)], page.next_before
            if before is None or len(found) >= limit:
                return [self.read_kernel(kernel_id) for kernel_id in found]  # a line of the list has not all

    def read_kernel(self, kernel_id: UUID) -> KernelOut:
        return self.send(calls.kernel(kernel_id).into(KernelOut))

    def host_code(self, kernel_id: UUID, language: Language) -> str:
        return self.send(calls.host_code(kernel_id, models.Language(language.value)))

    def compile(self, body: CompileBody) -> CompileOut:
        """Let the service compile a problem or a text."""
        return self.send(calls.compile_kernels(same(models.CompileBody, body)).into(CompileOut))

    def places_of(self, kernel: KernelOut) -> dict[str, str]:
        return {artifact.name: f"{self._url}{artifact.href}" for artifact in kernel.artifacts}

    def read_file(self, sha256: str) -> bytes:
        with _told_alike(self._url):
            return self._client.artifact(sha256)

    def import_results(self, content: bytes, said: calls.Query) -> ImportOut:
        """Take in a file of results; `said` is what it does not say itself."""
        return self.send(calls.import_results(content, said).into(ImportOut))

    def export_results(self, query: calls.Query) -> Exported:
        """Results as JSON lines, or a job or a recording in another format."""
        return self.send(Call(calls.export_results(query).request, _exported))

    def create_set(self, asked: SetAsked) -> tuple[UUID, str, bool]:
        call = calls.create_shape_set(same(models.ShapeSetBody, _set_body(asked)))
        read = reading(ShapeSetOut)
        made, is_new = self.send(Call(call.request, lambda answer: (read(answer), answer.status == 202)))
        return made.id, f"{made.device} of {self._url}", is_new

    def work_on_set(self, set_id: UUID, quiet: bool) -> bool:
        with bar(quiet) as progress:
            task = progress.add_task("waiting for a worker", total=None)
            try:
                while (found := self.read_set(set_id, None)).status == "active":
                    over = sum(shape.status.over for shape in found.shapes)
                    shown = f"trials  {over} of {len(found.shapes)} shapes done"
                    progress.update(task, description=shown, completed=found.trials, total=found.budget.trials)
                    time.sleep(_POLL_S)
            except KeyboardInterrupt:
                stops = f"`xetune --server {self._url} shapes cancel {set_id}` stops it"
                tell(f"set of shapes {set_id} goes on at {self._url}; {stops}")
                raise typer.Exit(INTERRUPTED) from None
        return True

    def list_sets(self, limit: int) -> list[ShapeSetLine]:
        return self.send(calls.shape_sets(None, min(limit, 200)).into(ShapeSetPage)).shape_sets

    def read_set(self, set_id: UUID, within: float | None) -> ShapeSetOut:
        return self.send(calls.shape_set(set_id, within).into(ShapeSetOut))

    def cancel_set(self, set_id: UUID) -> ShapeSetOut:
        return self.send(calls.cancel_shape_set(set_id).into(ShapeSetOut))

    def delete_set(self, set_id: UUID) -> None:
        self.send(calls.delete_shape_set(set_id))

    def list_recordings(self) -> list[RecordingLine]:
        found: list[RecordingLine] = []
        before: UUID | None = None
        while True:
            page = self.send(calls.recordings(before, 200).into(RecordingPage))
            found, before = found + page.recordings, page.next_before
            if before is None:
                return found

    def read_recording(self, recording_id: UUID, limit: int) -> RecordingOut:
        found = self.send(calls.recording(recording_id, None, min(limit, _PAGE)).into(RecordingOut))
        while found.next_after is not None and len(found.configurations) < limit:
            part = min(limit - len(found.configurations), _PAGE)
            page = self.send(calls.recording(recording_id, found.next_after, part).into(RecordingOut))
            configurations = found.configurations + page.configurations
            found = found.model_copy(update={"configurations": configurations, "next_after": page.next_after})
        return found

    def create_key(self, body: KeyBody) -> NewKeyOut:
        made = self.send(calls.create_key(same(models.KeyBody, body)).into(NewKeyOut))
        if made.key is None:
            raise errors.Unavailable(
                f"the answer with the secret of key {made.name} was lost, and it is kept nowhere: "
                f"`xetune keys revoke {made.name}` and make another"
            )
        return made

    def list_keys(self) -> KeyList:
        return self.send(calls.keys().into(KeyList))

    def revoke_key(self, key: str) -> KeyOut:
        known = self.list_keys().keys
        named = [one for one in known if one.name == key and one.revoked_at is None]
        of_id = [one for one in known if key in (one.prefix, str(one.id))]
        if not (named or of_id):
            raise none_named(key, known)
        return self.send(calls.revoke_key((named or of_id)[0].id).into(KeyOut))

    def audit(self, limit: int, before: UUID | None, action: str | None, subject: str | None) -> AuditPage:
        query: calls.Query = {"limit": min(limit, 200), "before": before, "action": action, "subject": subject}
        return self.send(calls.audit(query).into(AuditPage))

    def send(self, call: Call[T]) -> T:
        """Send a call; what is refused is raised as the service's own errors."""
        with _told_alike(self._url):
            return self._client.send(call)


def _exported(answer: Answer) -> Exported:
    configurations, left_out = (int(answer.headers.get(name, "0")) for name in ("configurations", "left-out"))
    return Exported(answer.body, configurations, left_out)


def _set_body(asked: SetAsked) -> ShapeSetBody:
    """A preset by its name, which a service keeps as the source; anything else as its shapes."""
    how = asked.search
    by_name = is_preset(asked.source) and not Path(asked.source).is_file() and not asked.base.epilogue
    common = {f.name: getattr(asked.base, f.name) for f in fields(asked.base) if f.name != "epilogue"}
    shapes = [ShapeBody(problem=to_body(one.problem), weight=one.weight, name=one.name) for one in asked.shapes]
    return ShapeSetBody(
        preset=asked.source if by_name else None,
        common=CommonBody(**(common if by_name else {})),
        shapes=None if by_name else shapes,
        device=asked.device,
        target=asked.target,
        budget=SetBudgetBody(trials=asked.trials, seconds=asked.seconds, no_gain=how.no_gain),
        within=asked.within,
        seed=asked.seed,
        reuse=how.reuse,
        warm_start=how.warm_start,
        search=how.method,
        objective=how.objective,
    )


@contextmanager
def _told_alike(url: str) -> Generator[None]:
    """Raise what the client raises as the service's own errors, so that commands tell both alike."""
    try:
        yield
    except Refused as refusal:
        kind = _OF_STATUS.get(refusal.status, errors.BadRequest if refusal.status < 500 else errors.Unavailable)
        faults = [same(errors.FieldError, fault) for fault in refusal.errors] or None
        raise kind(_said(refusal), rule=refusal.rule, errors=faults) from refusal
    except NotReached as error:
        raise errors.Unavailable(f"{url}: {error}; does a service run there? `xetune serve` starts one") from error
    except ClientError as error:
        raise errors.Unavailable(f"{url}: {error}") from error


def _said(refusal: Refused) -> str:
    if refusal.status == 401:
        return f"{refusal.detail}; set XETUNE_API_KEY to a key"
    return f"refused by rule {refusal.rule}: {refusal.detail}" if refusal.type == _BY_A_RULE else refusal.detail


def same(model: type[M], value: BaseModel) -> M:
    """The same as another type of the same form."""
    return model.model_validate_json(value.model_dump_json())
