"""Processes that work: wires the database, an engine and the tuner together."""

from collections.abc import Callable

import structlog

from db.migrate import prepare
from db.session import Database
from service.artifacts import ArtifactStore
from service.cluster.coordinator import Coordinator
from service.cluster.local import LocalEngine
from service.cluster.place import Engine, Place
from service.job_runs import RunJob
from service.presence import Role, present
from service.settings import Settings
from service.toolchain.offline import OfflineCompiler, find_ocloc
from service.tuning import Tuning
from service.worker import stop_on_signals

_log = structlog.stdlib.get_logger(__name__)


def run_worker(settings: Settings) -> None:
    """Run jobs of the database that `settings` name on this machine until SIGTERM or SIGINT.

    Raises:
        DatabaseError: the database cannot be opened or is not migrated.
    """
    coordinate(settings, LocalEngine())


def coordinate(settings: Settings, engine: Engine) -> None:
    """Give the jobs of the database to an engine's places until SIGTERM or SIGINT.

    Raises:
        DatabaseError: the database cannot be opened or is not migrated.
    """
    database = prepare(settings.database_url, create=False)
    try:
        coordinator = Coordinator(database, settings, engine, tuning_at(settings))
        stop_on_signals(coordinator)
        _log.info("worker starts", worker=coordinator.name, places=engine.name)
        with present(database, Role.WORKER, coordinator.name, settings.heartbeat_s):
            coordinator.run()
    finally:
        engine.close()
        database.close()


def tuning_at(settings: Settings) -> Callable[[Database, Place], RunJob]:
    """What tunes at a place, with the artifacts and the compiler for GPUs that `settings` name."""
    artifacts = ArtifactStore(settings.artifacts_dir)
    native_for = OfflineCompiler(find_ocloc(settings))

    def at(database: Database, place: Place) -> RunJob:
        return Tuning(database, artifacts, settings.cache_dir, place=place, native_for=native_for).run

    return at
