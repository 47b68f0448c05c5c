"""Imports on the wire."""

from pydantic import BaseModel, Field


class ImportOut(BaseModel):
    """What an import added. All of a file comes, or nothing."""

    origin: str = Field(description="Where the results are from", examples=["the lab"])
    jobs: int = Field(description="Jobs that were not here", examples=[2])
    trials: int = Field(description="Trials that were not here", examples=[120])
    kernels: int = Field(description="Kernels of these trials", examples=[96])
    known: int = Field(description="Trials that were here before", examples=[0])
    judged: dict[str, int] = Field(description="Predictions that got a measurement, by device", examples=[{"b580": 12}])
