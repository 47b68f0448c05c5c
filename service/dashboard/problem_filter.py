"""Filters of lists of problems on devices, parsed from URLs and written to them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypedDict
from urllib.parse import urlencode
from uuid import UUID

from sqlalchemy import ColumnElement, false, or_

from codegen.problem.gemm import MAX_DIMENSION
from db.schema.target import Problem
from service.dashboard.naming import B_DTYPES
from service.errors import NotFound

_SHOWN = 60
LABELS = {
    **{name: name.upper() for name in ("m", "n", "k", "x", "y")},
    "dtype": "Inputs",
    "device": "Device",
    "status": "Status",
    "evidence": "Time is",
    "outcome": "Outcome",
    "colour": "Colour",
    "parts": "Facet by",
    "where": "Filter",
    "period": "Period",
    "periods": "Periods",
}
"""Label of each field in the filter forms, by its parameter."""


class ProblemWords(TypedDict):
    """The fields of a `ProblemFilter`."""

    device: str
    m: int | None
    n: int | None
    k: int | None
    dtype: str
    unread: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProblemFilter:
    """Filters by problem and device.

    `unread` lists invalid parameters as sentences.
    """

    dtypes: ClassVar[tuple[str, ...]] = B_DTYPES
    device: str = ""
    m: int | None = None
    n: int | None = None
    k: int | None = None
    dtype: str = ""
    unread: tuple[str, ...] = ()

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the conditions on the problems."""
        if self.unread:
            return [false()]
        asked = {Problem.m: self.m, Problem.n: self.n, Problem.k: self.k}
        found = [column == value for column, value in asked.items() if value is not None]
        of_either = or_(Problem.dtype_a == self.dtype, Problem.dtype_b == self.dtype)
        return [*found, of_either] if self.dtype else found

    def address(self, path: str, **more: object) -> str:
        """Return the URL of a list with these filters and the parameters `more`."""
        words = {"device": self.device, "m": self.m, "n": self.n, "k": self.k, "dtype": self.dtype, **more}
        asked = {name: value for name, value in words.items() if value}
        return f"{path}?{urlencode(asked)}" if asked else path


def problem_words(of: Mapping[str, str]) -> ProblemWords:
    """Parse the filters by problem and device of a URL."""
    said = f"a whole number from 1 to {MAX_DIMENSION:,}"
    wrong = (unread(name, of[name], said) for name in ("m", "n", "k") if of.get(name) and not number(of, name))
    return {
        "device": word(of, "device"),
        "m": number(of, "m"),
        "n": number(of, "n"),
        "k": number(of, "k"),
        "dtype": word(of, "dtype"),
        "unread": (*wrong, *misread(of, "dtype", B_DTYPES)),
    }


def number(of: Mapping[str, str], name: str) -> int | None:
    """A whole number of at most nine digits; None for anything else."""
    said = of.get(name, "")
    return int(said) if said.isascii() and said.isdecimal() and len(said) < 10 else None


def identity(text: str) -> UUID | None:
    """The id that a text is, if it is one."""
    try:
        return UUID(text)
    except ValueError:
        return None


def identity_of(what: str, text: str) -> UUID:
    """The id that a text is.

    Raises:
        NotFound: it is none, so nothing has it.
    """
    if (found := identity(text)) is None:
        raise NotFound(f"no {what} has the id {text[:80]}")
    return found


def word(of: Mapping[str, str], name: str) -> str:
    """Return a parameter of a URL, truncated to what a database can hold."""
    return of.get(name, "")[:200].replace("\0", "")  # PostgreSQL knows no NUL


def misread(of: Mapping[str, str], name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence if a parameter is not one of the known values; nothing if it is valid or missing."""
    said, words = of.get(name, ""), tuple(known)
    return () if not said or said in words else (unread(name, said, f"one of {', '.join(words)}"),)


def unread_id(of: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence if the row that a page comes before is not an id."""
    said = of.get("before", "")
    return () if not said or identity(said) else (unread("before", said, "an id of this list"),)


def unread_number(of: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence if the row that a page comes before is not a number of at most nine digits."""
    said = of.get("before", "")
    return () if not said or number(of, "before") is not None else (unread("before", said, "a number of this list"),)


def unread(name: str, said: str, expected: str) -> str:
    """Return the sentence for an invalid parameter: by the label of its field, if a form has one."""
    return f"{LABELS.get(name, f'{name} (in the address)')}: expected {expected}, got {said[:_SHOWN]!r}."
