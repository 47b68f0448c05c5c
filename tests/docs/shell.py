"""Commands of the documentation: shell lines in indented or fenced blocks of its pages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = tuple(
    sorted(
        page.relative_to(ROOT)
        for page in (
            *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md")),
            *(ROOT / "docs").rglob("*.md"),
        )
        if "site" not in page.relative_to(ROOT).parts
    )
)
PROGRAMS = (
    "xetune|curl|make|python3?|pip|pipx|uvx|docker|cp|rm|cat|sbatch|pg_dump|pg_restore|venv/bin/\\S+|export|apt-get"
    "|helm|kubectl|systemctl|optuna-dashboard"
)
_PROMPT = re.compile(r"\w*\$ ")
_FIRST = re.compile(rf"(?:\w*\$ )?((?:[A-Z_]+=\S+ )*(?:{PROGRAMS})(?: .*)?)$")
_FENCE = re.compile(r"^\s*```(\w*)")


@dataclass(frozen=True, slots=True)
class Command:
    """A command with its page and line, without its prompt."""

    page: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"


def commands() -> list[Command]:
    """Return the commands of all pages, in order."""
    return [command for page in PAGES for command in _commands(page)]


def _commands(page: Path) -> Iterator[Command]:
    lines = iter(enumerate((ROOT / page).read_text().splitlines(), start=1))
    fenced, prompted = "", False
    for number, line in lines:
        if (fence := _FENCE.match(line)) is not None:
            fenced = "" if fenced else fence[1] or "text"
            continue
        in_block = fenced in {"bash", "sh", "console"} or (not fenced and line.startswith("    "))
        if line and not in_block:
            prompted = False
        prompted = prompted or (in_block and _PROMPT.match(line.strip()) is not None)
        found = _FIRST.match(line.strip()) if in_block else None
        if found is None or (prompted and _PROMPT.match(line.strip()) is None):  # the rest is output
            continue
        text = _without_comment(found[1])
        while text.endswith("\\") or text.count("'") % 2:
            text = f"{text}\n{_without_comment(next(lines)[1].strip())}"
        yield Command(str(page), number, text)


def _without_comment(line: str) -> str:
    return re.sub(r"\s+#\s.*$", "", line)
