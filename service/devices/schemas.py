"""Devices on the wire."""

from pydantic import BaseModel, Field

from hal import DeviceKind
from hal.listed import Backend


class FactOut(BaseModel):
    """One known fact of a device; its name carries the unit."""

    name: str = Field(description="Name, with its unit", examples=["l2_bytes"])
    value: bool | int | float | str | list[int | str] = Field(
        description="Value, in the unit of the name", examples=[18874368]
    )
    provenance: str = Field(description="probed, derived, or table:<source>", examples=["probed"])


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


class DeviceList(BaseModel):
    """Every device known."""

    devices: list[DeviceOut] = Field(description="Devices here first, then those of the table", examples=[[]])
