"""Truncation of vectors to i1 as comparison of the lowest bits: on some, LLVM's SPIR-V target aborts."""

import re

_TRUNCATION = re.compile(
    r"^  %(?P<result>[\w.$-]+) = trunc (?:nuw |nsw )*(?P<type><\d+ x (?P<element>i\d+)>) (?P<of>[^\s,]+) to <\d+ x i1>",
    re.MULTILINE,
)


def expand_bit_truncations(text: str) -> str:
    """Replace truncations of vectors to i1."""
    return _TRUNCATION.sub(_compared, text) if " x i1>" in text else text


def _compared(m: re.Match[str]) -> str:
    low = f"%low.{m['result']}"
    return (
        f"  {low} = and {m['type']} {m['of']}, splat ({m['element']} 1)\n"
        f"  %{m['result']} = icmp ne {m['type']} {low}, zeroinitializer"
    )
