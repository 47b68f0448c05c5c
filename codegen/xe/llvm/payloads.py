"""Prefetches in loops with a reused address payload, for Intel's graphics compiler only.

The compiler reuses the payload of a load between iterations, but rebuilds that of a prefetch: seven moves
each. Its undocumented built-ins create a payload, set its column and row, and prefetch with it. Source:
Intel's graphics compiler, LSCFuncsResolution.
"""

import re
from collections.abc import Iterator
from enum import StrEnum


class Prefetches(StrEnum):
    """Implementation of block prefetches: the documented built-in, or in loops reused payloads."""

    PORTABLE = "portable"
    PAYLOADS = "payloads"


_PREFETCH = re.compile(
    r"^  (?:tail )?call spir_func void @_Z\d+intel_sub_group_2d_block_prefetch_"
    r"(?P<bits>\d+)b_(?P<rows>\d+)r(?P<width>\d+)x(?P<count>\d+)c\w+"
    r"\(ptr addrspace\(1\) (?:[a-z]+ )*(?P<pointer>\S+), i32 (?P<w>\S+), i32 (?P<h>\S+), i32 (?P<pitch>\S+), "
    r"<2 x i32> (?P<place>%[\w.$-]+)\)"
)
_INSERT = re.compile(
    r"^  (?P<result>%\S+) = insertelement <2 x i32> (?P<of><[^>]*>|\S+), i32 (?P<value>\S+), i64 (?P<at>[01])"
)
_HINT = re.compile(r"^@(?P<name>\S+) = .* c\"\{6442:\\22(?P<level>[01]),(?P<control>\d)\\22\}")
_ANNOTATION = re.compile(
    r"^  (?P<result>%\S+) = (?:tail )?call ptr addrspace\(1\) @llvm\.ptr\.annotation\.[\w.]+\("
    r"ptr addrspace\(1\) (?:[a-z]+ )*(?P<of>%[\w.$-]+), ptr addrspace\(1\) (?:[a-z]+ )*@(?P<hint>[\w.$-]+), "
)
_STEP = re.compile(r"^  (?P<result>%\S+) = getelementptr i8, ptr addrspace\(1\) (?P<of>%[\w.$-]+), i64 0$")
_RESULT = re.compile(r"^  (%[\w.$-]+) = ")
_PARAMETER = re.compile(r"%[\w.$-]+")
_PREFIX = "__builtin_IB_subgroup_"
_CREATE, _SET = f"@{_PREFIX}createBlock2DAddressPayload", f"@{_PREFIX}setBlock2DAddressPayloadBlock"
_UNCACHED, _CACHED, _STREAMING = range(3)
# Source: Intel's graphics compiler, LSC_LDCC. Keys: SPIR-V decoration hints of the two cache levels.
_CONTROLS = {
    (_UNCACHED, _UNCACHED): 1,
    (_UNCACHED, _CACHED): 2,
    (_CACHED, _UNCACHED): 3,
    (_CACHED, _CACHED): 4,
    (_STREAMING, _UNCACHED): 5,
    (_STREAMING, _CACHED): 6,
}
_UNHINTED = _CACHED, _CACHED
_AXES = "XY"


def reuse_payloads(text: str) -> str:
    """Share address payloads among prefetches of matrices that are known at the start of the kernel."""
    lines, declared = text.splitlines(), set[str]()
    hints = {m["name"]: (int(m["level"]), int(m["control"])) for line in lines if (m := _HINT.match(line))}
    out: list[str] = []
    for function in _functions(lines):
        out += _Function(function, hints, declared).rewritten() if function[0].startswith("define ") else function
    return "\n".join([*out, *sorted(declared)]) + "\n"


def _functions(lines: list[str]) -> Iterator[list[str]]:
    """Yield function definitions, and other lines one by one."""
    start: int | None = None
    for at, line in enumerate(lines):
        if line.startswith("define "):
            start = at
        elif start is None:
            yield [line]
        elif line == "}":
            yield lines[start : at + 1]
            start = None


