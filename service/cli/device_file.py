"""A device that is not here, from the file in which `xetune devices show NAME --json` told of it where it is."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from hal import Backend, DeviceSpec, ListedDevice, resolve_device
from hal.listed import listed
from service.cli.documents import read_json
from service.convert import spec_from_json
from service.errors import BadRequest

_SUFFIX = ".json"


def named_device(name: str, target: str | None) -> ListedDevice:
    """The device of a file, or the one that goes by a name here.

    Raises:
        BadRequest: the file is not there, or tells of no device; names the file and the field.
        UnknownDevice, AmbiguousDevice: nothing, or several, go by that name.
    """
    path = Path(name)
    if path.suffix != _SUFFIX:
        return resolve_device(name, target)
    try:
        return listed(_spec_of(path), Backend.TABLE, None, runnable=False)
    except OSError as error:
        raise BadRequest(f"--device {path}: {error.strerror}") from error


def _spec_of(path: Path) -> DeviceSpec:
    try:
        (device,) = cast("list[Mapping[str, object]]", read_json("--device", path, "a device")["devices"])
        told = cast("Mapping[str, Mapping[str, object] | None]", device["facts"])
        facts = {name: fact for name, fact in told.items() if fact is not None}
        own = {name: device[name] for name in ("id", "name", "kind", "emulates")}
        values = {name: fact["value"] for name, fact in facts.items()}
        return spec_from_json(own | values | {"provenance": {name: fact["provenance"] for name, fact in facts.items()}})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadRequest(
            f"--device {path}: expected what `xetune devices show NAME --json` prints of one device: {error}"
        ) from error
