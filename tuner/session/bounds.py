"""Bounds of stored values, as types that `codegen.serialization.decode` checks."""

import math
import re
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from codegen.serialization import Bounds

MOST = 2**31 - 1
"""Largest count that a database can store."""
LEAST_US, LONGEST_US = 1e-6, 1e12
"""No clock tells less; eleven days, which also excludes infinity and NaN."""
_LONGEST_S = 1e9 - 1
_LONGEST_NAME = 200
_LONGEST_REASON = 500


def _check_reason(text: str) -> None:
    if not 0 < len(text) <= _LONGEST_REASON or re.search(r"[\x00-\x1f\x7f]", text):
        raise ValueError(f"expected one line of 1 to {_LONGEST_REASON} characters, got {text[:60]!r}")


def check_name(text: str) -> None:
    """Check that a text can be shown as a name.

    Raises:
        ValueError: it is empty, long, or contains characters that are not printable.
    """
    if not 0 < len(text) <= _LONGEST_NAME or not text.isprintable():
        raise ValueError(f"expected 1 to {_LONGEST_NAME} printable characters, got {text[:60]!r}")


def _check_text(text: str) -> None:
    if not text:
        raise ValueError("expected a text, got none")


def _check_sha256(text: str) -> None:
    if re.fullmatch("[0-9a-f]{64}", text) is None:
        raise ValueError(f"expected a SHA-256 in hex, got {text[:80]!r}")


def _check_uuid(text: str) -> None:
    try:
        known = str(UUID(text))
    except ValueError:
        known = None
    if text != known:
        raise ValueError(f"expected a UUID in lower case with dashes, got {text[:80]!r}")


def _check_moment(text: str) -> None:
    try:
        moment = datetime.fromisoformat(text)
        known = moment.tzinfo is not None and moment.astimezone(UTC)
    except (ValueError, OverflowError):
        known = False
    if not known:
        raise ValueError(f"expected a moment with its time zone, as ISO 8601 has it, got {text[:80]!r}")


Count = Annotated[int, Bounds(0, MOST)]
Positive = Annotated[int, Bounds(1, MOST)]
Seed = Annotated[int, Bounds(0, 2**63 - 1)]
Seconds = Annotated[float, Bounds(0, _LONGEST_S)]
Microseconds = Annotated[float, Bounds(LEAST_US, LONGEST_US)]
Factor = Annotated[float, Bounds(1e-12, 1e12)]
NotNegative = Annotated[float, Bounds(0, math.inf)]
Name = Annotated[str, check_name]
Reason = Annotated[str, _check_reason]
Text = Annotated[str, _check_text]
Sha256 = Annotated[str, _check_sha256]
Uuid = Annotated[str, _check_uuid]
Moment = Annotated[str, _check_moment]
