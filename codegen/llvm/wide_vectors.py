"""Vectors of at most 16 elements, the most that SPIR-V's vector type holds.

A large 2-D block load leaves its block in private memory, from where MLIR loads it as one wide vector and slices
it. The slices become loads of their own.
"""

import re
from dataclasses import dataclass

from codegen.errors import CompileFailed

MAX_ELEMENTS = 16
_BYTES = {"i8": 1, "i16": 2, "half": 2, "bfloat": 2, "i32": 4, "float": 4, "i64": 8, "double": 8}

_VALUE = r"%[\w.$-]+"
_LOAD = re.compile(rf"\s+(?P<to>{_VALUE}) = load <(?P<n>\d+) x (?P<type>\w+)>, ptr (?P<from>{_VALUE}), align \d+")
_BITCAST = re.compile(rf"\s+(?P<to>{_VALUE}) = bitcast <\d+ x \w+> (?P<from>{_VALUE}) to <\d+ x \w+>")
_SLICE = re.compile(
    rf"\s+(?P<to>{_VALUE}) = shufflevector <\d+ x (?P<type>\w+)> (?P<from>{_VALUE}), <\d+ x \w+> (?:poison|undef), "
    r"<(?P<n>\d+) x i32> (?:<(?P<mask>[^>]*)>|(?P<zero>zeroinitializer))"
)
_ELEMENT = re.compile(
    rf"\s+(?P<to>{_VALUE}) = extractelement <\d+ x (?P<type>\w+)> (?P<from>{_VALUE}), i\d+ (?P<at>\d+)"
)
_NAME = re.compile(_VALUE)


@dataclass(slots=True)
class _WideLoad:
    pointer: str
    pieces: dict[tuple[int, str], str]  # (byte offset, type) -> value


def split_wide_vectors(text: str) -> str:
    """Split every wide load into loads of the slices that are used.

    Raises:
        CompileFailed: a wide vector is used otherwise than by contiguous slices and elements.
    """
    lines = text.split("\n")
    loads: dict[str, _WideLoad] = {}
    alias: dict[str, str] = {}  # a wide value -> the wide load it is
    renamed: dict[str, str] = {}  # a slice -> the narrow load it is
    kept: list[str | _WideLoad] = []
    for line in lines:
        if (m := _LOAD.match(line)) and int(m["n"]) > MAX_ELEMENTS:
            loads[m["to"]] = _WideLoad(m["from"], {})
            alias[m["to"]] = m["to"]
            kept.append(loads[m["to"]])
        elif (m := _BITCAST.match(line)) and m["from"] in alias:
            alias[m["to"]] = alias[m["from"]]
        elif (m := _SLICE.match(line)) and m["from"] in alias:
            renamed[m["to"]] = _piece(loads[alias[m["from"]]], alias[m["from"]], _first(m), int(m["n"]), m["type"])
        elif (m := _ELEMENT.match(line)) and m["from"] in alias:
            renamed[m["to"]] = _piece(loads[alias[m["from"]]], alias[m["from"]], int(m["at"]), 0, m["type"])
        else:
            kept.append(line)
    if not loads:
        return text
    out: list[str] = []
    for item in kept:
        if isinstance(item, _WideLoad):
            out += _narrow_loads(item)
        elif item.startswith("  "):
            out.append(_NAME.sub(lambda m: renamed.get(m[0], m[0]), item))
            _refuse_wide_use(out[-1], alias)
        else:
            out.append(item)
    return "\n".join(out)


def _first(match: re.Match[str]) -> int:
    if match["mask"] is None:
        indices = [0] * int(match["n"])
    else:
        indices = [int(part.split()[-1]) if part.split()[-1].isdigit() else -1 for part in match["mask"].split(",")]
    first, count = indices[0], len(indices)
    if indices != list(range(first, first + count)) or count > MAX_ELEMENTS:
        raise CompileFailed("llvm", f"cannot split a wide vector by the slice {match[0].strip()[:120]}")
    return first


def _piece(load: _WideLoad, name: str, first: int, count: int, element: str) -> str:
    type_ = f"<{count} x {element}>" if count else element
    offset = first * _BYTES[element]
    return load.pieces.setdefault((offset, type_), f"%wide{name[1:]}.at{offset}.{count or 's'}{element}")


def _narrow_loads(load: _WideLoad) -> list[str]:
    out: list[str] = []
    for (offset, type_), value in load.pieces.items():
        alignment = min(64, offset & -offset or 64)
        out.append(f"  {value}.p = getelementptr inbounds i8, ptr {load.pointer}, i64 {offset}")
        out.append(f"  {value} = load {type_}, ptr {value}.p, align {alignment}")
    return out


def _refuse_wide_use(line: str, alias: dict[str, str]) -> None:
    for name in _NAME.findall(line):
        if name in alias:
            raise CompileFailed("llvm", f"cannot split a wide vector used by {line.strip()[:120]}")
