"""Typed client of the XeTune service, synchronous and asynchronous.

It imports nothing of the service; it depends only on httpx and pydantic.
"""

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
