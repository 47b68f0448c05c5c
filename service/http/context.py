"""State shared by the requests of an app, or used by a command: settings, database, devices, artifacts, clock."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING

from db.session import Database
from service.api.keys.caller import CallerCache
from service.artifacts import ArtifactStore
from service.http.limits import Rates, Slots
from service.settings import Settings

if TYPE_CHECKING:
    from hal.devices.listed import ListedDevice
    from service.api.accuracy.kept import Accuracies
    from service.api.compile.service import Compiler
    from service.api.devices.directory import DeviceDirectory
    from service.api.health.storage import StorageCheck
    from service.api.jobs.shared import SharedNews
    from service.api.kernels.lookup.answer_cache import Answers
    from service.api.metrics.registry import Metrics
    from service.cache_invalidation import CacheInvalidation


class Context:
    """Shared state of an app for its requests, or of a command for what it does with this machine.

    What only some requests need is built, and its modules imported, when it is first used: a command needs little of
    it.
    `list_all` lists the devices; by default those of this machine.
    """

    def __init__(
        self,
        settings: Settings,
        database: Database,
        list_all: "Callable[[], Sequence[ListedDevice]] | None",
        now: Callable[[], datetime],
    ) -> None:
        self.settings, self.database, self.now, self._list_all = settings, database, now, list_all
        self.artifacts = ArtifactStore(settings.artifacts_dir)
        self.rates = Rates(settings.rate_per_s, settings.rate_burst)
        self.streams = Slots(settings.max_streams, "streams", "event streams")
        self.imports = Slots(settings.max_imports, "imports", "imports")
        self.lookups = Slots(settings.max_lookups, "lookups", "lookups of problems that were never tuned")
        self.xrays = Slots(settings.max_xrays, "xrays", "x-rays of files")
        self.callers = CallerCache(now)

    @cached_property
    def freshness(self) -> "CacheInvalidation":
        """Changes of the database, of which caches are told."""
        from service.cache_invalidation import CacheInvalidation

        freshness = CacheInvalidation(self.database, self.settings.replica_age_s)
        freshness.tell(self.callers.on_news)
        return freshness

    @property
    def devices(self) -> "DeviceDirectory":
        """Devices by name; a property, as `Planning` requires."""
        return self._devices

    @cached_property
    def _devices(self) -> "DeviceDirectory":
        from service.api.devices.directory import DeviceDirectory
        from service.api.devices.elsewhere import with_reached
        from service.api.toolchain.driver import list_with_simulated

        list_here = self._list_all or partial(list_with_simulated, self.settings)
        return DeviceDirectory(with_reached(list_here, self.database), self.settings.devices_ttl_s)

    @cached_property
    def storage(self) -> "StorageCheck":
        """The check that artifacts can be written."""
        from service.api.health.storage import StorageCheck

        return StorageCheck(self.settings.artifacts_dir)

    @cached_property
    def compiler(self) -> "Compiler":
        """Sandboxed compilations."""
        from service.api.compile.service import Compiler

        return Compiler(self.settings)

    @cached_property
    def metrics(self) -> "Metrics":
        """Metrics of this process and of the database."""
        from service.api.metrics.registry import Metrics

        return Metrics(self.database, self.streams, self.now, self.settings.metrics_fresh_s)

    @cached_property
    def answers(self) -> "Answers":
        """Rendered answers to lookups."""
        from service.api.kernels.lookup.answer_cache import Answers

        answers = Answers(self.settings.answers_bytes, self.now)
        self.freshness.tell(answers.on_news)
        return answers

    @cached_property
    def accuracies(self) -> "Accuracies":
        """Accuracy of predictions by device."""
        from service.api.accuracy.kept import Accuracies

        accuracies = Accuracies(self.database, self.freshness)
        self.freshness.tell(accuracies.on_news)
        return accuracies

    @cached_property
    def news(self) -> "SharedNews":
        """News of jobs, for event streams."""
        from service.api.jobs.shared import SharedNews

        return SharedNews(self.database, self.settings.replica_age_s)

    def build_all(self) -> None:
        """Build what is built late: later, two threads might each build their own."""
        for name, member in vars(type(self)).items():
            if isinstance(member, cached_property):
                getattr(self, name)

    def close(self) -> None:
        """Close the readers of the database, and the database."""
        if "freshness" in vars(self):
            self.freshness.close()
        if "news" in vars(self):
            self.news.close()
        self.database.close()
