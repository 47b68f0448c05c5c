"""Records on the wire. Times are in microseconds."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from db.values import JsonObject
from service.api.records.devices import PCI_ID_PATTERN, named_device
from service.http.list_query import PageQuery

_ID = "01970a3c-0000-7000-8000-000000000000"
_PLAIN = r"^[^\x00-\x1f\x7f]*$"
_VERSION = r"^[^=\x00-\x1f\x7f]{1,64}=[^\x00-\x1f\x7f]{1,100}$"
_PROBLEM_BYTES, _CONFIG_BYTES, _DOCUMENT_BYTES = 2**13, 2**16, 2**18
_PROBLEM: JsonObject = {"M": 512, "N": 384, "K": 1024, "dtype": "bf16"}
_CONFIG: JsonObject = {"BLOCK_M": 64, "BLOCK_N": 128, "BLOCK_K": 32, "num_warps": 16, "num_stages": 2}
_VERSIONS = {"triton": "3.9.0"}
_DEVICE = {"pci_id": "8086:E211", "name": "Intel(R) Arc(TM) Pro B60 Graphics", "driver": "1.6.33578+15"}
RECORD_EXAMPLE = {
    "tuner": "triton",
    "kernel": "matmul_kernel",
    "problem": _PROBLEM,
    "device": _DEVICE,
    "versions": _VERSIONS,
    "config": _CONFIG,
    "time_us": 412.5,
}
_OUT = {
    "id": _ID,
    **{name: RECORD_EXAMPLE[name] for name in ("tuner", "kernel", "problem", "versions", "config", "time_us")},
    "device": "b60",
    "pci_id": "8086:E211",
    "device_name": "Intel(R) Arc(TM) Pro B60 Graphics",
    "driver": "1.6.33578+15",
    "document": {"key": [512, 384, 1024]},
    "min_us": 405.0,
    "p10_us": 407.1,
    "p90_us": 430.0,
    "samples": 30,
    "origin": "ci of kernels",
    "created_at": "2026-01-02T03:04:05Z",
}
Microseconds = Annotated[float, Field(gt=0, lt=1e12, allow_inf_nan=False)]


def canonical(value: object) -> str:
    """Return JSON with sorted keys and without spaces: equal values have equal texts."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _bounded(most_bytes: int) -> AfterValidator:
    def check(value: JsonObject) -> JsonObject:
        try:
            size = len(canonical(value).encode())
        except (ValueError, RecursionError) as error:  # infinity, NaN, half of a surrogate pair
            raise ValueError(f"expected JSON with finite numbers and UTF-8 text: {error}") from error
        if size > most_bytes:
            raise ValueError(f"expected at most {most_bytes:,} bytes of JSON, got {size:,}")
        if any("\x00" in text for text in _texts(value)):
            raise ValueError("expected text without the character U+0000, which databases do not keep")
        return value

    return AfterValidator(check)


Problem = Annotated[JsonObject, _bounded(_PROBLEM_BYTES)]
Config = Annotated[JsonObject, _bounded(_CONFIG_BYTES)]
Document = Annotated[JsonObject, _bounded(_DOCUMENT_BYTES)]
Versions = dict[
    Annotated[str, Field(min_length=1, max_length=64, pattern=_PLAIN)],
    Annotated[str, Field(min_length=1, max_length=100, pattern=_PLAIN)],
]
TunerName = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[a-z0-9][a-z0-9._-]*$")]
KernelName = Annotated[str, Field(min_length=1, max_length=300, pattern=_PLAIN)]
DeviceName = Annotated[str, Field(min_length=1, max_length=200, pattern=_PLAIN)]
DriverName = Annotated[str, Field(min_length=1, max_length=100, pattern=_PLAIN)]


class RecordQuery(PageQuery):
    """Filters of a list of records; all must match."""

    tuner: TunerName | None = Field(default=None, description="Only those of this tuner", examples=["triton"])
    kernel: KernelName | None = Field(default=None, description="Only those of this kernel", examples=["matmul_kernel"])
    device: DeviceName | None = Field(
        default=None, description="Only those of this device, by any name", examples=["b60"]
    )

    def filters(self) -> dict[str, str | None]:
        """Return the values of columns; None is any."""
        device = None if self.device is None else named_device(self.device)
        return {"tuner": self.tuner, "kernel": self.kernel, "device": device}


