"""The accuracy of predictions on the wire."""

from pydantic import BaseModel, Field


class AccuracyOut(BaseModel):
    """Accuracy of one model version's predictions for a device. Ratios are measured over predicted time."""

    model: str = Field(description="Version of the model", examples=["xe-4-fb8a8097"])
    measured: int = Field(description="Number of measured trials that it predicted", examples=[12])
    off_by: float = Field(description="Median factor between predicted and measured time, at least 1", examples=[1.3])
    median_ratio: float = Field(description="Median of measured over predicted time", examples=[1.18])
    least_ratio: float = Field(description="Least of them", examples=[0.9])
    most_ratio: float = Field(description="Most of them", examples=[1.6])
    inside: int = Field(description="Number of measurements inside the predicted interval", examples=[11])


class AccuracyList(BaseModel):
    """Accuracy of each model version that made predictions for a device."""

    device: str = Field(description="Id of the device", examples=["b580"])
    models: list[AccuracyOut] = Field(description="By version; empty if no prediction has a measurement", examples=[[]])
