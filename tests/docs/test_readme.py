"""README: short, its links lead somewhere, and its table of GPUs is what the program says."""

import re
from pathlib import Path

import pytest

from hal.driver.simulated_gpus import simulated_gpu
from hal.facts.needs import readiness
from hal.facts.xe import XE_DEVICES

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text()
ROWS = {
    "Max 1550, 1100": ("max1550", "max1100"),
    "Max 1350, 1450": ("max1350", "max1450"),
    "Arc B580, B570, Pro B70, B65, B60, B50": ("b580", "b570", "b70", "b65", "b60", "b50"),
    "Lunar Lake": ("lunar-lake",),
    "Panther Lake-H, 12 Xe": ("panther-lake-12xe",),
    "Arc A770": ("a770",),
    "Arc A750, A580, A380, A310, Flex 170, 140": ("a750", "a580", "a380", "a310", "flex170", "flex140"),
    "Arrow Lake-H, Meteor Lake-H, -U": ("arrow-lake-h", "meteor-lake-h", "meteor-lake-u"),
    "Wildcat Lake, Nova Lake, Crescent Island, Max 1550VG": (
        *("wildcat-lake", "nova-lake-s", "nova-lake-p", "crescent-island", "max1550vg"),
    ),
}
ACCEPTED = {"Max 1100": "max1100", "B580": "b580", "Lunar Lake": "lunar-lake", "Panther Lake-H": "panther-lake-12xe",
            "A770": "a770", "no": None}  # fmt: skip


def test_it_is_short() -> None:
    assert len(re.sub(r"^    .*$|^!\[.*$|^\|.*$", "", TEXT, flags=re.MULTILINE).split()) <= 400


def test_its_links_exist() -> None:
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)]+)\)", TEXT) if "://" not in link]
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_pictures_are_small() -> None:
    for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", TEXT):
        assert (ROOT / name).stat().st_size < 150_000, name


@pytest.mark.parametrize("row", ROWS)
def test_the_table_says_what_the_program_knows(row: str) -> None:
    (cells,) = re.findall(rf"^\| {re.escape(row)} \| (.*) \|$", TEXT, re.MULTILINE)
    compiled, predicted, accepted, measured = cells.split(" | ")
    specs = {device.spec.id: device.spec for device in XE_DEVICES}
    for name in ROWS[row]:
        ready = {each.use.value: "yes" if each.ready else "no" for each in readiness(specs[name])}
        assert (compiled, predicted) == (ready["compile"], ready["predict"]), name
        gpu = simulated_gpu(specs[name])
        assert (gpu.row if gpu else None) == (name if accepted == "themselves" else ACCEPTED[accepted]), name
    assert measured == "no"
