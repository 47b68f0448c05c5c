"""The page on the dashboard: it describes every page of the bar, for those who watch it."""

import re
from pathlib import Path

from service.dashboard.rendering import NAVIGATION

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "dashboard.md").read_text()
HEADINGS = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)


def test_every_page_of_the_bar_is_described() -> None:
    missing = [e.title for e in NAVIGATION if not any(e.title.lower().rstrip("s") in h.lower() for h in HEADINGS)]
    assert missing == []


def test_its_links_lead_to_headings_and_files() -> None:
    anchors = {heading.lower().replace(" ", "-") for heading in HEADINGS}
    links = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert {link[1:] for link in links if link.startswith("#")} <= anchors
    files = [link.split("#")[0] for link in links if not link.startswith("#")]
    assert [file for file in files if not (ROOT / "docs" / file).exists()] == []
    assert {"explore", "x-ray"} <= anchors, "other pages link these"


def test_it_names_no_source_file() -> None:
    assert re.findall(r"\w+\.(?:py|js|css|html)\b", TEXT) == []
