"""Devices on the wire."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from hal import DeviceKind, Use
from hal.devices.listed import Backend

FactValue = bool | int | float | str | list[int | str]


class FactOut(BaseModel):
    """One known fact of a device; its name carries the unit."""

    name: str = Field(description="Name, with its unit", examples=["l2_bytes"])
    value: FactValue = Field(description="Value, in the unit of the name", examples=[18874368])
    provenance: str = Field(description="probed, derived: <how>, or table:<source>", examples=["probed"])


class ReadinessOut(BaseModel):
    """Whether a device can be used so without being here, and what stands against it."""

    use: Use = Field(description="What for", examples=["predict"])
    ready: bool = Field(description="Nothing stands against it", examples=[False])
    missing: list[str] = Field(description="Needed facts that nobody stated", examples=[["l2_bytes"]])
    reason: str = Field(description="Why not; empty when it can", examples=["not known: l2_bytes"])


class DisagreementOut(BaseModel):
    """A fact that a driver tells otherwise than the table; the driver's counts."""

    fact: str = Field(description="Name of the fact", examples=["xe_cores"])
    probed: FactValue = Field(description="What the driver tells", examples=[18])
    probed_by: str = Field(description="Which runtime told it", examples=["probed opencl:0:0"])
    tabled: FactValue = Field(description="What the table has", examples=[20])
    tabled_by: str = Field(description="Its provenance there", examples=["table:a product page"])


class MatchOut(BaseModel):
    """How a GPU that is here was found in the table."""

    by: str = Field(description="What it was found by", examples=["PCI id E20B"])
    rows: list[str] = Field(description="Ids of the rows; of several, what they share was taken", examples=[["b580"]])
    agreed: list[str] = Field(description="Facts that driver and table tell alike", examples=[["xe_cores"]])
    disagreements: list[DisagreementOut] = Field(description="Facts that they tell differently", examples=[[]])


class DeviceOut(BaseModel):
    """A device that is here, or one of the table that kernels can be compiled for."""

    id: str = Field(description="Stable name, used in requests", examples=["b580"])
    name: str = Field(description="What the hardware calls itself", examples=["Intel Arc B580"])
    kind: DeviceKind = Field(description="gpu or cpu", examples=["gpu"])
    emulates: str | None = Field(
        default=None, description="Id of the GPU whose kernels it runs with emulated built-ins", examples=["b580"]
    )
    backend: Backend = Field(description="How it is reached; table: not in this machine", examples=["opencl"])
    address: str | None = Field(default=None, description="Where it is on this machine", examples=["opencl:0:0"])
    runnable: bool = Field(description="Kernels can be run on it here", examples=[True])
    targetable: bool = Field(description="Kernels can be compiled for it", examples=[True])
    note: str = Field(description="What to know: why not, where facts disagree", examples=["DPAS emulated"])
    facts: list[FactOut] = Field(
        description="What is known; an absent fact is unknown",
        examples=[[{"name": "xe_cores", "value": 20, "provenance": "probed"}]],
    )
    aliases: list[str] = Field(description="Other names it is found by", examples=[["arc-b580", "bmg"]])
    remarks: list[str] = Field(description="What to know of its facts, such as where sources disagree", examples=[[]])
    uses: list[ReadinessOut] = Field(description="What it can be used for without being here", examples=[[]])
    match: MatchOut | None = Field(
        default=None,
        description="How it was found in the table; null if it is not here or not in the table",
        examples=[{"by": "PCI id E20B", "rows": ["b580"], "agreed": ["xe_cores"], "disagreements": []}],
    )


class QuarantineOut(BaseModel):
    """A quarantined device of a host: it gets no jobs there until it is released or the quarantine ends."""

    device: str = Field(description="Id of the device", examples=["b580"])
    host: str = Field(description="The machine it is in", examples=["lab-7"])
    reason: str = Field(description='"code: message" of its last job', examples=["device-unusable: ..."])
    job_id: UUID | None = Field(description="That job", examples=["01970a3c-0000-7000-8000-000000000000"])
    since: datetime = Field(description="When it began, UTC", examples=["2026-01-02T03:04:05Z"])
    until: datetime = Field(description="When it ends at the latest, UTC", examples=["2026-01-02T04:04:05Z"])


class DeviceList(BaseModel):
    """Every device known, and those that get no jobs."""

    devices: list[DeviceOut] = Field(description="Devices here first, then those of the table", examples=[[]])
    quarantined: list[QuarantineOut] = Field(
        description="Quarantined devices, of all hosts of this database", examples=[[]]
    )
