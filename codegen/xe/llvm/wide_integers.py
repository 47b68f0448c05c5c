"""Parts of vectors without integers of more than 64 bits, which SPIR-V lacks.

LLVM takes a part of a vector of 16-bit integers as one integer: it casts the vector to integers as wide as the part,
extracts one, and casts that back.
"""

import re

_WHOLE = re.compile(
    r"^  (?P<result>%[\w.$-]+) = bitcast (?P<type><(?P<count>\d+) x [\w.]+>) (?P<of>%[\w.$-]+) "
    r"to <(?P<parts>\d+) x i\d+>\n",
    re.MULTILINE,
)
_PART = re.compile(
    r"^  (?P<result>%[\w.$-]+) = extractelement <\d+ x i(?P<bits>\d+)> (?P<of>%[\w.$-]+), i\d+ (?P<at>\d+)\n",
    re.MULTILINE,
)
_BACK = re.compile(
    r"^  (?P<result>%[\w.$-]+) = bitcast i\d+ (?P<of>%[\w.$-]+) to (?P<type><\d+ x [\w.]+>)$", re.MULTILINE
)
_FUNCTION = re.compile(r"^define [^\n]*{$.*?^}$", re.MULTILINE | re.DOTALL)
_WIDE = re.compile(r"\bi(?:6[5-9]|[7-9]\d|\d{3,})\b")
_MOST_BITS = 64


def take_parts_by_shuffles(text: str) -> str:
    """Replace parts of vectors that are taken as wide integers by shuffles."""
    return _FUNCTION.sub(lambda m: _of_function(m[0]), text) if _WIDE.search(text) else text


def _of_function(text: str) -> str:
    wholes = {m["result"]: m for m in _WHOLE.finditer(text)}
    parts = {m["result"]: m for m in _PART.finditer(text) if int(m["bits"]) > _MOST_BITS and m["of"] in wholes}

    def shuffled(back: re.Match[str]) -> str:
        part = parts.get(back["of"])
        if part is None:
            return back[0]
        whole = wholes[part["of"]]
        count = int(whole["count"]) // int(whole["parts"])
        first, type_ = count * int(part["at"]), whole["type"]
        taken = type_.replace(whole["count"], str(count), 1)
        result = back["result"] if taken == back["type"] else f"%part.{back['result'][1:]}"
        mask = ", ".join(f"i32 {place}" for place in range(first, first + count))
        line = f"  {result} = shufflevector {type_} {whole['of']}, {type_} poison, <{count} x i32> <{mask}>"
        return (
            line
            if taken == back["type"]
            else f"{line}\n  {back['result']} = bitcast {taken} {result} to {back['type']}"
        )

    text = _BACK.sub(shuffled, text)
    return _without_unused(_WHOLE, _without_unused(_PART, text))


def _without_unused(pattern: re.Pattern[str], text: str) -> str:
    """Drop the lines of a pattern whose result nothing uses."""

    def kept(m: re.Match[str]) -> str:
        return m[0] if len(re.findall(rf"{re.escape(m['result'])}(?![\w.$-])", text)) > 1 else ""

    return pattern.sub(kept, text)
