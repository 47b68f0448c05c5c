"""Remote cache of Helion: tuned configurations shared between machines by a XeTune service.

    HELION_AUTOTUNE_CACHE=RemoteAutotuneCache
    HELION_REMOTE_CACHE_BACKEND=xetune_client.tuners.helion.RecordsBackend
    XETUNE_SERVER=http://host:8752, XETUNE_API_KEY

Needs helion and torch. Source: helion 1.5, autotuner/remote_cache.py (RemoteCacheBackend).
"""

import json
import logging
import os
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import Any, cast

from helion.autotuner import RemoteCacheBackend  # pyright: ignore[reportMissingImports]

from xetune_client import models
from xetune_client.client import Client
from xetune_client.errors import NotFound

TUNER, KERNEL = "helion", "best_config"
_PACKAGES = "helion", "torch", "triton"
_STALE = "XETUNE_HELION_STALE"
_log = logging.getLogger(__name__)


class RecordsBackend(RemoteCacheBackend):  # pyright: ignore[reportUntypedBaseClass]
    """A cache entry is a record: its problem is Helion's key, its document the entry itself.

    An entry of another driver, or of another helion, torch or triton, is stale: a miss, unless XETUNE_HELION_STALE is
    1, but listed among those that a search may start from. Helion itself continues without the cache when the
    service fails. Thread-safe, as the client is.
    """

    def __init__(self, client: Client | None = None, device: models.RecordDevice | None = None) -> None:
        self._client = client or Client()
        self._device = device or device_here()
        self._versions = _installed()

    def get(self, key: str) -> str | None:
        """Return the entry of a key, as JSON; None without one for this driver and these versions."""
        try:
            found = self._client.find_record(
                TUNER, KERNEL, {"key": key}, self._place, driver=self._device.driver, versions=self._versions
            )
        except NotFound:
            return None
        if found.stale and os.environ.get(_STALE, "") != "1":
            _log.info("entry %s is stale: %s", key, "; ".join(found.stale))
            return None
        return json.dumps(found.record.document)

    def put(self, key: str, data: str) -> None:
        """Store the entry of a key."""
        entry = cast("dict[str, object]", json.loads(data))
        record = models.RecordBody(
            tuner=TUNER,
            kernel=KERNEL,
            problem={"key": key},
            device=self._device,
            versions={**self._versions},
            config=_config_of(entry),
            document=entry,
        )
        self._client.store_records(models.RecordsBody(records=[record]))

    def list(self, max_results: int | None = None) -> Iterable[str]:
        """Return the entries for this device with any driver and versions, newest first."""
        found = self._client.each_record(tuner=TUNER, kernel=KERNEL, device=self._place)
        return [json.dumps(each.document) for each in islice(found, max_results)]

    @property
    def _place(self) -> str:
        return self._device.pci_id or self._device.name or ""


def device_here() -> models.RecordDevice:
    """Return the device that torch uses: an Intel GPU with PCI id and driver, else a CUDA or ROCm GPU.

    Raises:
        RuntimeError: torch sees no GPU.
    """
    import torch  # pyright: ignore[reportMissingImports]

    library = cast("Any", torch)
    if hasattr(library, "xpu") and library.xpu.is_available():
        facts = library.xpu.get_device_properties()
        number = getattr(facts, "device_id", None)
        pci_id = None if number is None else f"8086:{number:04X}"
        return models.RecordDevice(pci_id=pci_id, name=facts.name, driver=facts.driver_version)
    if library.cuda.is_available():
        runtime = library.version.cuda or library.version.hip
        return models.RecordDevice(name=library.cuda.get_device_name(), driver=runtime)
    raise RuntimeError("expected a GPU that torch can use, got none; RecordsBackend(device=...) names another device")


def _config_of(entry: dict[str, object]) -> dict[str, object]:
    """Return the configuration of an entry, which Helion writes as JSON in JSON."""
    config = entry.get("config")
    found: object = json.loads(config) if isinstance(config, str) else config
    return cast("dict[str, object]", found) if isinstance(found, dict) else {"config": found}


def _installed() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
