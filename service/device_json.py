"""Conversion of devices to JSON, and back."""

from dataclasses import fields
from typing import TYPE_CHECKING, cast

from codegen.serialization import decode, to_json
from db.values import JsonObject
from hal import DeviceSpec
from service.errors import OtherVersion

if TYPE_CHECKING:
    from db.schema.target import Device


def spec_to_json(spec: DeviceSpec) -> JsonObject:
    """Return all facts of a device with their provenance; unknown ones are None."""
    values = {f.name: getattr(spec, f.name) for f in fields(spec)}
    return cast(JsonObject, to_json(values | {"provenance": dict(spec.provenance)}))


def spec_from_json(spec: JsonObject) -> DeviceSpec:
    """Return the device of that JSON.

    Raises:
        ValueError: names the field at fault.
    """
    return decode(DeviceSpec, spec)


def spec_of_row(row: "Device") -> DeviceSpec:
    """Return the device of a row.

    Raises:
        OtherVersion: another version of this program stored it, with other fields.
    """
    try:
        return spec_from_json(row.spec)
    except ValueError as error:
        raise OtherVersion(f"the facts of device {row.slug}", error) from error
