"""Loggers of modules, and logs of a command. structlog is imported at the first line that is written: most commands
write none.
"""

import logging
from contextvars import ContextVar
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from service.settings import Settings

# Set for every request; structlog's own variables are a dictionary of them, which costs more than most requests log.
current_request: ContextVar[str | None] = ContextVar("current_request", default=None)

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO}


def _log_nothing(*_: object, **__: object) -> None:
    """Drop a line of a level that is not logged."""


class Logger:
    """Logger of a name, with the methods of `structlog.stdlib.BoundLogger`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, method: str) -> Any:
        for handler in [*logging.root.handlers]:
            if isinstance(handler, _Late):
                if not logging.root.isEnabledFor(_LEVELS.get(method, logging.CRITICAL)):
                    return _log_nothing
                handler.configure()
        return getattr(self._structlog, method)

    @cached_property
    def _structlog(self) -> Any:
        import structlog

        return structlog.stdlib.get_logger(self._name)


def configure_late(settings: "Settings") -> None:
    """Configure the logs as `logs.configure_logs` does, but at the first line."""
    logging.basicConfig(handlers=[_Late(settings)], level=settings.log_level.upper(), force=True)


class _Late(logging.Handler):
    """Handler that configures the logs, which replaces it, and passes its first record on."""

    def __init__(self, settings: "Settings") -> None:
        super().__init__()
        self._settings = settings

    def configure(self) -> None:
        from service.telemetry.logs import configure_logs

        configure_logs(self._settings)

    def emit(self, record: logging.LogRecord) -> None:
        self.configure()
        logging.root.handle(record)
