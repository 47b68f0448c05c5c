"""Devices on the wire."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from hal import DeviceKind, TimeKind, Use
from hal.devices.listed import Runtime
from hal.probe.findings import State

FactValue = bool | int | float | str | list[int | str]


class FactOut(BaseModel):
    """One known fact of a device; its name carries the unit."""

    name: str = Field(description="Name, with its unit", examples=["l2_bytes"])
    value: FactValue = Field(description="Value, in the unit of the name", examples=[18874368])
    provenance: str = Field(description="probed, derived: <how>, or table:<source>", examples=["probed"])


class ReadinessOut(BaseModel):
    """Readiness of a device that is not in this machine for one use, and what is missing."""

    use: Use = Field(description="What for", examples=["predict"])
    ready: bool = Field(description="Whether it can be used so", examples=[False])
    missing: list[str] = Field(description="Required facts that are unknown", examples=[["clock_mhz"]])
    reason: str = Field(description="Why not; empty when it can", examples=["not known: clock_mhz"])
    assumed: list[str] = Field(
        default=[],
        description="Unknown facts that are assumed: intervals of predictions cover their plausible range",
        examples=[["l2_bytes"]],
    )


class DisagreementOut(BaseModel):
    """A fact for which driver and table disagree; the driver's value is used."""

    fact: str = Field(description="Name of the fact", examples=["xe_cores"])
    probed: FactValue = Field(description="Value from the driver", examples=[18])
    probed_by: str = Field(description="Runtime that reported it", examples=["probed opencl:0:0"])
    tabled: FactValue = Field(description="Value in the table", examples=[20])
    tabled_by: str = Field(description="Its provenance there", examples=["table:a product page"])


class MatchOut(BaseModel):
    """Match of a local GPU with the table."""

    by: str = Field(description="Property that matched", examples=["PCI id E20B"])
    rows: list[str] = Field(
        description="Ids of the matching rows; of several, only the facts that they share are used", examples=[["b580"]]
    )
    agreed: list[str] = Field(description="Facts on which driver and table agree", examples=[["xe_cores"]])
    disagreements: list[DisagreementOut] = Field(description="Facts on which they disagree", examples=[[]])


class FindingOut(BaseModel):
    """A finding about a GPU of this machine: what was looked at, its state, and what to do."""

    check: str = Field(description="Subject of the check", examples=["permission"])
    subject: str = Field(description="Its address on the PCI bus", examples=["0000:03:00.0"])
    state: State = Field(description="ok, note, warning, or fault, which keeps it from being used", examples=["fault"])
    found: str = Field(description="Result of the check", examples=["this user may not use /dev/dri/renderD128"])
    remedy: str = Field(description="Remedy; empty if none is needed", examples=["`sudo usermod -aG render $USER`"])


class DeviceOut(BaseModel):
    """A local device, or a device of the table that kernels can be compiled for."""

    id: str = Field(description="Stable name, used in requests", examples=["b580"])
    name: str = Field(description="Name reported by the hardware", examples=["Intel Arc B580"])
    kind: DeviceKind = Field(description="gpu or cpu", examples=["gpu"])
    emulates: str | None = Field(
        default=None, description="Id of the GPU whose kernels it runs with emulated built-ins", examples=["b580"]
    )
    runtime: Runtime = Field(
        description="Runtime that reaches it; table: not in this machine; simulated: only accepts kernels; pci: "
        "here, but no driver shows it",
        examples=["opencl"],
    )
    address: str | None = Field(default=None, description="Its location on this machine", examples=["opencl:0:0"])
    runnable: bool = Field(description="Whether kernels can be run on it here", examples=[True])
    targetable: bool = Field(description="Whether kernels can be compiled for it", examples=[True])
    times: TimeKind | None = Field(
        description="Kind of the times of a job for it; emulated: measured with emulated DPAS; null: jobs for it "
        "are rejected",
        examples=["predicted"],
    )
    rejection: str = Field(description="Why jobs for it are rejected; empty if they are not", examples=[""])
    note: str = Field(description="Notes: why it cannot be used, where facts disagree", examples=["DPAS emulated"])
    facts: list[FactOut] = Field(
        description="Known facts; an absent fact is unknown",
        examples=[[{"name": "xe_cores", "value": 20, "provenance": "probed"}]],
    )
    aliases: list[str] = Field(description="Aliases", examples=[["arc-b580", "bmg"]])
    remarks: list[str] = Field(description="Notes on its facts, such as sources that disagree", examples=[[]])
    uses: list[ReadinessOut] = Field(description="Uses that are possible without the device", examples=[[]])
    match: MatchOut | None = Field(
        default=None,
        description="Match with the table; null if it is not local or not in the table",
        examples=[{"by": "PCI id E20B", "rows": ["b580"], "agreed": ["xe_cores"], "disagreements": []}],
    )
    findings: list[FindingOut] = Field(
        default=[],
        description="Findings about a GPU on the PCI bus of this machine, up to the first fault",
        examples=[[]],
    )


class QuarantineOut(BaseModel):
    """A quarantined device of a host: it gets no jobs there until it is released or the quarantine ends."""

    device: str = Field(description="Id of the device", examples=["b580"])
    host: str = Field(description="Host name of its machine", examples=["lab-7"])
    reason: str = Field(description='"code: message" of its last job', examples=["device-unusable: ..."])
    job_id: UUID | None = Field(description="That job", examples=["01970a3c-0000-7000-8000-000000000000"])
    since: datetime = Field(description="Begin, UTC", examples=["2026-01-02T03:04:05Z"])
    until: datetime = Field(description="Latest end, UTC", examples=["2026-01-02T04:04:05Z"])

    def sentence(self) -> str:
        """Describe the quarantine in a sentence."""
        return (
            f"{self.device} on {self.host} gets no jobs until {self.until:%Y-%m-%d %H:%M} UTC, "
            f"since it kept failing at {self.since:%Y-%m-%d %H:%M} UTC ({self.reason})"
        )

    @property
    def remedy(self) -> str:
        """Return how the quarantine is ended, as a sentence."""
        return f"`xetune devices release {self.device}` releases it."


class DeviceList(BaseModel):
    """All known devices, and quarantined devices."""

    devices: list[DeviceOut] = Field(description="Local devices first, then those of the table", examples=[[]])
    quarantined: list[QuarantineOut] = Field(
        description="Quarantined devices, of all hosts of this database", examples=[[]]
    )
