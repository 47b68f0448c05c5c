"""Places in the source of instructions of LLVM IR, from calls that mark them."""

import re
from dataclasses import dataclass

from codegen.errors import Place

_NAME = "xetune_place_"
_MARK = re.compile(rf"^(?:tail )?call spir_func void @{_NAME}(\d+)_(\d+)\(\)")
_DECLARATION = re.compile(rf"^declare [^\n]*@{_NAME}[^\n]*\n", re.MULTILINE)
_METADATA = re.compile(r"(?:, ![\w.]+ ![\w.]+)+$")


@dataclass(frozen=True, slots=True)
class TracedModule:
    """LLVM IR without marks, and the places of its instructions by their text."""

    text: str
    places: dict[str, Place]


def mark_name(line: int, column: int) -> str:
    """Return the name of the function whose call marks a place."""
    return f"{_NAME}{line}_{column}"


def take_marks(text: str) -> TracedModule:
    """Remove the marks of a module; instructions up to the next mark have its place.

    Instructions of the same text at several places, stores for example, have none.
    """
    kept: list[str] = []
    places: dict[str, Place] = {}
    several: set[str] = set()
    now: Place | None = None
    for line in text.split("\n"):
        code = _METADATA.sub("", line.strip())
        if (found := _MARK.match(code)) is not None:
            now = Place(int(found[1]), int(found[2]))
            continue
        kept.append(line)
        if line.startswith("}"):
            now = None
        elif now is not None and places.setdefault(code, now) != now:
            several.add(code)
    return TracedModule(_DECLARATION.sub("", "\n".join(kept)), {c: p for c, p in places.items() if c not in several})
