"""Typed client of the XeTune service, synchronous and asynchronous.

It imports nothing of the service; it depends only on httpx and pydantic.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xetune_client import models
    from xetune_client.async_client import AsyncClient
    from xetune_client.client import Client
    from xetune_client.errors import (
        BadRequest,
        ClientError,
        Conflict,
        Damaged,
        Failed,
        Forbidden,
        Misused,
        NotFound,
        NotReached,
        Refused,
        TookTooLong,
        TooLarge,
        TooMany,
        Unauthorized,
        Unreadable,
    )
    from xetune_client.events import JobChanged, JobEvent, TrialEnded
    from xetune_client.fetched import Fetched
    from xetune_client.retrying import Retries

__all__ = [
    "AsyncClient",
    "BadRequest",
    "Client",
    "ClientError",
    "Conflict",
    "Damaged",
    "Failed",
    "Fetched",
    "Forbidden",
    "JobChanged",
    "JobEvent",
    "Misused",
    "NotFound",
    "NotReached",
    "Refused",
    "Retries",
    "TooLarge",
    "TooMany",
    "TookTooLong",
    "TrialEnded",
    "Unauthorized",
    "Unreadable",
    "models",
]

# Imported when it is first asked for: most programs, and every help text, need a part of it.
_LATE = {
    "AsyncClient": "xetune_client.async_client",
    "BadRequest": "xetune_client.errors",
    "Client": "xetune_client.client",
    "ClientError": "xetune_client.errors",
    "Conflict": "xetune_client.errors",
    "Damaged": "xetune_client.errors",
    "Failed": "xetune_client.errors",
    "Fetched": "xetune_client.fetched",
    "Forbidden": "xetune_client.errors",
    "JobChanged": "xetune_client.events",
    "JobEvent": "xetune_client.events",
    "Misused": "xetune_client.errors",
    "NotFound": "xetune_client.errors",
    "NotReached": "xetune_client.errors",
    "Refused": "xetune_client.errors",
    "Retries": "xetune_client.retrying",
    "TooLarge": "xetune_client.errors",
    "TooMany": "xetune_client.errors",
    "TookTooLong": "xetune_client.errors",
    "TrialEnded": "xetune_client.events",
    "Unauthorized": "xetune_client.errors",
    "Unreadable": "xetune_client.errors",
}


def __getattr__(name: str) -> object:
    if name == "models":
        return import_module("xetune_client.models")
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_LATE[name]), name)
    globals()[name] = found
    return found
