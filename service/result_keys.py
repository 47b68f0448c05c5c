"""Readable key of a measurement as a row: the facts that it depends on."""

from typing import cast

from codegen import AnyArtifact
from codegen.backend import backend_of
from codegen.serialization import to_json
from db import schema
from db.schema.base import JsonObject
from hal import DeviceSpec
from service.row_mapping import spec_from_json
from tuner.exchange.records import KernelRecord
from tuner.measure.result_key import (
    ResultKey,
    identity_of,
    launch_hash,
    result_key,
)


def key_of_measured(artifact: AnyArtifact, device: schema.Device, driver: str) -> schema.ResultKey | None:
    """Return the key of a kernel's measurement; None on a device whose stored facts this version cannot read."""
    try:
        spec = spec_from_json(device.spec)
    except ValueError:
        return None
    return to_row(result_key(artifact, spec, driver))


def key_of_imported(kernel: KernelRecord, spec: DeviceSpec, driver: str) -> schema.ResultKey | None:
    """Return the key of an imported measurement; None if the file does not have the code that ran.

    A CPU that emulates a GPU ran other code than the file's SPIR-V; a CPU's kernel is identified by its
    `code_hash`.
    """
    binary = kernel.code_hash if backend_of(kernel.config).names_code else kernel.content_hash
    if spec.emulates is not None or binary is None:
        return None
    launch = launch_hash(kernel.manifest, kernel.compile_key)
    key = ResultKey(binary, launch, kernel.problem, identity_of(spec), driver, dict(kernel.toolchain))
    return to_row(key)


def to_row(key: ResultKey) -> schema.ResultKey:
    """Convert a key to a row that is not yet linked to a trial."""
    return schema.ResultKey(key=key.key, run=key.run, parts=cast(JsonObject, to_json(key)))
