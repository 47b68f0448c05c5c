"""Vectors of one element, which SPIR-V does not have, are that element.

A block message that leaves one element for each lane leaves it as such a vector.
"""

import re

from codegen.errors import CompileFailed

_TYPE = re.compile(r"<1 x ([\w.]+)>")
_EXTRACTED = re.compile(r"^  (%[\w.$-]+) = extractelement <1 x [\w.]+> (%[\w.$-]+), i\d+ 0\n", re.MULTILINE)
_INSERTED = re.compile(
    r"^  (%[\w.$-]+) = insertelement <1 x [\w.]+> (?:poison|undef), [\w.]+ (%[\w.$-]+), i\d+ 0\n", re.MULTILINE
)
_REPEATED = re.compile(
    r"^  (?P<result>%[\w.$-]+) = shufflevector <1 x (?P<type>[\w.]+)> (?P<of>%[\w.$-]+), "
    r"<1 x [\w.]+> (?:poison|undef), <(?P<length>\d+) x i32> (?:zeroinitializer|poison|undef)$",
    re.MULTILINE,
)
_NAME = re.compile(r"%[\w.$-]+")
_FUNCTION = re.compile(r"^define [^\n]*{$.*?^}$", re.MULTILINE | re.DOTALL)
_UNKNOWN = re.compile(
    r"^(?=.*<1 x )(?=.*(?:element | shufflevector | call |splat|zeroinitializer|<1 x [\w.]+> <)).*$", re.MULTILINE
)


def take_single_elements(text: str) -> str:
    """Let every function have the element in place of a vector of one.

    Raises:
        CompileFailed: such a vector is used in a way that is not known.
    """
    return _FUNCTION.sub(lambda m: _of_function(m[0]), text) if "<1 x " in text else text


def _of_function(text: str) -> str:
    same: dict[str, str] = {}
    text = _REPEATED.sub(_repeated, text)
    for pattern in (_EXTRACTED, _INSERTED):
        same.update(pattern.findall(text))
        text = pattern.sub("", text)
    if (unknown := _UNKNOWN.search(text)) is not None:
        raise CompileFailed("llvm", f"cannot take the element of a vector of one: {unknown[0].strip()}")
    return _NAME.sub(lambda m: _meaning(m[0], same), _TYPE.sub(r"\1", text))


def _repeated(m: re.Match[str]) -> str:
    """The element, put into a vector and repeated there."""
    one = f"%repeated.{m['result'][1:]}"
    vector, lanes = f"<{m['length']} x {m['type']}>", f"<{m['length']} x i32> zeroinitializer"
    first = f"  {one} = insertelement {vector} poison, {m['type']} {m['of']}, i64 0\n"
    return f"{first}  {m['result']} = shufflevector {vector} {one}, {vector} poison, {lanes}"


def _meaning(name: str, same: dict[str, str]) -> str:
    while name in same:
        name = same[name]
    return name
