"""Lists of what belongs to problems on devices: what their addresses ask for, read and written in one way."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict
from urllib.parse import urlencode
from uuid import UUID

from sqlalchemy import ColumnElement

from db.models import Problem

_NO_SIZE = -1


class ProblemWords(TypedDict):
    """The fields of a `ProblemFilter`."""

    device: str
    m: int | None
    n: int | None
    k: int | None
    dtype: str


@dataclass(frozen=True, slots=True)
class ProblemFilter:
    """Which problems on which device a reader asked for; of what cannot be meant there are none."""

    device: str = ""
    m: int | None = None
    n: int | None = None
    k: int | None = None
    dtype: str = ""

    def conditions(self) -> list[ColumnElement[bool]]:
        """What holds of the problems."""
        asked = {Problem.m: self.m, Problem.n: self.n, Problem.k: self.k, Problem.dtype_a: self.dtype or None}
        return [column == value for column, value in asked.items() if value is not None]

    def address(self, path: str, **more: object) -> str:
        """The address of a list of these, with `more` of its own."""
        words = {"device": self.device, "m": self.m, "n": self.n, "k": self.k, "dtype": self.dtype, **more}
        asked = {name: value for name, value in words.items() if value}
        return f"{path}?{urlencode(asked)}" if asked else path


def problem_words(of: Mapping[str, str]) -> ProblemWords:
    """What the words of an address ask for of problems and devices."""
    return {
        "device": _text(of, "device", 200),
        "m": _size(of, "m"),
        "n": _size(of, "n"),
        "k": _size(of, "k"),
        "dtype": _text(of, "dtype", 8),
    }


def number(of: Mapping[str, str], name: str) -> int | None:
    """A whole number of at most nine digits; None for anything else."""
    word = of.get(name, "")
    return int(word) if word.isascii() and word.isdecimal() and len(word) < 10 else None


def _size(of: Mapping[str, str], name: str) -> int | None:
    """A size that is asked for; one that no problem has where the word is no such number."""
    return (number(of, name) or _NO_SIZE) if of.get(name) else None


def identity(text: str) -> UUID | None:
    """The id that a text is, if it is one."""
    try:
        return UUID(text)
    except ValueError:
        return None


def _text(of: Mapping[str, str], name: str, most: int) -> str:
    return of.get(name, "")[:most].replace("\0", "")  # PostgreSQL knows no NUL