class LookupQuery(BaseModel):
    """A lookup of the result of a tuner for a problem of a kernel on a device."""

    model_config = ConfigDict(extra="forbid")

    tuner: TunerName = Field(description="The tuner", examples=["triton"])
    kernel: KernelName = Field(description="Identity of the kernel", examples=["matmul_kernel"])
    problem: str = Field(
        max_length=2**15, description="The problem, as JSON", examples=['{"M": 512, "N": 384, "K": 1024}']
    )
    device: DeviceName = Field(
        description="PCI id, id or name of the device, or auto for that of the service", examples=["8086:E211"]
    )
    driver: DriverName | None = Field(
        default=None,
        description="Driver of the caller; not stated: that of the service's device of that id, else not compared",
        examples=["25.18.33578.15"],
    )
    version: list[Annotated[str, Field(pattern=_VERSION)]] | None = Field(
        default=None,
        max_length=32,
        description="Versions of the caller, name=version",
        examples=[["triton=3.9.0"]],
    )


class RecordDevice(BaseModel):
    """The device of a result: its PCI id, which drivers do not change, or else its name."""

    model_config = ConfigDict(extra="forbid")

    pci_id: Annotated[str, Field(pattern=PCI_ID_PATTERN)] | None = Field(
        default=None,
        description="Vendor and device id in hexadecimal; without vendor of Intel. Drivers do not change it",
        examples=["8086:E211"],
    )
    name: DeviceName | None = Field(
        default=None,
        description="Name that the driver reports, or id of `xetune devices`; identifies the device if there is no "
        "PCI id",
        examples=["Intel(R) Arc(TM) Pro B60 Graphics"],
    )
    driver: DriverName | None = Field(
        default=None, description="Version of the driver, as the tuner's runtime reports it", examples=["1.6.33578+15"]
    )

    @model_validator(mode="after")
    def _is_named(self) -> "RecordDevice":
        if self.pci_id is None and not (self.name or "").strip():
            raise ValueError("expected pci_id or name of the device, got neither")
        return self


class RecordBody(BaseModel):
    """The result of a tuner for one problem of its kernel on a device."""

    model_config = ConfigDict(extra="forbid")

    tuner: TunerName = Field(description="The tuner, or the program whose configurations it makes", examples=["triton"])
    kernel: KernelName = Field(description="Identity of the kernel within the tuner", examples=["matmul_kernel"])
    problem: Problem = Field(
        description="What the configuration is for: sizes, types and whatever else selects it; lookups compare it as a "
        f"whole. At most {_PROBLEM_BYTES:,} bytes",
        examples=[_PROBLEM],
    )
    device: RecordDevice = Field(description="The device that it was tuned on", examples=[_DEVICE])
    versions: Versions = Field(
        default_factory=dict,
        max_length=32,
        description="Versions of the programs that the result depends on; a lookup that states others gets it as stale",
        examples=[_VERSIONS],
    )
    config: Config = Field(
        description=f"The configuration, as the tuner writes it. At most {_CONFIG_BYTES:,} bytes", examples=[_CONFIG]
    )
    document: Document | None = Field(
        default=None,
        description="The tuner's own entry, returned unchanged, if it needs more than the configuration. At most "
        f"{_DOCUMENT_BYTES:,} bytes",
        examples=[None],
    )
    time_us: Microseconds | None = Field(
        default=None, description="Time of the kernel, in us; null if the tuner keeps none", examples=[412.5]
    )
    min_us: Microseconds | None = Field(default=None, description="Least sample, in us", examples=[405.0])
    p10_us: Microseconds | None = Field(default=None, description="10th percentile, in us", examples=[407.1])
    p90_us: Microseconds | None = Field(default=None, description="90th percentile, in us", examples=[430.0])
    samples: int | None = Field(default=None, ge=1, le=2**31 - 1, description="Number of samples", examples=[30])
    origin: Annotated[str, Field(min_length=1, max_length=200, pattern=_PLAIN)] | None = Field(
        default=None, description="Where it comes from: a host, a file, a project", examples=["ci of kernels"]
    )

    @model_validator(mode="after")
    def _has_ordered_times(self) -> "RecordBody":
        times = [time for time in (self.min_us, self.p10_us, self.p90_us) if time is not None]
        if times != sorted(times):
            raise ValueError(f"expected min_us <= p10_us <= p90_us, got {times}")
        if self.time_us is None and (times or self.samples is not None):
            raise ValueError("expected time_us where min_us, p10_us, p90_us or samples are stated, got none")
        return self


