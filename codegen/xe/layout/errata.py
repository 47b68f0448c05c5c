"""Where the documents that this compiler follows contradict themselves, and how each place is read here."""

from itertools import groupby

from codegen.xe.layout.errata_block_loads import BLOCK_LOADS
from codegen.xe.layout.errata_xegpu import XEGPU
from codegen.xe.layout.errata_xegpu_work_groups import XEGPU_WORK_GROUPS
from codegen.xe.layout.errata_xetile import XETILE
from codegen.xe.layout.errata_xetile_examples import XETILE_EXAMPLES
from codegen.xe.layout.erratum import Erratum

ERRATA: tuple[Erratum, ...] = (*BLOCK_LOADS, *XEGPU, *XEGPU_WORK_GROUPS, *XETILE, *XETILE_EXAMPLES)
"""Every entry, by document, in the order of its text."""


def errata_tables() -> str:
    """The errata as Markdown: a heading and a table a document."""
    parts: list[str] = []
    for document, entries in groupby(ERRATA, key=lambda e: e.document):
        rows = (f"| {e.where} | {e.says} | {e.should_say} | {e.reason} |" for e in entries)
        parts.append("\n".join((f"### {document}", "", *_HEADING, *rows)))
    return "\n\n".join(parts)


_HEADING = ("| where | says | should say | reason |", "|---|---|---|---|")
