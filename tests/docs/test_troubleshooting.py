"""The messages of docs/troubleshooting.md are messages of the program."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/troubleshooting.md").read_text()
ROOMS = ("hal", "codegen", "tuner", "db", "service", "xetune_client")
BUILT = {  # texts that are put together, and the part of each that a source has
    "refused by rule cannot-predict": "CannotPredict",
    "refused by rule device-target": "device-target",
    "refused by rule dpas-shape": "multiples of the DPAS shape",
    "no answer after 6 attempts": "no answer after {",
    "is not one of 'f16'": None,  # of the parser
    "XETUNE_OCLOC is": None,
    "is for read": "is for {",
    "refused by rule ...": "refused by rule",
}


def test_each_message_is_in_a_source() -> None:
    sources = "\n".join(path.read_text() for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    sources += (ROOT / "Makefile").read_text()
    rows = re.findall(r"^\| `([^`]+)`", PAGE, re.MULTILINE)
    messages = [row for row in rows if " " in row and not row.startswith("/")]
    assert len(messages) > 15
    parts = [part for each in messages if (part := BUILT.get(each, each)) is not None]
    assert [part for part in parts if part not in sources] == []
