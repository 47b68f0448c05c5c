"""Keys on the wire."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from service.api.keys.scope import Scope
from service.moments import Moment

_ID = "01970a3c-0000-7000-8000-000000000000"
_SCOPE = "read: read; tune: also start and stop jobs; admin: also manage keys and read the audit log"


class KeyBody(BaseModel):
    """Input to create a key."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00-\x1f]+$",
        description="Name for people; unique among the keys in use",
        examples=["nightly CI"],
    )
    scope: Scope = Field(description=_SCOPE, examples=["tune"])
    expires_at: Moment | None = Field(
        default=None,
        description="Expiry; null: never",
        examples=["2027-01-01T00:00:00Z"],
    )


class KeyOut(BaseModel):
    """A key, without its secret."""

    id: UUID = Field(description="Identifier", examples=[_ID])
    name: str = Field(description="Name for people", examples=["nightly CI"])
    prefix: str = Field(description="Its first characters, after xetune_", examples=["0123456789ab"])
    scope: Scope = Field(description=_SCOPE, examples=["tune"])
    created_at: datetime = Field(description="Creation time, UTC", examples=["2026-01-02T12:00:00Z"])
    expires_at: datetime | None = Field(description="Expiry; null: never", examples=[None])
    last_used_at: datetime | None = Field(
        description="Last use, to the minute; null: never", examples=["2026-01-03T12:00:00Z"]
    )
    revoked_at: datetime | None = Field(description="Revocation time; null: not revoked", examples=[None])


class NewKeyOut(KeyOut):
    """A new key: the only response that contains it."""

    key: str | None = Field(
        description="The key itself, for the header `Authorization: Bearer`; it cannot be shown again: null if the "
        "request is repeated",
        examples=["xetune_0123456789ab_..."],
    )


class KeyList(BaseModel):
    """All keys, newest first, including revoked ones."""

    keys: list[KeyOut] = Field(description="All of them", examples=[[]])
