"""Schedules in the database of this machine."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from db.schema.base import utc_now
from db.session import Database
from hal import list_devices
from service.api.audit.log import record
from service.api.devices.service import DeviceDirectory
from service.api.keys.caller import COMMAND_LINE
from service.api.schedules import service as schedules
from service.api.schedules.schemas import (
    DueList,
    FireOut,
    FirePage,
    ScheduleBody,
    ScheduleList,
    ScheduleOut,
)
from service.api.schedules.work import read_work
from service.cli.backend.stored import Stored
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class _Here:
    """What working out a schedule's work takes, for a command."""

    database: Database
    devices: DeviceDirectory
    settings: Settings


class LocalTimetable:
    """The database of this machine."""

    def __init__(self, store: Stored) -> None:
        self._database, self._settings = store.database, store.settings
        directory = DeviceDirectory(list_devices, store.settings.devices_ttl_s)
        self._here = _Here(store.database, directory, store.settings)

    def list_schedules(self) -> ScheduleList:
        with self._database.read() as session:
            return schedules.list_schedules(session)

    def create_schedule(self, body: ScheduleBody) -> ScheduleOut:
        due_at = schedules.first_due(body, self._settings, utc_now())
        schedules.check_work(body, self._here)
        with self._database.write() as session:
            made = schedules.create(session, body, due_at)
            record(session, COMMAND_LINE, "schedule.create", made.id)
        return made

    def read_schedule(self, name: str) -> ScheduleOut:
        with self._database.read() as session:
            return schedules.read_schedule(session, schedules.find(session, name))

    def pause_schedule(self, name: str) -> ScheduleOut:
        with self._changing(name, "schedule.pause") as (session, found):
            return schedules.pause(session, found)

    def resume_schedule(self, name: str) -> ScheduleOut:
        with self._changing(name, "schedule.resume") as (session, found):
            return schedules.resume(session, found, utc_now())

    def run_schedule(self, name: str) -> FireOut:
        with self._database.read() as session:
            kind, template = schedules.prepare_run(session, schedules.find(session, name))
        work = read_work(kind, template, self._here)
        with self._changing(name, "schedule.run") as (session, found):
            most = self._settings.max_active_jobs
            return schedules.run_now(session, found, work, COMMAND_LINE, most, utc_now())

    def next_times(self, name: str, count: int) -> DueList:
        with self._database.read() as session:
            return schedules.next_times(session, schedules.find(session, name), count)

    def fires(self, name: str, before: int | None, limit: int) -> FirePage:
        with self._database.read() as session:
            return schedules.history(session, schedules.find(session, name), before, limit)

    def delete_schedule(self, name: str) -> None:
        with self._changing(name, "schedule.delete") as (session, found):
            schedules.delete(session, found)

    @contextmanager
    def _changing(self, name: str, action: str) -> Generator[tuple[Session, UUID]]:
        """A transaction that changes a schedule, with its event in the audit log."""
        with self._database.write() as session:
            found = schedules.find(session, name)
            yield session, found
            record(session, COMMAND_LINE, action, found)
