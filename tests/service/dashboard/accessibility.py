"""axe-core on an open page: what it finds that keeps people out."""

from functools import cache
from pathlib import Path

from playwright.sync_api import Page

_AXE = Path(__file__).parent / "vendor" / "axe.min.js"
_RUN = """async () => (await axe.run()).violations.filter((v) => ["serious", "critical"].includes(v.impact))
  .map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).slice(0, 3).join(" | ")}`)"""


@cache
def _source() -> str:
    return _AXE.read_text()


def obstacles(page: Page) -> list[str]:
    """Serious and critical findings, each with the rule and the first elements."""
    page.evaluate(_source())
    return page.evaluate(_RUN)
