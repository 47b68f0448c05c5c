"""The version of pyproject.toml is that of everything else that states one."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_the_citation_has_the_version() -> None:
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == VERSION


def test_the_chart_and_its_images_have_the_version() -> None:
    chart = yaml.safe_load((ROOT / "docker/helm/Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (VERSION, VERSION)
    images = yaml.safe_load((ROOT / "docker/helm/values.yaml").read_text())["image"]
    assert (images["service"], images["worker"]) == (f"xetune-service:{VERSION}", f"xetune-worker:{VERSION}")


def test_the_changelog_has_the_version_first_with_a_date() -> None:
    released = re.findall(r"^## \[([0-9.]+)\] - \d{4}-\d{2}-\d{2}$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert released[0] == VERSION


def test_the_release_has_its_files() -> None:
    assert (ROOT / "tests/released" / VERSION / "database.sql").exists()
