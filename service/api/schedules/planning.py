"""Context needed to plan the work of a schedule."""

from typing import Protocol

from db.session import Database
from service.api.devices.service import DeviceDirectory
from service.settings import Settings


class Planning(Protocol):
    """A database to read, a device directory, and settings. A Context is one. Thread-safe."""

    @property
    def database(self) -> Database: ...

    @property
    def devices(self) -> DeviceDirectory: ...

    @property
    def settings(self) -> Settings: ...
