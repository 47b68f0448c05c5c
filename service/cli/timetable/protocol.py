"""What the commands of schedules ask for, whoever answers."""

from typing import Protocol

from service.api.schedules.schemas import (
    DueList,
    FireOut,
    FirePage,
    ScheduleBody,
    ScheduleList,
    ScheduleOut,
)


class Timetable(Protocol):
    """Answers commands. Of one thread. Schedules go by name or id.

    What is refused is raised as a ServiceError, with the same rule and fields by each.
    """

    def list_schedules(self) -> ScheduleList:
        """Every schedule."""
        ...

    def create_schedule(self, body: ScheduleBody) -> ScheduleOut:
        """Make a schedule."""
        ...

    def read_schedule(self, name: str) -> ScheduleOut:
        """A schedule."""
        ...

    def pause_schedule(self, name: str) -> ScheduleOut:
        """Let a schedule rest."""
        ...

    def resume_schedule(self, name: str) -> ScheduleOut:
        """Let a schedule come due again."""
        ...

    def run_schedule(self, name: str) -> FireOut:
        """Start what a schedule starts, now."""
        ...

    def next_times(self, name: str, count: int) -> DueList:
        """When a schedule comes due next."""
        ...

    def fires(self, name: str, before: int | None, limit: int) -> FirePage:
        """The runs of a schedule, newest first."""
        ...

    def delete_schedule(self, name: str) -> None:
        """Forget a schedule."""
        ...
