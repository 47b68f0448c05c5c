"""A device that is not local: from a service, or from a file written by `xetune devices show NAME --json`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hal import DeviceSpec, Disagreement, ListedDevice, Match, Runtime, list_devices, resolve_device
from hal.devices.listed import listed
from hal.probe.findings import Finding
from service.api.devices.schemas import (
    DeviceOut,
    MatchOut,
)
from service.cli.access.chosen_server import server
from service.cli.access.connection import of_service, same
from service.cli.options.documents import read_json
from service.device_json import spec_from_json
from service.errors import BadRequest

if TYPE_CHECKING:
    from hal.probe.probe import Probes

_SUFFIX = ".json"


def named_device(name: str, target: str | None, probes: "Callable[[], Probes] | None" = None) -> ListedDevice:
    """Return the device of a file, or of a name here or at the selected service.

    `probes` returns the results of probes of the drivers that the command started.

    Raises:
        BadRequest: the file does not exist, or has no device; names the file and the field.
        UnknownDevice, AmbiguousDevice: nothing, or several, have that name.
    """
    path = Path(name)
    if path.suffix != _SUFFIX:
        if (url := server()) is None:
            return resolve_device(name, target, None if probes is None else list_devices(probes()))
        if target is not None:
            raise BadRequest("--target: expected none with --server; name the device itself")
        with of_service(url) as client:
            return listed_of(same(DeviceOut, client.device(name)))
    try:
        return listed(_spec_of(path), Runtime.TABLE, None, runnable=False)
    except OSError as error:
        raise BadRequest(f"--device {path}: {error.strerror}") from error


def server_of(name: str) -> str | None:
    """Return the service that compiles for a device; None if this machine does, e.g. for one of a file."""
    return None if Path(name).suffix == _SUFFIX else server()


def listed_of(told: DeviceOut) -> ListedDevice:
    """Convert a response model to a listed device.

    Raises:
        BadRequest: a fact that this version does not know.
    """
    own: dict[str, object] = {"id": told.id, "name": told.name, "kind": told.kind.value, "emulates": told.emulates}
    facts: dict[str, object] = {fact.name: fact.value for fact in told.facts}
    try:
        spec = spec_from_json(own | facts | {"provenance": {fact.name: fact.provenance for fact in told.facts}})
    except (ValueError, TypeError) as error:
        raise BadRequest(
            f"the service reports a fact of device {told.id} that this version does not know: {error}"
        ) from error
    match = None if told.match is None else _match(told.match)
    return ListedDevice(
        spec, told.runtime, told.address, told.runnable, told.targetable, told.note, match, findings=_findings(told)
    )


def _findings(told: DeviceOut) -> tuple[Finding, ...]:
    return tuple(Finding(f.check, f.subject, f.state, f.found, f.remedy) for f in told.findings)


def _match(told: MatchOut) -> Match:
    differ = [Disagreement(d.fact, d.probed, d.probed_by, d.tabled, d.tabled_by) for d in told.disagreements]
    return Match(told.by, tuple(told.rows), tuple(told.agreed), tuple(differ))


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
