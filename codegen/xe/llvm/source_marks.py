"""Places in the source of instructions of LLVM IR, from calls that mark them."""

import re
from dataclasses import dataclass

from codegen.errors import Place

_NAME = "xetune_place_"
_MARK = re.compile(rf"^(?:tail )?call spir_func void @{_NAME}(\d+)_(\d+)\(\)")
_DECLARATION = re.compile(rf"^declare [^\n]*@{_NAME}[^\n]*\n", re.MULTILINE)
_FUNCTION = re.compile(r'^define [^@]*@"?([\w.$-]+)')
_BLOCK = re.compile(r'^"?([\w.$-]+)"?:')
_METADATA = re.compile(r"(?:, ![\w.]+ ![\w.]+)+$")


@dataclass(frozen=True, slots=True)
class TracedModule:
    """LLVM IR without marks, the places of its instructions by their text, and of its blocks by function and label."""

    text: str
    places: dict[str, Place]
    blocks: dict[tuple[str, str], Place]


def mark_name(line: int, column: int) -> str:
    """Return the name of the function whose call marks a place."""
    return f"{_NAME}{line}_{column}"


def take_marks(text: str) -> TracedModule:
    """Remove the marks of a module; instructions up to the next mark have its place, and a block that of its first.

    Instructions of the same text at several places, stores for example, have none.
    """
    kept: list[str] = []
    places: dict[str, Place] = {}
    several: set[str] = set()
    blocks: dict[tuple[str, str], Place] = {}
    now, block = None, ("", "")
    for line in text.split("\n"):
        code = _METADATA.sub("", line.strip())
        if (found := _MARK.match(code)) is not None:
            now = Place(int(found[1]), int(found[2]))
            blocks.setdefault(block, now)
            continue
        if (opened := _FUNCTION.match(line)) is not None:
            block = opened[1], ""
        elif (labelled := _BLOCK.match(line)) is not None:
            block = block[0], labelled[1]
        kept.append(line)
        if line.startswith("}"):
            now = None
        elif now is not None and places.setdefault(code, now) != now:
            several.add(code)
    alone = {code: place for code, place in places.items() if code not in several}
    return TracedModule(_DECLARATION.sub("", "\n".join(kept)), alone, blocks)
