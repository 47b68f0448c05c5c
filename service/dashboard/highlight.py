"""Syntax highlighting of MLIR, LLVM IR, Xe assembly, JSON and C headers by regular expressions; output is
escaped.
"""

import re
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup, escape

MAX_LINES = 3000

_COMMENTS = {".h": r"/\*[\s\S]*?\*/|//[^\n]*", ".ll": r";[^\n]*", ".asm": r"//[^\n]*"}
_COMMENT = r"(?://|;)[^\n]*"
_TOKENS = (
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<value>[%^][\w.$-]+(?:#\d+)?)"
    r"|(?P<symbol>@[\w.$-]+|[#!]\w[\w.]*)"
    r"|(?P<op>\b(?:[a-z_]\w*\.)+[a-z_]\w*\b)"
    r"|(?P<keyword>\b(?:define|declare|call|br|ret|load|store|phi|icmp|fmul|fadd|add|sub|mul|shl|or|and|select"
    r"|zext|sext|trunc|bitcast|insertelement|extractelement|shufflevector|getelementptr|target|attributes)\b)"
    r"|(?P<type>\b(?:[if]\d+|bf16|tf32|index|ptr|void|half|bfloat|float|double|vector|tensor|memref)\b)"
    r"|(?P<number>(?<![\w.])-?\d[\w.+]*)"
)


_XE = (
    r"|(?P<op>\b(?:dpasw?|sendg?s?c?)\b[\w.]*)"
    r"|(?P<keyword>(?<=[ )])(?:mov|add|mul|mad|shl|shr|asr|and|or|xor|not|cmp|sel|jmpi|call|ret|sync|while)"
    r"\b[\w.]*)"
    r"|(?P<value>\b(?:r\d+|acc\d|a0|f[0-3])\b(?:\.\d+)?)"
    r"|(?P<symbol>(?<![\w.])\.?L_?\w+:?|\{[^}\n]*\})"
    r"|(?P<type>:(?:[bu]?[bfwdqh]+|uq|ub|uw|ud|bf|hf)\b)"
    r"|(?P<number>(?<![\w.])-?(?:0x[0-9a-fA-F]+|\d[\d.]*))"
)


@dataclass(frozen=True, slots=True)
class Listing:
    """A text ready to show: escaped markup, its line numbers from `first`, lines of the whole, and those after it."""

    markup: Markup
    numbers: str
    first: int
    lines: int
    left_out: int


def listing(text: str, suffix: str = "", start: int = 1, most: int = MAX_LINES) -> Listing:
    """Return at most `most` highlighted lines of a text from line `start`; `suffix` of the file selects the
    language.
    """
    lines = text.splitlines()
    first = max(1, min(start, len(lines)))
    shown = lines[first - 1 : first - 1 + most]
    numbers = "\n".join(str(i) for i in range(first, first + len(shown)))
    return Listing(_colour("\n".join(shown), suffix), numbers, first, len(lines), len(lines) - first + 1 - len(shown))


def _colour(text: str, suffix: str) -> Markup:
    pieces: list[str] = []
    end = 0
    for match in _token(suffix).finditer(text):
        pieces.append(str(escape(text[end : match.start()])))
        pieces.append(f'<span class="t-{match.lastgroup}">{escape(match.group())}</span>')
        end = match.end()
    pieces.append(str(escape(text[end:])))
    return Markup("".join(pieces))  # every piece above went through escape


@cache
def _token(suffix: str) -> re.Pattern[str]:
    comment = _COMMENTS.get(suffix, _COMMENT)
    return re.compile(f"(?P<comment>{comment})" + (_XE if suffix == ".asm" else _TOKENS))
