"""Conversion of one-element vectors, which SPIR-V lacks, to scalars.

A block message with one element per lane returns such a vector.
"""

import re

from codegen.errors import CompileFailed

_TYPE = re.compile(r"<1 x ([\w.]+)>")
_EXTRACTED = re.compile(r"  (%[\w.$-]+) = extractelement <1 x [\w.]+> (%[\w.$-]+), i\d+ 0")
_INSERTED = re.compile(r"  (%[\w.$-]+) = insertelement <1 x [\w.]+> (?:poison|undef), [\w.]+ (%[\w.$-]+), i\d+ 0")
_REPEATED = re.compile(
    r"  (?P<result>%[\w.$-]+) = shufflevector <1 x (?P<type>[\w.]+)> (?P<of>%[\w.$-]+), "
    r"<1 x [\w.]+> (?:poison|undef), <(?P<length>\d+) x i32> "
    r"(?:zeroinitializer|poison|undef|<i32 0(?:, i32 (?:0|poison|undef))*>)"
)
_TAKEN = re.compile(
    r"  (?P<result>%[\w.$-]+) = shufflevector (?P<type><(?P<length>\d+) x [\w.]+>) (?P<of>[^\s,]+), <\d+ x [\w.]+> "
    r"(?P<other>[^\s,]+), <1 x i32> (?:zeroinitializer|<i32 (?P<at>\d+)>)"
)
_JOINED = re.compile(
    r"  (?P<result>%[\w.$-]+) = shufflevector <1 x (?P<type>[\w.]+)> (?P<first>%[\w.$-]+), "
    r"<1 x [\w.]+> (?P<second>%[\w.$-]+), <(?P<length>\d+) x i32> <(?P<mask>i32 [^>]*)>"
)
_NAME = re.compile(r"(%[\w.$-]+)")
_FUNCTION = re.compile(r"^define [^\n]*{$.*?^}$", re.MULTILINE | re.DOTALL)
_INTRINSIC = re.compile(r"(@llvm\.[\w.]+?)\.v1([fi]\d+)\b")
_DECLARED = re.compile(r"^declare [^\n]*(?P<name>@llvm\.[\w.]+\.v1[fi]\d+)\([^\n]*\n", re.MULTILINE)
_SPLAT = re.compile(r"(?:splat \(|<)(?:[\w.]+) ([^\s()<>]+)[)>]")
_ZERO = re.compile(r"<1 x (?P<type>[\w.]+)> zeroinitializer\b")
_LONGER = re.compile(r"<(?:[2-9]|\d\d+) x ")
_UNKNOWN = re.compile(r"element | shufflevector | call |splat|zeroinitializer|<1 x [\w.]+> <")


def take_single_elements(text: str) -> str:
    """Replace vectors of one element by scalars in every function.

    Raises:
        CompileFailed: a use of such a vector is not supported.
    """
    if "<1 x " not in text:
        return text
    needed = {_of_scalars(m["name"] + "("): _of_scalars(m[0]) for m in _DECLARED.finditer(text)}
    text = _FUNCTION.sub(lambda m: _of_function(m[0]), _DECLARED.sub("", text))
    declared = "\n".join(line for line in text.split("\n") if line.startswith("declare "))
    return text + "".join(line for name, line in needed.items() if name not in declared)


def _of_scalars(line: str) -> str:
    """Return a line with the scalar form of its intrinsic function."""
    return _INTRINSIC.sub(r"\1.\2", _TYPE.sub(r"\1", line))


def _of_function(text: str) -> str:
    same: dict[str, str] = {}
    lines: list[str] = []
    for line in text.split("\n"):  # patterns look at the few lines with such vectors alone: a text is long
        if "<1 x " in line:
            for pattern, form in _FORMS:
                if (found := pattern.fullmatch(line)) is not None:
                    line = form(found)
            if (found := _EXTRACTED.fullmatch(line) or _INSERTED.fullmatch(line)) is not None:
                same[found[1]] = found[2]
                continue
            line = _plain_line(line)
            if "<1 x " in line and _UNKNOWN.search(line):
                raise CompileFailed("llvm", f"cannot take the element of a vector of one: {line.strip()}")
            line = _TYPE.sub(r"\1", line)
        lines.append(line)
    meanings = {name: _meaning(name, same) for name in same}
    return "".join([meanings.get(part, part) for part in _NAME.split("\n".join(lines))])


def _plain_line(line: str) -> str:
    """Rewrite intrinsic calls and constants of a line without other vectors that is not a shuffle."""
    if "<1 x " not in line or " shufflevector " in line or _LONGER.search(line):
        return line
    line = _ZERO.sub(lambda m: f"{m['type']} {'0' if m['type'].startswith('i') else '0.0'}", line)
    if "@llvm." in line:
        line = _of_scalars(line)
    return line if "splat (" not in line else _SPLAT.sub(r"\1", line)


def _repeated(m: re.Match[str]) -> str:
    """Insert the element into a vector and repeat it."""
    one = f"%repeated.{m['result'][1:]}"
    vector, lanes = f"<{m['length']} x {m['type']}>", f"<{m['length']} x i32> zeroinitializer"
    first = f"  {one} = insertelement {vector} poison, {m['type']} {m['of']}, i64 0\n"
    return f"{first}  {m['result']} = shufflevector {vector} {one}, {vector} poison, {lanes}"


def _taken(m: re.Match[str]) -> str:
    """Extract one element of a longer vector, or of the second operand of the shuffle."""
    at, length = int(m["at"] or 0), int(m["length"])
    if length == 1:
        return m[0]
    of, at = (m["of"], at) if at < length else (m["other"], at - length)
    return f"  {m['result']} = extractelement {m['type']} {of}, i64 {at}"


def _joined(m: re.Match[str]) -> str:
    """Insert the elements of two vectors into one, in order."""
    vector, result = f"<{m['length']} x {m['type']}>", m["result"]
    sources = [entry.split()[-1] for entry in m["mask"].split(",")]
    places = [(at, m["second"] if source == "1" else m["first"]) for at, source in enumerate(sources) if source in "01"]
    if not places or int(m["length"]) == 1:
        return m[0]
    names = [*(f"%joined.{at}.{result[1:]}" for at, _ in places[:-1]), result]
    lines: list[str] = []
    before = "poison"
    for name, (at, element) in zip(names, places, strict=True):
        lines.append(f"  {name} = insertelement {vector} {before}, {m['type']} {element}, i64 {at}")
        before = name
    return "\n".join(lines)


_FORMS = ((_REPEATED, _repeated), (_JOINED, _joined), (_TAKEN, _taken))


def _meaning(name: str, same: dict[str, str]) -> str:
    while name in same:
        name = same[name]
    return name
