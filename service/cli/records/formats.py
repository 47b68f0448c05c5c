"""Files of other tuners as records, and records as their files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from service.api.records.devices import device_of
from service.cli.access.connection import same
from service.cli.access.opening import Access
from service.cli.records.record_format import RecordFormat
from service.cli.records.record_tables import each_record, look_up
from service.errors import BadRequest
from xetune_client import models
from xetune_client.tuners import Stated, serving, t4, triton
from xetune_client.tuners.stated import read_object


@dataclass(frozen=True, slots=True)
class Restored:
    """Files that were written, and what has changed since the records that were not."""

    files: list[Path] = field(default_factory=list[Path])
    stale: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


def bodies_of(
    format: RecordFormat,
    path: Path,
    stated: Stated,
    *,
    kernel: str | None,
    problem: dict[str, object] | None,
    best: int,
    match: str | None,
) -> Iterator[models.RecordBody]:
    """Yield the records of files.

    Raises:
        BadRequest: a T4 file without kernel or problem.
        InvalidEntry: a file is not what its format says.
    """
    if format is RecordFormat.T4:
        if kernel is None or problem is None:
            raise BadRequest("a T4 file names neither kernel nor problem: expected --kernel and --problem")
        yield from t4.records(read_object(path), kernel, problem, stated, best)
        return
    if format is RecordFormat.TRITON:
        found = (triton.record(entry, stated) for entry in triton.entries(path))
        yield from (body for body in found if kernel in (None, body.kernel))
        return
    for entry in serving.entries(path):
        if (kernel not in (None, entry.kernel)) or (match is not None and match not in entry.device_name):
            continue
        yield serving.record(serving.Engine(format.value), entry, _of_file(stated, entry.device_name))


def restore(
    access: Access,
    format: RecordFormat,
    folder: Path,
    device: models.RecordDevice,
    versions: Mapping[str, str],
    *,
    name: str | None,
    kernel: str | None,
    stale: bool,
) -> Restored:
    """Write the files of all records for a device and driver into a folder; stale ones only with `stale`.

    Raises:
        BadRequest: the format has no files for each problem, or the name of the device is unknown.
        InvalidEntry: a record is not what its tuner says.
    """
    if format is RecordFormat.T4:
        raise BadRequest("Kernel Tuner reads no folder of results: expected triton, vllm or sglang")
    if name is None and format is not RecordFormat.TRITON:
        known_as = device.pci_id or device.name
        raise BadRequest(f"{known_as} is not in this machine: expected --name, which its driver gives it there")
    place = device_of(device.pci_id, device.name)
    keys = {
        (each.kernel, str(each.problem)): each
        for each in each_record(access, {"tuner": format.value, "kernel": kernel, "device": place})
    }
    done = Restored()
    for each in keys.values():
        found = look_up(access, format.value, each.kernel, each.problem, place, device.driver, versions)
        record = same(models.RecordOut, found.record)
        if found.stale and not stale:
            done.stale[f"{each.kernel} {each.problem}"] = found.stale
        elif format is RecordFormat.TRITON:
            done.files.append(triton.restore(record, folder))
        else:
            engine = serving.Engine(format.value)
            done.files.append(serving.restore(engine, record, folder, name or ""))
    return done


def _of_file(stated: Stated, name: str) -> Stated:
    """Return what was stated, with the name of a file's device; without PCI id the name alone identifies it."""
    device = models.RecordDevice(pci_id=stated.device.pci_id, name=name.replace("_", " "), driver=stated.device.driver)
    return Stated(device, stated.versions, stated.origin)
