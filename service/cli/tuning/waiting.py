"""Why a queued job waits."""

from collections.abc import Iterator

from service.api.jobs.schemas import JobOut
from service.api.jobs.status import JobStatus
from service.cli.access.opening import Access
from service.cli.devices.resources import QUARANTINED


def why_waiting(access: Access, job: JobOut) -> Iterator[str]:
    """Yield why a job has not begun, as far as this is known; nothing for a job that is not queued."""
    if job.status is JobStatus.QUEUED:
        yield from held_back(access, job.device)


def held_back(access: Access, device: str) -> Iterator[str]:
    """Yield each quarantine of a device, and how it is ended."""
    for one in access.read(QUARANTINED).quarantined:
        if one.device == device:
            yield f"{one.sentence()}. {one.remedy}"
