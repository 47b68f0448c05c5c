"""Keys under which measurements are found again, as they are stored."""

import json
from collections.abc import Mapping
from functools import lru_cache

from codegen import AnyArtifact
from codegen.backend import backend_of
from codegen.serialization import to_json
from db.schema.result_key import ResultKey as ResultKeyRow
from db.values import JsonObject
from hal import DeviceSpec
from service.device_json import spec_from_json
from tuner.exchange.kernel_record import KernelRecord
from tuner.measure.result_key import ResultKey, identity_of, launch_hash, result_key


def key_of_measured(
    artifact: AnyArtifact, manifest: Mapping[str, object], device: JsonObject, driver: str
) -> JsonObject | None:
    """Return the columns of the key of a kernel's measurement; None if this version cannot read the device's facts."""
    try:
        spec = _spec(json.dumps(device))
    except ValueError:
        return None
    return _columns(result_key(artifact, manifest, spec, driver))


@lru_cache(256)
def _spec(text: str) -> DeviceSpec:
    return spec_from_json(json.loads(text))


def key_of_imported(kernel: KernelRecord, spec: DeviceSpec, driver: str) -> ResultKeyRow | None:
    """Return the key of an imported measurement; None if the file does not have the code that ran.

    A CPU that emulates a GPU ran other code than the file's SPIR-V; a CPU's kernel is identified by its
    `code_hash`.
    """
    binary = kernel.code_hash if backend_of(kernel.config).names_code else kernel.content_hash
    if spec.emulates is not None or binary is None:
        return None
    launch = launch_hash(kernel.manifest, kernel.compile_key)
    key = ResultKey(binary, launch, kernel.problem, identity_of(spec), driver, dict(kernel.toolchain))
    return ResultKeyRow(**_columns(key))


def _columns(key: ResultKey) -> JsonObject:
    return {"key": key.key, "run": key.run, "parts": to_json(key)}
