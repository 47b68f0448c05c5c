"""What working out a schedule's work takes."""

from typing import Protocol

from db.session import Database
from service.api.devices.service import DeviceDirectory
from service.settings import Settings


class Planning(Protocol):
    """A database to read, devices to look up, and settings. A Context is one. Thread-safe."""

    @property
    def database(self) -> Database: ...

    @property
    def devices(self) -> DeviceDirectory: ...

    @property
    def settings(self) -> Settings: ...
