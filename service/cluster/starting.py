"""Worker processes: assembly of the database, an engine and the tuner."""

import os
from collections.abc import Callable, Sequence
from functools import partial

from db.migrate import prepare
from db.session import Database
from hal import ListedDevice, UnknownDevice, list_devices, resolve_device
from hal.driver.installed import installed_driver
from service.api.devices.quarantine import this_host
from service.api.kernels.binaries import builder
from service.api.shapes.running import run_set
from service.api.toolchain.driver import acceptor_for
from service.api.toolchain.offline import (
    OfflineCompiler,
    find_ocloc,
)
from service.artifacts import ArtifactStore
from service.cluster.coordinator import Coordinator
from service.cluster.executor import (
    Engine,
    Executor,
)
from service.cluster.link import Link, check_installed
from service.cluster.local import LocalEngine
from service.cluster.one_machine import check_one_machine
from service.cluster.shard import Shard
from service.jobs.device_lock import locks_dir
from service.jobs.heartbeat import (
    Role,
    present,
)
from service.jobs.supervisor import LATE_S
from service.jobs.tuning import Tuning
from service.jobs.worker import stop_on_signals
from service.settings import Settings
from service.telemetry.loggers import Logger

_log = Logger(__name__)


def run_worker(settings: Settings) -> None:
    """Run jobs of the database of `settings` on this machine until SIGTERM or SIGINT.

    Raises:
        DatabaseError: the database cannot be opened or is not migrated.
    """
    coordinate(settings, LocalEngine())


def run_coordinator(settings: Settings, link: Link, shard: Shard) -> None:
    """Assign jobs of the database to a share of the workers of a Dask scheduler until SIGTERM or SIGINT.

    Raises:
        DatabaseError: the database cannot be opened or is not migrated.
        InvalidSettings: Dask is not installed.
    """
    check_installed()
    from service.cluster.dask.engine import DaskEngine

    coordinate(settings, DaskEngine(link, shard))


def run_dask_worker(
    settings: Settings, link: Link, *, name: str | None, compilations: int | None, only: Sequence[str] | None
) -> None:
    """Offer this machine to a Dask scheduler until SIGTERM or SIGINT; `only` selects some of its devices,
    "none" none.

    Raises:
        UnknownDevice: no device of that name can run kernels here.
        InvalidSettings: Dask is not installed.
    """
    check_installed()
    from service.cluster.dask.dask_worker import (
        TuningPlugin,
        offer_of,
    )
    from service.cluster.dask.dask_worker_process import serve_worker

    devices = _chosen(list_devices(), only)
    offer = offer_of(devices, this_host(), compilations or os.cpu_count() or 1)
    plugin = TuningPlugin(offer, settings.cache_dir, locks_dir())
    try:
        serve_worker(link, plugin, name or f"{this_host()}-{os.getpid()}", settings.shutdown_s)
    finally:
        plugin.close()


def _chosen(devices: Sequence[ListedDevice], only: Sequence[str] | None) -> list[ListedDevice]:
    if only is None:
        return list(devices)
    if list(only) == ["none"]:
        return []
    known = {device.spec.id for device in devices}
    wanted = {name if name in known else resolve_device(name, None, devices).spec.id for name in only}
    if missing := wanted - {device.spec.id for device in devices if device.runnable}:
        raise UnknownDevice(f"{', '.join(sorted(missing))} cannot run kernels here; `xetune devices` lists what can")
    return [device for device in devices if device.spec.id in wanted]


def coordinate(settings: Settings, engine: Engine) -> None:
    """Assign jobs of the database to an engine's executors until SIGTERM or SIGINT.

    Raises:
        DatabaseError: the database cannot be opened or is not migrated.
    """
    database = prepare(settings.database_url, create=False)
    try:
        check_one_machine(database)
        tuning = tuning_at(settings)
        coordinator = Coordinator(
            database,
            settings,
            engine,
            lambda fenced, executor: tuning(fenced, executor).run,
            set_at=lambda fenced, executor: partial(run_set, tuning(fenced, executor), settings),
        )
        stop_on_signals(coordinator, settings.shutdown_s + LATE_S)
        _log.info("worker starts", worker=coordinator.name, executors=engine.name)
        with present(database, Role.WORKER, coordinator.name, settings.heartbeat_s):
            coordinator.run()
    finally:
        engine.close()
        database.close()


def tuning_at(settings: Settings) -> Callable[[Database, Executor], Tuning]:
    """Return the function that creates the tuning of an executor, with the artifacts, the GPU compiler and the driver
    of `settings`.
    """
    artifacts = ArtifactStore(settings.artifacts_dir)
    native_for = OfflineCompiler(find_ocloc(settings))
    accepting = partial(acceptor_for, installed_driver(settings.driver_dir))

    def at(database: Database, executor: Executor) -> Tuning:
        return Tuning(
            database,
            artifacts,
            settings.cache_dir,
            executor=executor,
            native_for=native_for,
            acceptor_for=accepting,
            build_binary=builder(settings, artifacts),
        )

    return at
