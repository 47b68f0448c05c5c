"""Statuses of jobs."""

from enum import StrEnum


class JobStatus(StrEnum):
    """Status of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        """Return whether the job has ended."""
        return self not in (JobStatus.QUEUED, JobStatus.RUNNING)
