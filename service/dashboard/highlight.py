"""Colours for MLIR, LLVM IR, JSON and C headers: one regular expression for each, output already escaped."""

import re
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup, escape

MAX_LINES = 3000

_COMMENTS = {".h": r"/\*[\s\S]*?\*/|//[^\n]*", ".ll": r";[^\n]*"}
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


@dataclass(frozen=True, slots=True)
class Listing:
    """A text ready to show: escaped markup, its line numbers, and the lines that were left out."""

    markup: Markup
    numbers: str
    lines: int
    left_out: int


def listing(text: str, suffix: str = "") -> Listing:
    """The first lines of a text with colours, of a file whose name ends so; the rest is in the download."""
    lines = text.splitlines()
    shown = lines[:MAX_LINES]
    numbers = "\n".join(str(i) for i in range(1, len(shown) + 1))
    return Listing(_colour("\n".join(shown), suffix), numbers, len(lines), len(lines) - len(shown))


def _colour(text: str, suffix: str) -> Markup:
    pieces: list[str] = []
    end = 0
    for match in _token(_COMMENTS.get(suffix, _COMMENT)).finditer(text):
        pieces.append(str(escape(text[end : match.start()])))
        pieces.append(f'<span class="t-{match.lastgroup}">{escape(match.group())}</span>')
        end = match.end()
    pieces.append(str(escape(text[end:])))
    return Markup("".join(pieces))  # every piece above went through escape


@cache
def _token(comment: str) -> re.Pattern[str]:
    return re.compile(f"(?P<comment>{comment})" + _TOKENS)