class _Function:
    def __init__(self, lines: list[str], hints: dict[str, tuple[int, int]], declared: set[str]) -> None:
        self._lines, self._hints, self._declared = lines, hints, declared
        labels = (at for at, line in enumerate(lines) if re.match(r"^[\w.$-]+:", line))
        self._entry = next((at for at in labels if at > 1), len(lines)) - 1  # the first block may have a label, too
        while self._entry > 0 and not self._lines[self._entry].startswith("  "):
            self._entry -= 1
        at_start = [m[1] for line in lines[: self._entry] if (m := _RESULT.match(line))]
        self._at_start = {*_PARAMETER.findall(lines[0]), *at_start}
        self._same = {m["result"]: m for line in lines if (m := _STEP.match(line) or _ANNOTATION.match(line))}
        self._inserts = {m["result"]: m for line in lines if (m := _INSERT.match(line))}

    def rewritten(self) -> list[str]:
        """Return the function's lines; its first block ends with the creation of the payloads."""
        made: list[str] = []
        rest: list[str] = []
        for line in self._lines[self._entry :]:
            m = _PREFETCH.match(line)
            rest += [line] if m is None else self._prefetch(m, made) or [line]
        return [*self._lines[: self._entry], *made, *rest]

    def _prefetch(self, m: re.Match[str], made: list[str]) -> list[str] | None:
        place = self._coordinates(m["place"])
        pointer, control = self._hinted(m["pointer"])
        if place is None or control is None or not all(map(self._is_known, (pointer, m["w"], m["h"], m["pitch"]))):
            return None
        name, one = f"%payload.{len(made)}", [self._less_one(m[key], made) for key in ("w", "h", "pitch")]
        first = [value if self._is_known(value) else "0" for value in place]
        made.append(f"  {name}.base = ptrtoint ptr addrspace(1) {pointer} to i64")
        numbers = ", ".join(f"i32 {n}" for n in (*one, *first, m["width"], m["rows"], m["count"]))
        made.append(f"  {name} = call spir_func ptr {_CREATE}(i64 {name}.base, {numbers})")
        self._declared.add(f"declare spir_func ptr {_CREATE}(i64, {', '.join(['i32'] * 8)})")
        out: list[str] = []
        for axis, value in zip(_AXES, place, strict=True):
            if not self._is_known(value):
                out.append(f"  call spir_func void {_SET}{axis}(ptr {name}, i32 {value})")
                self._declared.add(f"declare spir_func void {_SET}{axis}(ptr, i32)")
        function = f"@{_PREFIX}block_read_ap_prefetch_u{m['bits']}_m{m['rows']}k{m['width']}v{m['count']}"
        self._declared.add(f"declare spir_func void {function}(ptr, i32, i32, i32)")
        return [*out, f"  call spir_func void {function}(ptr {name}, i32 0, i32 0, i32 {control})"]

    def _hinted(self, pointer: str) -> tuple[str, int | None]:
        """Return the pointer without its hints, and the built-in's number for them."""
        controls = dict(enumerate(_UNHINTED))
        while pointer in self._same and not self._is_known(pointer):
            m = self._same[pointer]
            hint = m.groupdict().get("hint")
            if hint is not None and hint not in self._hints:
                return pointer, None
            controls |= [] if hint is None else [self._hints[hint]]
            pointer = m["of"]
        return pointer, _CONTROLS.get((controls[0], controls[1]))

    def _coordinates(self, place: str) -> tuple[str, str] | None:
        """Return column and row of a block, as inserted into the vector."""
        found: dict[int, str] = {}
        while place in self._inserts:
            m = self._inserts[place]
            found.setdefault(int(m["at"]), m["value"])
            place = m["of"]
        if place.startswith("<"):
            for at, number in enumerate(place[1:-1].split(", ")):
                found.setdefault(at, number.split(" ")[1])
        return (found[0], found[1]) if len(found) == 2 else None

    def _is_known(self, value: str) -> bool:
        """True if a value is a constant, or available at the end of the first block."""
        return not value.startswith("%") or value in self._at_start

    def _less_one(self, value: str, made: list[str]) -> str:
        if not value.startswith("%"):
            return str(int(value) - 1)
        made.append(f"  %payload.{len(made)}.extent = add i32 {value}, -1")
        return f"%payload.{len(made) - 1}.extent"
