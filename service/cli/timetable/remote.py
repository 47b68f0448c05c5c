"""Schedules of a service, through the client."""

from uuid import UUID

from service.api.schedules.schemas import (
    DueList,
    FireOut,
    FirePage,
    ScheduleBody,
    ScheduleList,
    ScheduleOut,
)
from service.cli.backend.remote import Remote, same
from service.errors import NotFound
from xetune_client import calls, models

_MOST = 200


class RemoteTimetable:
    """A service."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    def list_schedules(self) -> ScheduleList:
        return self._remote.send(calls.schedules().into(ScheduleList))

    def create_schedule(self, body: ScheduleBody) -> ScheduleOut:
        return self._remote.send(calls.create_schedule(same(models.ScheduleBody, body)).into(ScheduleOut))

    def read_schedule(self, name: str) -> ScheduleOut:
        return self._remote.send(calls.schedule(self._schedule(name)).into(ScheduleOut))

    def pause_schedule(self, name: str) -> ScheduleOut:
        return self._remote.send(calls.pause_schedule(self._schedule(name)).into(ScheduleOut))

    def resume_schedule(self, name: str) -> ScheduleOut:
        return self._remote.send(calls.resume_schedule(self._schedule(name)).into(ScheduleOut))

    def run_schedule(self, name: str) -> FireOut:
        return self._remote.send(calls.run_schedule(self._schedule(name)).into(FireOut))

    def next_times(self, name: str, count: int) -> DueList:
        return self._remote.send(calls.next_times(self._schedule(name), count).into(DueList))

    def fires(self, name: str, before: int | None, limit: int) -> FirePage:
        return self._remote.send(calls.fires(self._schedule(name), before, min(limit, _MOST)).into(FirePage))

    def delete_schedule(self, name: str) -> None:
        self._remote.send(calls.delete_schedule(self._schedule(name)))

    def _schedule(self, name: str) -> UUID:
        for schedule in self.list_schedules().schedules:
            if name in (schedule.name, str(schedule.id)):
                return schedule.id
        raise NotFound(f"no schedule {name!r}; `xetune schedules` lists those that exist")
