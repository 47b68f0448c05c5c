"""What the searches of a job were made from, on the wire."""

from typing import Any

from pydantic import BaseModel, Field

from service.configurations import CONFIG_EXAMPLE, ConfigBody

_SEARCH: dict[str, Any] = {
    "told": 20,
    "measured": True,
    "trials": 60,
    "donors": [CONFIG_EXAMPLE],
    "space": "3f7b0c2d19ae",
    "device": {"id": "b580", "name": "Intel Arc B580"},
    "versions": {"numpy": "2.4.6", "optuna": "5.0.0"},
}


class SearchOut(BaseModel):
    """The search of one run of a job: with the job's seed and outcomes it is made again, and proposes the same."""

    told: int = Field(description="Outcomes of the job, from number 0 on, that it was told first", examples=[20])
    measured: bool = Field(description="Trials were measured; false: predicted", examples=[True])
    trials: int = Field(description="Most trials that the job might have", examples=[60])
    donors: list[ConfigBody | dict[str, object]] = Field(
        description="Configurations that are good elsewhere, best first, as they fit the problem; as they were stored "
        "if this version cannot read them",
        examples=[[CONFIG_EXAMPLE]],
    )
    space: str = Field(description="Names the space of configurations", examples=["3f7b0c2d19ae"])
    device: dict[str, object] = Field(
        description="Facts of the device then, with their provenance", examples=[_SEARCH["device"]]
    )
    versions: dict[str, str] = Field(
        description="Versions of what computed proposals, and the model of the processor that did",
        examples=[_SEARCH["versions"]],
    )


class SearchAsStored(BaseModel):
    """The search of one run of a job that another version kept, and this one cannot read."""

    told: int = Field(description="Outcomes of the job, from number 0 on, that it was told first", examples=[20])
    stored: dict[str, object] = Field(description="What was kept, as it is stored", examples=[{"measured": True}])


class SearchList(BaseModel):
    """The searches of a job."""

    searches: list[SearchOut | SearchAsStored] = Field(
        description="In order of the outcomes that they were told first; empty of a job that searched nothing, or none "
        "was kept of; as it was stored what this version cannot read",
        examples=[[_SEARCH]],
    )
