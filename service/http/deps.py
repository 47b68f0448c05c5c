"""Dependencies of routes: settings, the database, devices, artifacts, the clock."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from db.session import Database
from service.api.accuracy.kept import Accuracies
from service.api.compile.service import Compiler
from service.api.devices.service import DeviceDirectory
from service.api.health.storage import StorageCheck
from service.api.jobs.shared import SharedNews
from service.api.kernels.lookup.answers import Answers
from service.api.keys.caller import CallerCache
from service.api.metrics.registry import Metrics
from service.artifacts import ArtifactStore
from service.cache_invalidation import CacheInvalidation
from service.http.limits import Rates, Slots
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class Context:
    """Shared state of an app for its requests."""

    settings: Settings
    database: Database
    devices: DeviceDirectory
    artifacts: ArtifactStore
    storage: StorageCheck
    now: Callable[[], datetime]
    rates: Rates
    compiler: Compiler
    streams: Slots
    imports: Slots
    lookups: Slots
    xrays: Slots
    metrics: Metrics
    freshness: CacheInvalidation
    answers: Answers
    callers: CallerCache
    news: SharedNews
    accuracies: Accuracies

    def close(self) -> None:
        """Close the readers of the database, and the database."""
        self.freshness.close()
        self.news.close()
        self.database.close()


def context_of(request: Request) -> Context:
    """Return the context of the app of a request."""
    context: Context = request.app.state.context
    return context


ContextDep = Annotated[Context, Depends(context_of)]


def _devices(context: ContextDep) -> DeviceDirectory:
    return context.devices


def _database(context: ContextDep) -> Database:
    return context.database


def _read_session(context: ContextDep) -> Generator[Session]:
    with context.database.read() as session:
        yield session


DevicesDep = Annotated[DeviceDirectory, Depends(_devices)]
# For routes that write: they open the transaction themselves, after slow work that must stay out of it.
DatabaseDep = Annotated[Database, Depends(_database)]
# Scope "function": the transaction ends before the response is sent.
ReadSessionDep = Annotated[Session, Depends(_read_session, scope="function")]
