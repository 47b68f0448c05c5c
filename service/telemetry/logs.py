"""Log lines as text for people or JSON for machines, on standard error."""

import logging
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from uuid import UUID

import structlog
from structlog.contextvars import bound_contextvars
from structlog.typing import EventDict, Processor

from db.session import Database
from service.settings import Settings
from service.telemetry.loggers import current_request
from service.telemetry.traces import add_trace_id

# Messages of libraries are not ours: redact passwords in URLs, and keys of this service.
_PASSWORD = re.compile(r"(://[^\s:/@]*:)[^\s/]+(?=@)")
_KEY = re.compile(r"(xetune_[0-9a-f]{12}_)[\w-]+")


class _Formatter(structlog.stdlib.ProcessorFormatter):
    """Formatter that redacts secrets in messages."""

    def format(self, record: logging.LogRecord) -> str:
        return _KEY.sub(r"\1...", _PASSWORD.sub(r"\1...", super().format(record)))


def _written_out(_logger: object, _name: str, event: EventDict) -> EventDict:
    """Log processor that escapes control and invisible characters, since others may choose the text."""
    for name, value in event.items():
        if isinstance(value, str) and not value.isprintable():
            event[name] = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in value)
    return event


def _add_request(_logger: object, _name: str, event: EventDict) -> EventDict:
    """Log processor that adds the id of the current request, if any."""
    if (request_id := current_request.get()) is not None:
        event["request_id"] = request_id
    return event


@contextmanager
def job_lines(database: Database, job_id: UUID) -> Generator[None]:
    """Add the job and the request that queued it to all log lines of the block, including those of libraries.

    Raises:
        DatabaseError: the database does not answer.
    """
    # Imported here: most programs that log run no job.
    from db.queries import jobs

    with database.read() as session:
        request_id = jobs.request_of(session, job_id)
    asked = {} if request_id is None else {"request_id": request_id}
    with bound_contextvars(job=str(job_id), **asked):
        yield


def configure_logs(settings: Settings) -> None:
    """Send structlog's and the libraries' messages to standard error in the configured format."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        _add_request,
        add_trace_id,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # The default traceback shows local variables, including any secret in a frame.
    console = structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
    )
    last: list[Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if settings.log_format == "json"
        else [_written_out, console]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        _Formatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    logging.basicConfig(handlers=[handler], level=settings.log_level.upper(), force=True)
    for chatty in ("apscheduler", "alembic"):  # lines for each poll of the schedules and each readiness check
        logging.getLogger(chatty).setLevel(logging.WARNING)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
