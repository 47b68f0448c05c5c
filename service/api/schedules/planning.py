"""Context needed to plan the work of a schedule."""

from typing import TYPE_CHECKING, Protocol

from db.session import Database
from service.settings import Settings

if TYPE_CHECKING:
    from service.api.devices.directory import DeviceDirectory


class Planning(Protocol):
    """A database to read, a device directory, and settings. A Context is one. Thread-safe."""

    @property
    def database(self) -> Database: ...

    @property
    def devices(self) -> "DeviceDirectory": ...

    @property
    def settings(self) -> Settings: ...
