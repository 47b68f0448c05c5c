"""The fleet over time on the wire."""

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

MOST_PERIODS = 60


class PeriodLength(StrEnum):
    """Length of a period. Weeks begin on Monday, days at midnight, in UTC."""

    DAY = "day"
    WEEK = "week"


class FleetQuery(BaseModel):
    """Periods and device of the aggregates."""

    model_config = ConfigDict(extra="forbid")

    period: PeriodLength | None = Field(
        default=None,
        description="Length of a period; by default a day while the oldest job is younger than four weeks, then a week",
        examples=["week"],
    )
    periods: int = Field(
        default=26, ge=1, le=MOST_PERIODS, description="Number of periods, the present one included", examples=[26]
    )
    device: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00]*$",  # PostgreSQL has no NUL
        description="Only the device of this id, with any driver",
        examples=["b580"],
    )


class GainOut(BaseModel):
    """Speedups of best configurations over the default, by how the two times are known."""

    evidence: str = Field(
        description="measured (re-measured, interleaved), emulated (the same with emulated DPAS) or predicted",
        examples=["measured"],
    )
    jobs: int = Field(description="Number of jobs", examples=[12])
    median: float = Field(description="Median of default over best time", examples=[1.31])


class FleetCell(BaseModel):
    """Work on one device in one period; a trial counts in the period in which its job was created."""

    device: str = Field(description="Id of the device", examples=["b580"])
    begin: datetime = Field(description="Begin of the period, UTC", examples=["2026-01-05T00:00:00Z"])
    jobs: int = Field(description="Number of jobs", examples=[14])
    failed_jobs: int = Field(description="Number of them that failed", examples=[1])
    trials: int = Field(description="Number of ended trials", examples=[700])
    outcomes: dict[str, int] = Field(
        description="Number of them by status", examples=[{"measured": 580, "predicted": 20, "rejected": 100}]
    )
    failed_share: float | None = Field(
        default=None, description="Fraction of the trials without a time; null without trials", examples=[0.14]
    )
    work_s: float = Field(description="Wall time of the jobs that ran, in s", examples=[5400.0])
    trials_per_hour: float | None = Field(
        default=None, description="Trials in an hour of that time; null if it is unknown", examples=[466.7]
    )
    judged: int = Field(default=0, description="Number of predictions with a measurement", examples=[580])
    off_by: float | None = Field(
        default=None, description="Median factor between predicted and measured time, at least 1", examples=[1.12]
    )
    gains: list[GainOut] = Field(default=[], description="Speedups over the default", examples=[[]])


class FleetOut(BaseModel):
    """Work of all devices by period. Imported jobs do not count."""

    period: PeriodLength = Field(description="Length of a period", examples=["week"])
    since: datetime = Field(description="Begin of the first period, UTC", examples=["2025-07-14T00:00:00Z"])
    begins: list[datetime] = Field(
        description="Begins of all periods, oldest first", examples=[["2026-01-05T00:00:00Z"]]
    )
    cells: list[FleetCell] = Field(
        description="By device, then by period; without those in which a device had no job", examples=[[]]
    )
