"""The key of a measurement as a row: what it depends on, readable."""

from typing import cast

from codegen import AnyArtifact, CpuConfig
from codegen.canonical import to_json
from db import models
from db.base import JsonObject
from hal import DeviceSpec
from service.convert import spec_from_json
from tuner.exchange.records import KernelRecord
from tuner.result_key import ResultKey, identity_of, launch_hash, result_key


def key_of_measured(artifact: AnyArtifact, device: models.Device, driver: str) -> models.ResultKey | None:
    """The key of what was measured of a kernel; None on a device whose stored facts this version cannot read."""
    try:
        spec = spec_from_json(device.spec)
    except ValueError:
        return None
    return to_row(result_key(artifact, spec, driver))


def key_of_imported(kernel: KernelRecord, spec: DeviceSpec, driver: str) -> models.ResultKey | None:
    """The key of what was measured of a kernel elsewhere; None where the file does not hold what ran.

    A stand-in for a GPU ran other code than the file's SPIR-V, older files say no steps, and the object code of a CPU
    holds its own name, which its key leaves out.
    """
    launch = launch_hash(kernel.manifest, kernel.compile_key)
    if spec.emulates is not None or launch is None or isinstance(kernel.config, CpuConfig):
        return None
    key = ResultKey(kernel.content_hash, launch, kernel.problem, identity_of(spec), driver, dict(kernel.toolchain))
    return to_row(key)


def to_row(key: ResultKey) -> models.ResultKey:
    """A key as a row that names no trial yet."""
    return models.ResultKey(key=key.key, run=key.run, parts=cast(JsonObject, to_json(key)))
