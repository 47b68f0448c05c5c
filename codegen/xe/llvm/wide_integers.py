"""Integers of more than 64 bits, which SPIR-V lacks, as vectors.

LLVM takes a part of a vector of 16-bit integers as one integer: it casts the vector to integers as wide as the part and
extracts one, which it stores or casts back.
"""

import re
from collections import Counter

_NAME = r"%[\w.$-]+"
_WIDE = r"i(?:6[5-9]|[7-9]\d|\d{3,})"
_ANY = re.compile(rf"{_WIDE}\b")  # not from a word's beginning: a search for a letter is the fastest
_WHOLE = re.compile(
    rf"^  (?P<result>{_NAME}) = bitcast (?P<type><(?P<count>\d+) x [\w.]+>) (?P<of>{_NAME}) "
    rf"to <(?P<parts>\d+) x {_WIDE}>\n",
    re.MULTILINE,
)
_PART = re.compile(
    rf"^  (?P<result>{_NAME}) = extractelement <\d+ x {_WIDE}> (?P<of>{_NAME}), i\d+ (?P<at>\d+)$", re.MULTILINE
)
_BACK = re.compile(
    rf"^  (?P<result>{_NAME}) = bitcast {_WIDE} (?P<of>{_NAME}) to (?P<type><\d+ x [\w.]+>)\n", re.MULTILINE
)
_STORE = re.compile(rf"^  store {_WIDE} (?P<of>{_NAME}),", re.MULTILINE)
_FUNCTION = re.compile(r"^define [^\n]*{$.*?^}$", re.MULTILINE | re.DOTALL)


def take_parts_as_vectors(text: str) -> str:
    """Replace wide integers that are parts of vectors by vectors; others stay, and the SPIR-V target refuses them."""
    return _FUNCTION.sub(lambda m: _of_function(m[0]), text) if _ANY.search(text) else text


def _of_function(text: str) -> str:
    wholes = {m["result"]: m for m in _WHOLE.finditer(text)}
    types: dict[str, str] = {}

    def taken(m: re.Match[str]) -> str:
        whole = wholes.get(m["of"])
        if whole is None:
            return m[0]
        count = int(whole["count"]) // int(whole["parts"])
        types[m["result"]] = whole["type"].replace(whole["count"], str(count), 1)
        mask = ", ".join(f"i32 {place}" for place in range(count * int(m["at"]), count * (int(m["at"]) + 1)))
        return (
            f"  {m['result']} = shufflevector {whole['type']} {whole['of']}, {whole['type']} poison, "
            f"<{count} x i32> <{mask}>"
        )

    same: dict[str, str] = {}

    def cast_back(m: re.Match[str]) -> str:
        if (type_ := types.get(m["of"])) is None:
            return m[0]
        if type_ == m["type"]:
            same[m["result"]] = m["of"]
            return ""
        return f"  {m['result']} = bitcast {type_} {m['of']} to {m['type']}\n"

    def stored(m: re.Match[str]) -> str:
        return f"  store {types[m['of']]} {m['of']}," if m["of"] in types else m[0]

    text = _STORE.sub(stored, _BACK.sub(cast_back, _PART.sub(taken, text)))
    uses = Counter(re.findall(_NAME, text))
    text = _WHOLE.sub(lambda m: m[0] if uses[m["result"]] > 1 else "", text)
    return re.sub(_NAME, lambda m: same.get(m[0], m[0]), text) if same else text
