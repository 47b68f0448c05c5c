"""Log lines as text for people or JSON for machines, on standard error."""

import logging
import re
import sys

import structlog
from structlog.typing import Processor

from service.settings import Settings
from service.traces import add_trace_id

# What libraries log is not ours to word: a password in a URL, and a key of this service.
_PASSWORD = re.compile(r"(://[^\s:/@]*:)[^\s/]+(?=@)")
_KEY = re.compile(r"(xetune_[0-9a-f]{12}_)[\w-]+")


class _Formatter(structlog.stdlib.ProcessorFormatter):
    """Finishes lines without the secrets that messages may hold."""

    def format(self, record: logging.LogRecord) -> str:
        return _KEY.sub(r"\1...", _PASSWORD.sub(r"\1...", super().format(record)))


def configure_logs(settings: Settings) -> None:
    """Send structlog's and the libraries' messages to standard error in the chosen form."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        add_trace_id,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # The default traceback shows local variables, and with them whatever secret a frame holds.
    console = structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
    )
    last: list[Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if settings.log_format == "json"
        else [console]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        _Formatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    logging.basicConfig(handlers=[handler], level=settings.log_level.upper(), force=True)
    for chatty in ("apscheduler", "alembic"):  # lines for each look at the clock and each question of readiness
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
