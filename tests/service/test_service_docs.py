"""The documentation lists every setting as the program has it, and every action of the audit log."""

import ast
import re
from pathlib import Path

import pytest

import service
from service.settings import PREFIX, Settings

ROOT = Path(service.__file__).parent
DOCS = (ROOT.parent / "docs" / "service.md").read_text()
CONFIGURATION = (ROOT.parent / "docs" / "reference" / "configuration.md").read_text()
WRITERS = ("record", "_changing", "_set_reason")


def test_every_setting_is_listed_with_its_default_and_meaning() -> None:
    rows = re.findall(r"^\| `XETUNE_(\w+)` \| (.*?) \| (.*) \|$", CONFIGURATION, re.MULTILINE)
    listed = {name.lower(): (default, meaning) for name, default, meaning in rows}
    assert list(listed) == list(Settings.model_fields)
    for name, field in Settings.model_fields.items():
        default, meaning = listed[name]
        assert meaning == field.description, name
        if field.default_factory is None:
            assert default == shown(field.default), name


def shown(default: object) -> str:
    """A default as the table has it."""
    if default is None or default == "":
        return "unset"
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:g}" if isinstance(default, float) else str(default)


def test_every_setting_that_a_page_names_exists() -> None:
    pages = [page.read_text() for page in (ROOT.parent / "docs").rglob("*.md")]
    named = {name.lower() for page in pages for name in re.findall(rf"\b{PREFIX}(MAX_\w+|RATE_\w+|COMPILE_\w+)", page)}
    assert len(named) > 10
    assert named <= set(Settings.model_fields)


def test_every_action_of_the_audit_log_is_listed() -> None:
    table = DOCS.split("| action | what was done |")[1].split("\n\n")[0]
    assert set(re.findall(r"`([a-z.]+)`", table)) == actions()


def actions() -> set[str]:
    """The names that the service gives to changes."""
    found: set[str] = set()
    for file in ROOT.rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in WRITERS and len(call.args) > 2:
                name = call.args[2]
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    found.add(name.value)
    if not found:
        pytest.fail("no call of the audit log was found")
    return found
