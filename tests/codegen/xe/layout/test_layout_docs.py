"""docs/layouts.md: its snippets print what it shows."""

import contextlib
import io
import re
from pathlib import Path

PAGE = (Path(__file__).parents[4] / "docs" / "layouts.md").read_text()
SNIPPET = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


def test_snippets_print_what_the_page_shows() -> None:
    names: dict[str, object] = {}
    for code, shown in SNIPPET.findall(PAGE):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue() == shown, code
