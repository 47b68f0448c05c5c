"""Stage the pages of the documentation site: docs/ and what is generated from the program.

Run: python -m docs.site.build FOLDER
"""

import re
import shutil
import sys
from pathlib import Path

from docs.site.cli_reference import cli_reference
from docs.site.rest_reference import rest_reference

ROOT = Path(__file__).parents[2]
OF_THE_REPOSITORY = {
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "code_of_conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")


def stage(folder: Path) -> None:
    """Write every page and picture of the site below an empty folder."""
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("site", "__pycache__"))
    for name, page in OF_THE_REPOSITORY.items():
        shutil.copy(ROOT / name, folder / page)
    _write(folder / "reference/cli.md", cli_reference())
    _write(folder / "reference/rest.md", rest_reference(ROOT / "openapi.yaml"))
    _write(folder / "decisions/index.md", _decisions(ROOT / "docs/decisions"))
    for page in folder.rglob("*.md"):
        depth = len(page.relative_to(folder).parents) - 1
        page.write_text(_LINK.sub(lambda link, depth=depth: _link(link[1], link[2], depth), page.read_text()))


def _link(text: str, target: str, depth: int) -> str:
    """A link as the site has it: files outside of docs/ are not part of it, but for those that became pages."""
    if "://" in target or target.startswith("#"):
        return f"[{text}]({target})"
    up = "../" * depth
    path, _, anchor = target.partition("#")
    anchor = f"#{anchor}" if anchor else ""
    if path.endswith("decisions"):
        return f"[{text}]({path}/index.md)"
    outside = path.removeprefix(f"{up}../")
    if outside == path:
        return f"[{text}]({path.removeprefix('docs/')}{anchor})"
    if outside in OF_THE_REPOSITORY:
        return f"[{text}]({up}{OF_THE_REPOSITORY[outside]}{anchor})"
    return text


def _decisions(folder: Path) -> str:
    titles = [(page.name, page.read_text().splitlines()[0].lstrip("# ")) for page in sorted(folder.glob("0*.md"))]
    return "# Decisions\n\n" + "".join(f"- [{title}]({name})\n" for name, title in titles)


def _write(page: Path, text: str) -> None:
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    shutil.rmtree(target, ignore_errors=True)
    stage(target)
