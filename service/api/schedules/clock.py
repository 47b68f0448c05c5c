"""Scheduler thread of the service process, which checks the schedules every few seconds."""

from contextlib import ExitStack
from datetime import UTC, datetime

from apscheduler.schedulers.background import BackgroundScheduler

from db.errors import DatabaseError
from service.api.schedules.firing import fire_due, realign
from service.http.context import Context
from service.jobs.heartbeat import (
    Role,
    present,
)
from service.jobs.worker_names import own_name
from service.telemetry.loggers import Logger

_log = Logger(__name__)


class ScheduleClock:
    """Scheduler that fires due schedules until stopped, and sends heartbeats. Owns two threads."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._presence = ExitStack()
        self._latest: datetime | None = None  # time of a check
        self._scheduler = BackgroundScheduler(timezone=UTC)
        self._scheduler.add_job(
            self.look,
            "interval",
            seconds=context.settings.scheduler_poll_s,
            max_instances=1,
            coalesce=True,
            next_run_time=datetime.now(UTC),
        )

    def start(self) -> None:
        """Start the threads; schedules missed while nothing ran are handled at once."""
        context = self._context
        beat = present(context.database, Role.SCHEDULER, own_name(), context.settings.heartbeat_s)
        self._presence.enter_context(beat)
        self._scheduler.start()

    def stop(self) -> None:
        """Wait for a running check, then end the threads."""
        self._scheduler.shutdown(wait=True)
        self._presence.close()

    def look(self) -> None:
        """Fire what is due, after a jump of the clock back with due times of the present."""
        now, latest = self._context.now(), self._latest
        try:
            if latest is None or now < latest:
                realign(self._context)
            self._latest = now
            fire_due(self._context)
        except DatabaseError as error:
            _log.warning("schedules wait for the database", error=str(error))