class RecordsBody(BaseModel):
    """Results to store, in one transaction."""

    model_config = ConfigDict(extra="forbid")

    records: list[RecordBody] = Field(
        min_length=1,
        max_length=200,
        description="The results; later ones replace earlier ones",
        examples=[[RECORD_EXAMPLE]],
    )


class RecordOut(BaseModel):
    """A stored result of another tuner. Its times are as stated; nothing was measured or verified here."""

    id: UUID = Field(description="Sorts by time of arrival", examples=[_ID])
    tuner: str = Field(description="The tuner", examples=["triton"])
    kernel: str = Field(description="Identity of the kernel", examples=["matmul_kernel"])
    problem: JsonObject = Field(description="What the configuration is for", examples=[_PROBLEM])
    device: str = Field(
        description="Id of the device: of the table of GPUs, else its PCI id, else its name", examples=["b60"]
    )
    pci_id: str | None = Field(description="PCI id, as stated", examples=["8086:E211"])
    device_name: str | None = Field(
        description="Name of the device, as stated", examples=["Intel(R) Arc(TM) Pro B60 Graphics"]
    )
    driver: str | None = Field(description="Driver, as stated", examples=["1.6.33578+15"])
    versions: dict[str, str] = Field(description="Versions, as stated", examples=[_VERSIONS])
    config: JsonObject = Field(description="The configuration", examples=[_CONFIG])
    document: JsonObject | None = Field(description="The tuner's own entry", examples=[None])
    time_us: float | None = Field(description="Time, as stated, in us", examples=[412.5])
    min_us: float | None = Field(description="Least sample, in us", examples=[405.0])
    p10_us: float | None = Field(description="10th percentile, in us", examples=[407.1])
    p90_us: float | None = Field(description="90th percentile, in us", examples=[430.0])
    samples: int | None = Field(description="Number of samples", examples=[30])
    origin: str | None = Field(description="Where it comes from", examples=["ci of kernels"])
    created_at: datetime = Field(description="Time of arrival, UTC", examples=["2026-01-02T03:04:05Z"])


class RecordPage(BaseModel):
    """A page of records, newest first."""

    records: list[RecordOut] = Field(description="This page", examples=[[]])
    next_before: UUID | None = Field(description="`before` of the next page; null on the last", examples=[None])


class StoredRecord(BaseModel):
    """A record of a request."""

    id: UUID = Field(description="Its id", examples=[_ID])
    new: bool = Field(description="False if the same result is the one in force already", examples=[True])


class StoredRecords(BaseModel):
    """Ids of the records of a request, in its order."""

    records: list[StoredRecord] = Field(description="One for each", examples=[[{"id": _ID, "new": True}]])


class RecordLookupOut(BaseModel):
    """Answer of a lookup: the record for a problem of a kernel on a device."""

    source: Literal["exact", "stale"] = Field(
        description="exact: of this driver and these versions, as far as both sides state them; stale: of others",
        examples=["exact"],
    )
    stale: list[str] = Field(
        description="What has changed since; empty unless stale", examples=[["driver 26.27 then, 26.31 now"]]
    )
    record: RecordOut = Field(description="The fastest of those in force; without times the newest", examples=[_OUT])
    others: int = Field(description="Number of other records in force for the same problem and device", examples=[2])
