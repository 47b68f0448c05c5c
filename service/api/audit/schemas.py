"""The audit log on the wire."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, Field

_ID = "01970a3c-0000-7000-8000-000000000000"


class Outcome(StrEnum):
    """Outcome of an action. UNCHANGED: nothing to change; REFUSED: the key's scope does not include it."""

    DONE = "done"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


class AuditEventOut(BaseModel):
    """One change."""

    id: UUID = Field(description="Identifier; later ones are larger", examples=[_ID])
    at: datetime = Field(description="When, UTC", examples=["2026-01-02T12:00:00Z"])
    actor: str = Field(
        description="Name of the key; local: a request without a key; command line: a command on this machine; "
        "schedule: the scheduler",
        examples=["nightly CI"],
    )
    key_id: UUID | None = Field(description="The key; null: no key was needed", examples=[_ID])
    action: str = Field(description="What was done", examples=["job.create"])
    subject: str = Field(
        description="Id of the object that was changed; of a refused request, the request", examples=[_ID]
    )
    request_id: str | None = Field(
        description="Value of the response header X-Request-Id; null: no request", examples=["01970a3c00007000"]
    )
    outcome: Outcome = Field(
        description="done; unchanged: nothing to change; refused: the key's scope does not include it",
        examples=["done"],
    )


class AuditPage(BaseModel):
    """A page of events, newest first."""

    events: list[AuditEventOut] = Field(description="This page", examples=[[]])
    next_before: UUID | None = Field(description="`before` of the next page; null on the last", examples=[None])
