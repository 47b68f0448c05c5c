"""The documentation site: its pages are complete, and build without a warning."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.site.build import stage
from docs.site.cli_reference import cli_reference
from docs.site.pictures import FOLDER, PICTURES
from service.cli.commands import COMMANDS

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages as the site is built from them."""
    folder = tmp_path_factory.mktemp("site") / "docs"
    stage(folder)
    return folder


@pytest.mark.slow
def test_the_navigation_has_every_page_once(staged: Path) -> None:
    named = list(pages_of(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    assert len(named) == len(set(named))
    of_decisions = {f"decisions/{page.name}" for page in (staged / "decisions").glob("0*.md")}
    assert set(named) == {str(page.relative_to(staged)) for page in staged.rglob("*.md")} - of_decisions


def pages_of(nav: Any) -> Iterator[str]:
    """The files of a navigation."""
    if isinstance(nav, str):
        yield nav
    else:
        for each in nav.values() if isinstance(nav, dict) else nav:
            yield from pages_of(each)


def test_pictures_are_those_that_the_script_draws() -> None:
    drawn = {f"{name}.svg": draw().svg() for name, draw in PICTURES.items()}
    assert {path.name: path.read_text() for path in FOLDER.glob("*.svg") if path.name in drawn} == drawn


def test_every_picture_of_a_page_exists(staged: Path) -> None:
    shown = [
        (page, name)
        for page in staged.rglob("*.md")
        for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text())
    ]
    assert len(shown) > 5
    assert [(page, name) for page, name in shown if not (page.parent / name).is_file()] == []


def test_the_reference_has_every_command_and_its_options() -> None:
    page = cli_reference()
    assert set(re.findall(r"^## xetune (\S+)$", page, re.MULTILINE)) == set(COMMANDS)
    tune = page.split("## xetune tune\n")[1].split("\n## ")[0]
    assert re.search(r"^\| `.*--trials .*` \| \S", tune, re.MULTILINE)


@pytest.mark.slow
def test_the_reference_has_every_request(staged: Path) -> None:
    contract = yaml.safe_load((ROOT / "openapi.yaml").read_text())
    requests = {f"{method.upper()} {path}" for path, methods in contract["paths"].items() for method in methods}
    assert set(re.findall(r"^### ([A-Z]+ /.*)$", (staged / "reference/rest.md").read_text(), re.MULTILINE)) == requests


@pytest.mark.slow
def test_the_reference_has_every_route_with_its_scope(staged: Path) -> None:
    page = (staged / "reference/rest.md").read_text()
    table = set(re.findall(r"^\| ([A-Z]+) \| `(/[^`]*)` \|", page, re.MULTILINE))
    contract = yaml.safe_load((ROOT / "openapi.yaml").read_text())
    requests = {(method.upper(), path) for path, methods in contract["paths"].items() for method in methods}
    assert requests <= table
    assert len(table - requests) > 20  # pages
    for row in ("POST | `/v1/jobs` | tune", "POST | `/v1/keys` | admin", "GET | `/readyz` | none"):
        assert f"| {row} |" in page


@pytest.mark.slow
def test_the_site_builds_without_a_warning(staged: Path, tmp_path: Path) -> None:
    tool = ROOT / ".venv/docs/bin/zensical"
    if not tool.is_file():
        pytest.skip("zensical is not installed: `make docs` installs it")
    settings = (ROOT / "mkdocs.yml").read_text().replace("paths: [.]", f"paths: [{ROOT}]")
    (tmp_path / "mkdocs.yml").write_text(settings)
    shutil.copytree(staged, tmp_path / "build/docs")
    done = subprocess.run([tool, "build", "--strict"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "create_shape_set" in (tmp_path / "build/site/reference/python/index.html").read_text()
    bad = tmp_path / "build/docs/glossary.md"
    bad.write_text(bad.read_text() + "\n[nowhere](absent.md)\n")
    done = subprocess.run([tool, "build", "--strict"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0
