"""Instructions of a disassembled kernel, one per line."""

import re
from dataclasses import dataclass

_LABEL = re.compile(r"(\w+):\s*$")
_LINE = re.compile(
    r"\s*(?:\([^)]*\)\s+)*"  # predicates, and whether lanes are masked: (W&~f0.0)
    r"(?P<opcode>[a-z]\w*)(?P<variant>[.\w]*)"
    r"(?:\s+\((?P<lanes>\d+)\|M\d+\))?"
    r"(?P<operands>[^/]*)(?://(?P<note>.*))?$"
)
_ONE_REGISTER = re.compile(r"\s*(r\d+):\w+\s+null:\w+\s+\1:\w+\s+\1\.0:")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. `lanes` is its SIMD width, 0 if not applicable; `note` is the disassembler's comment.

    `targets` are the instructions to which it may jump, by number.
    """

    opcode: str  # "send", "dpas", "mov"
    variant: str  # "ugm" of send.ugm
    lanes: int
    targets: tuple[int, ...]
    note: str


def instructions_of(assembly: str) -> tuple[Instruction, ...]:
    """Return the instructions of a kernel, without the padding at its end."""
    labels: dict[str, int] = {}
    matches: list[re.Match[str]] = []
    for line in assembly.splitlines():
        if label := _LABEL.match(line):
            labels[label[1]] = len(matches)
        elif (match := _LINE.match(line)) and match["opcode"] != "illegal" and not _is_void(match):
            matches.append(match)
    return tuple(_instruction(match, labels) for match in matches)


def _is_void(match: re.Match[str]) -> bool:
    """True for the DPAS of one register for all operands that begins a sequence on DG2."""
    return match["opcode"] == "dpas" and _ONE_REGISTER.match(match["operands"]) is not None


def _instruction(match: re.Match[str], labels: dict[str, int]) -> Instruction:
    targets = tuple(labels[word] for word in re.findall(r"\w+", match["operands"]) if word in labels)
    variant = match["variant"].removeprefix(".")
    return Instruction(match["opcode"], variant, int(match["lanes"] or 0), targets, (match["note"] or "").strip())
