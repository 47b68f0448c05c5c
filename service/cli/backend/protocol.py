"""What a command asks for, whoever answers: the database of this machine or a service."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from codegen import GemmProblem
from service.api.audit.schemas import AuditPage
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
    Tune,
)
from service.api.keys.schemas import (
    KeyBody,
    KeyList,
    KeyOut,
    NewKeyOut,
)
from service.api.recordings.schemas import (
    RecordingLine,
    RecordingOut,
)
from service.api.shapes.schemas import (
    ShapeSetLine,
    ShapeSetOut,
)
from service.cli.backend.sets import SetAsked


class Backend(Protocol):
    """Answers commands. Of one thread; whoever opened it closes it.

    What is refused is raised as a ServiceError, with the same rule and fields by every backend.
    """

    def release_device(self, device: str, host: str | None) -> None:
        """Let a device that kept failing have jobs again: on one host, or on all."""
        ...

    def create_job(self, body: JobBody) -> tuple[JobOut, str, bool]:
        """The job, its device in words, and whether it is new."""
        ...

    def read_job(self, job_id: UUID) -> JobOut:
        """A job."""
        ...

    def list_jobs(self, statuses: Sequence[JobStatus], device: str | None, limit: int) -> JobPage:
        """The newest jobs."""
        ...

    def trials(self, job_id: UUID) -> list[TrialOut]:
        """All trials of a job, in order of number."""
        ...

    def cancel_job(self, job_id: UUID) -> JobOut:
        """Ask a job to stop."""
        ...

    def retry_job(self, job_id: UUID) -> tuple[JobOut, bool]:
        """The job that does anew what one that failed or was cancelled was asked for, and whether it is new."""
        ...

    def work_on(self, job_id: UUID, quiet: bool) -> None:
        """Return when a job is over: it is run here, or followed where it runs; a bar shows how it goes.

        Raises:
            typer.Exit: Ctrl-C.
        """
        ...

    def look_up(self, problem: GemmProblem, device: str, target: str | None, tune: Tune) -> LookupOut:
        """What to run for a problem."""
        ...

    def list_kernels(self, device: str | None, limit: int) -> list[KernelOut]:
        """The newest kernels."""
        ...

    def read_kernel(self, kernel_id: UUID) -> KernelOut:
        """A kernel."""
        ...

    def host_code(self, kernel_id: UUID, language: Language) -> str:
        """A program that runs a kernel."""
        ...

    def places_of(self, kernel: KernelOut) -> dict[str, str]:
        """Where the files of a kernel are, by name: paths here, or addresses."""
        ...

    def read_file(self, sha256: str) -> bytes:
        """A file of a kernel by its hash."""
        ...

    def create_set(self, asked: SetAsked) -> tuple[UUID, str, bool]:
        """The set of shapes, its device in words, and whether it is new."""
        ...

    def work_on_set(self, set_id: UUID, quiet: bool) -> bool:
        """Run a set here, or follow it where it runs, with a bar that shows how it goes; whether it is over.

        Raises:
            typer.Exit: Ctrl-C.
        """
        ...

    def list_sets(self, limit: int) -> list[ShapeSetLine]:
        """The newest sets of shapes."""
        ...

    def read_set(self, set_id: UUID, within: float | None) -> ShapeSetOut:
        """A set of shapes; `within` is a bound in place of its own, as a fraction."""
        ...

    def cancel_set(self, set_id: UUID) -> ShapeSetOut:
        """End a set of shapes and its jobs."""
        ...

    def delete_set(self, set_id: UUID) -> None:
        """Forget a set of shapes that is over."""
        ...

    def list_recordings(self) -> list[RecordingLine]:
        """What files of other formats brought, the newest first."""
        ...

    def read_recording(self, recording_id: UUID, limit: int) -> RecordingOut:
        """A recording with its fastest configurations."""
        ...

    def create_key(self, body: KeyBody) -> NewKeyOut:
        """Make an API key."""
        ...

    def list_keys(self) -> KeyList:
        """Every key."""
        ...

    def revoke_key(self, key: str) -> KeyOut:
        """Let the key of a name, prefix or id work no more."""
        ...

    def audit(self, limit: int, before: UUID | None, action: str | None, subject: str | None) -> AuditPage:
        """Who changed what."""
        ...
