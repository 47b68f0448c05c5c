"""Restrictions of devices: stored by `xetune doctor`, taken by the jobs of the device."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version

from sqlalchemy.orm import Session

from db.queries import restrictions
from db.schema.restriction import DeviceRestriction
from db.values import JsonObject
from hal import DeviceSpec, ListedDevice
from service.api.devices.elsewhere import store_missing_device
from tuner.measure.kernel_checks import CheckedKernel
from tuner.space.restrictions import Restriction, restrict_device


def restrictions_of(session: Session, spec: DeviceSpec) -> list[DeviceRestriction]:
    """Return the restrictions of a device under its driver and this version of the program."""
    return restrictions.of_device(session, spec.id, spec.driver or "", version("xetune"))


def restricted(listed: ListedDevice, rows: Sequence[DeviceRestriction]) -> ListedDevice:
    """Return a device with the facts that its restrictions leave."""
    return replace(listed, spec=restrict_device(listed.spec, [Restriction(row.name) for row in rows]))


def restrictions_to_json(rows: Sequence[DeviceRestriction]) -> list[JsonObject]:
    """Return restrictions as a job keeps them."""
    return [{"name": row.name, "check": row.kernel_check, "reason": row.reason} for row in rows]


def store_restrictions(session: Session, spec: DeviceSpec, checked: Sequence[CheckedKernel]) -> None:
    """Replace the restrictions of a device by the fallbacks of its kernels; those of kernels that work are removed."""
    found: dict[str, dict[str, str]] = {}
    for kernel in checked:
        for each in kernel.fallback:
            values = {"name": each.value, "kernel_check": kernel.finding.check, "reason": kernel.finding.found}
            found.setdefault(each.value, values)
    row = store_missing_device(session, spec, spec.driver)
    restrictions.replace(session, row.id, version("xetune"), found.values())
