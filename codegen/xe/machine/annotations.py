"""Annotations of an instruction in braces: the software scoreboard, and options."""

import re
from functools import lru_cache

from codegen.xe.machine.instruction import Distance, Pipe, Token, TokenUse

_DISTANCE = re.compile(r"(?P<pipe>[FILMSA]?)@(?P<count>\d+)")
_TOKEN = re.compile(r"\$(?P<number>\d+)(?:\.(?P<use>dst|src))?")
_OPTIONS = frozenset(
    {"Compacted", "Atomic", "EOT", "AccWrEn", "ExBSO", "NoAccSBSet", "Switch", "Serialize", "NoPreempt"}
)


class UnknownAnnotation(ValueError):
    """An annotation that is not known."""


@lru_cache(maxsize=1024)
def annotations(text: str) -> tuple[Distance | None, tuple[Token, ...], tuple[str, ...]]:
    """Parse the text between the braces: a register distance, tokens, options.

    Raises:
        UnknownAnnotation: a part is not known, or there are two distances.
    """
    distance: Distance | None = None
    tokens: list[Token] = []
    options: list[str] = []
    for part in filter(None, text.split(",")):
        if m := _DISTANCE.fullmatch(part):
            if distance is not None:
                raise UnknownAnnotation(f"two distances in {{{text}}}")
            distance = Distance(Pipe(m["pipe"]), int(m["count"]))
        elif m := _TOKEN.fullmatch(part):
            tokens.append(Token(int(m["number"]), TokenUse(m["use"] or "")))
        elif part in _OPTIONS:
            options.append(part)
        else:
            raise UnknownAnnotation(f"annotation {part}")
    return distance, tuple(tokens), tuple(options)
