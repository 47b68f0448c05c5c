"""Conversion of devices to JSON, and back."""

from dataclasses import fields
from typing import cast

from codegen.serialization import decode, to_json
from db.values import JsonObject
from hal import DeviceSpec


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
