"""docs/layouts.md: its snippets print what it shows, and its errata are those of the code."""

import contextlib
import io
import re
from pathlib import Path

from codegen.xe.layout import ERRATA
from codegen.xe.layout.errata import errata_tables

PAGE = (Path(__file__).parents[3] / "docs" / "layouts.md").read_text()
SNIPPET = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


def test_snippets_print_what_the_page_shows() -> None:
    names: dict[str, object] = {}
    for code, shown in SNIPPET.findall(PAGE):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue() == shown, code


def test_the_page_has_the_errata() -> None:
    _, _, section = PAGE.partition("\n## Errata of the documents\n")
    assert section.partition("\n### ")[2] == errata_tables().removeprefix("### ") + "\n"


def test_entries_are_whole_and_distinct() -> None:
    assert len({(e.document, e.where) for e in ERRATA}) == len(ERRATA)
    for entry in ERRATA:
        cells = (entry.where, entry.says, entry.should_say, entry.reason)
        assert all(cells)
        assert not any("|" in cell or "\n" in cell for cell in cells)
        assert entry.says != entry.should_say
