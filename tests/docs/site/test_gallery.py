"""The gallery's page has the commands of its script, and predictions of this version's model."""

import re
from pathlib import Path

from docs.site.gallery import ENTRIES
from tuner.model.xe import MODEL_VERSION

PAGE = (Path(__file__).parents[3] / "docs/gallery.md").read_text()


def test_each_entry_is_on_the_page() -> None:
    assert re.findall(r"^    xetune tune (.*)$", PAGE, re.MULTILINE) == [entry.tuned for entry in ENTRIES]


def test_its_predictions_are_of_this_model() -> None:
    assert re.findall(r"predicted, (\S+) \|", PAGE) == [MODEL_VERSION] * len(ENTRIES)


def test_every_kernel_is_proven_accepted_and_keeps_registers() -> None:
    for line in ("| proof | machine code of ", "| driver | accepted by ", ", 0 bytes spilled |"):
        assert PAGE.count(line) == len(ENTRIES), line
