"""A separate pointer for each access with a cache hint.

MLIR annotates the pointer of an access with its hint. LLVM's SPIR-V target decorates what that pointer is
derived from: the pointer to the matrix, which all accesses share. The hint of a prefetch would then apply to
every load too, and two different hints would conflict. A getelementptr of zero bytes gives each annotation
its own pointer.
"""

import re

_ANNOTATION = re.compile(
    r"^(?P<before>\s+(?P<result>%[\w.$-]+) = [a-z ]*call (?P<type>ptr(?: addrspace\(\d+\))?) "
    r"@llvm\.ptr\.annotation\.[\w.]+\()"
    r"(?P=type) (?P<attributes>(?:[a-z]+ )*)(?P<pointer>%[\w.$-]+), ",
)
_ANNOTATES = "@llvm.ptr.annotation."
_HINT_NAME = re.compile(r"((@\.str\.(?:cachecontrol|file))\.\d+)\b")


def separate_cache_hints(text: str) -> str:
    """Annotate a new pointer instead of the shared one; a pointer annotated twice is one pointer."""
    if _ANNOTATES not in text:
        return text
    lines = text.split("\n")
    found = {at: m for at, line in enumerate(lines) if _ANNOTATES in line and (m := _ANNOTATION.match(line))}
    annotated = {m["result"] for m in found.values()}
    number = 0
    for at, m in found.items():
        if m["pointer"] in annotated:
            continue
        number += 1
        own = f"%hinted.{number}"
        step = f"  {own} = getelementptr i8, {m['type']} {m['pointer']}, i64 0\n"
        lines[at] = f"{step}{m['before']}{m['type']} {m['attributes']}{own}, {lines[at][m.end() :]}"
    return _numbered("\n".join(lines))


def _numbered(text: str) -> str:
    """Renumber the names of hints, which MLIR numbers through all modules of a process."""
    names = {name: f"{kind}.{number}" for number, (name, kind) in enumerate(dict.fromkeys(_HINT_NAME.findall(text)))}
    return _HINT_NAME.sub(lambda m: names[m[1]], text)
