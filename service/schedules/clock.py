"""Looks at the schedules every few seconds, in a thread of the service process."""

from datetime import UTC, datetime

import structlog
from apscheduler.schedulers.background import BackgroundScheduler

from db.errors import DatabaseError
from service.deps import Context
from service.schedules.firing import fire_due

_log = structlog.stdlib.get_logger(__name__)


class ScheduleClock:
    """Fires what is due until stopped. Owns one thread."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._scheduler = BackgroundScheduler(timezone=UTC)
        self._scheduler.add_job(
            self._look,
            "interval",
            seconds=context.settings.scheduler_poll_s,
            max_instances=1,
            coalesce=True,
            next_run_time=datetime.now(UTC),
        )

    def start(self) -> None:
        """Start the thread; what was missed while nothing ran is handled at once."""
        self._scheduler.start()

    def stop(self) -> None:
        """Wait for a look that is under way, then end the thread."""
        self._scheduler.shutdown(wait=True)

    def _look(self) -> None:
        try:
            fire_due(self._context)
        except DatabaseError as error:
            _log.warning("schedules wait for the database", error=str(error))
