"""A small kernel for one form of one operation, read from the files of this folder."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from string import Template

from codegen.xe.subgroup import subgroup_size

_SUBGROUPS = 6
_SEPARATOR = "// -----\n"
_OTHER_BODY = "// at sub-group level\n"


class Level(StrEnum):
    """Level at which a kernel is written."""

    WORKGROUP = "work-group"
    SUBGROUP = "sub-group"
    WORK_ITEM = "work-item"


@dataclass(frozen=True, slots=True)
class Case:
    """One form of an operation: the kernel's text at each level that has it, and its arguments.

    `missing` says why one of the first two levels lacks it. `values` are arguments that do not follow from their types:
    numbers, or types of arrays. Random elements of arrays are within `integers` or `floats`. Results may differ by
    `tolerance`, relative and absolute; 0 for moves of elements. `groups` are launched; `subgroups` are those of one
    below work-group level. `lanes` is the size of sub-groups that the kernel is written for, None for any.
    """

    operation: str
    form: str
    sources: Mapping[Level, str]
    missing: str
    values: Mapping[str, int | float | str]
    integers: tuple[int, int]
    floats: tuple[float, float]
    tolerance: float
    groups: int
    subgroups: int
    lanes: int | None = None

    @property
    def name(self) -> str:
        """`xetile.load_tile: padding`."""
        return f"{self.operation}: {self.form}" if self.form else self.operation

    def block(self, level: Level) -> tuple[int, int, int]:
        """Return the work-items of a work-group."""
        return subgroup_size() * (_SUBGROUPS if level is Level.WORKGROUP else self.subgroups), 1, 1


def cases_of(file: Path) -> tuple[Case, ...]:
    """Parse the cases of a file.

    Its head defines aliases. Each chunk then starts with `// operation: form` and may go on with `// KIND = a b c`
    (one case for each of these, which stand for `$KIND`), `// with x = 3, A = 16x48xf32`, `// only LEVEL: reason`,
    `// integers LOW HIGH`, `// floats LOW HIGH`, `// tolerance T`, `// groups N`, `// subgroups N` and `// lanes N`.
    The kernel is that at work-group level. At sub-group level it is the same without the maps that it names, or another
    one after `// at sub-group level`. With `// work-items` in front the kernel is at work-item level, and at no other.
    """
    head, *chunks = file.read_text().split(_SEPARATOR)
    aliases = "".join(f"{line}\n" for line in head.splitlines() if line[:1] in ("#", "!"))
    return tuple(_case(text, aliases) for chunk in chunks for text in _expanded(chunk))


def without_maps(text: str) -> str:
    """Remove the aliases of maps, and their uses, from the text of a module."""
    names = "|".join(re.findall(r"^#(\w+) = .*sg_layout", text, re.MULTILINE))
    if not names:
        return text
    use = rf"(?:\w+ = )?#(?:{names})\b"
    for pattern in (
        r"(?m)^#\w+ = .*sg_layout.*\n",
        rf",\s*{use}",
        rf"{use}(?:,\s*)?",
        r", #xetile\.tile_attr<>",
        r" *(<\{\}>|\{\})",
    ):
        text = re.sub(pattern, "", text)
    return text


def _expanded(chunk: str) -> Iterator[str]:
    """Yield a chunk for each combination of the values of its keys."""
    keys = dict(re.findall(r"^// ([A-Z]+) = (.+)$", chunk, re.MULTILINE))
    rest = re.sub(r"^// [A-Z]+ = .+\n", "", chunk, flags=re.MULTILINE)
    for values in itertools.product(*(said.split() for said in keys.values())):
        yield Template(rest).substitute(dict(zip(keys, values, strict=True)))


def _case(text: str, aliases: str) -> Case:
    title, said, kernel = _directives(text)
    workgroup, _, other = kernel.partition(_OTHER_BODY)
    sources = {
        Level.WORKGROUP: _module(aliases, workgroup),
        Level.SUBGROUP: without_maps(_module(aliases, other or workgroup)),
    }
    if any(key == "work-items" for key, _ in said):
        sources = {Level.WORK_ITEM: _module(aliases, kernel)}
    only = dict(_of_a_level(value) for key, value in said if key == "only")
    words = {key: value.split() for key, value in said}
    (low, high), (least, most) = words.get("integers", ("-100", "100")), words.get("floats", ("-2", "2"))
    operation, _, form = title.partition(": ")
    return Case(
        operation=operation,
        form=form,
        sources={level: source for level, source in sources.items() if level in (only or sources)},
        missing="".join(only.values()),
        values=dict(_value(pair) for key, value in said if key == "with" for pair in value.split(", ")),
        integers=(int(low), int(high)),
        floats=(float(least), float(most)),
        tolerance=float(words.get("tolerance", "0")[0]),
        groups=int(words.get("groups", "1")[0]),
        subgroups=int(words.get("subgroups", "1")[0]),
        lanes=int(words["lanes"][0]) if "lanes" in words else None,
    )


def _directives(text: str) -> tuple[str, Sequence[tuple[str, str]], str]:
    """Split a chunk into its title, its directives (word and rest), and the kernel."""
    lines = text.splitlines(keepends=True)
    count = next(i for i, line in enumerate(lines) if not line.startswith("// "))
    title, *said = (line.removeprefix("// ").strip() for line in lines[:count])
    return title, [(line.partition(" ")[0], line.partition(" ")[2]) for line in said], "".join(lines[count:])


def _module(aliases: str, kernel: str) -> str:
    return f"{aliases}gpu.module @m {{\n{kernel}}}\n"


def _of_a_level(said: str) -> tuple[Level, str]:
    level, _, rest = said.partition(": ")
    return Level(level), rest


def _value(pair: str) -> tuple[str, int | float | str]:
    name, _, value = pair.partition(" = ")
    if "x" in value:
        return name, value
    return name, float(value) if "." in value else int(value)
