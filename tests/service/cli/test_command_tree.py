"""Every group of commands, found in the tree of commands."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import service.dashboard
from service.cli.commands import COMMANDS
from service.cli.loading import load

_WITHOUT_NOUN = {"cluster", "db", "toolchain"}
"""Groups of verbs: they hold nothing to list."""


def _groups() -> Iterator[str]:
    return (name for name in COMMANDS if hasattr(load(name), "commands"))


@pytest.mark.slow
def test_every_group_of_a_noun_lists_it() -> None:
    groups = {name: set[str](load(name).commands) for name in _groups()}
    assert {"audit", "devices", "jobs", "kernels", "keys", "recordings", "records", "schedules", "shapes"} <= set(
        groups
    )
    without = {name for name, commands in groups.items() if "list" not in commands}
    assert without <= _WITHOUT_NOUN, without


def _commands(found: Any) -> Iterator[Any]:
    if hasattr(found, "commands"):
        for each in found.commands.values():
            yield from _commands(each)
    else:
        yield found


@pytest.mark.slow
def test_a_share_is_said_in_percent() -> None:
    helps = {
        f"{name} {' '.join(option.opts)}": option.help or ""
        for name in COMMANDS
        for command in _commands(load(name))
        for option in command.params
        if option.param_type_name == "option"
    }
    said = {option: text for option, text in helps.items() if "fraction" in text.lower()}
    assert not said, "a share of something is in percent, such as 80%"
    assert any("80%" in text for text in helps.values())


_TEMPLATES = Path(service.dashboard.__file__).parent / "templates"
_SHOWN = re.compile(r'"(xetune (?:[^"\\]|\\.)*)"')
"""A whole command in a template; those with parts of a page are tested where they are made."""


def _shown() -> Iterator[str]:
    for template in sorted(_TEMPLATES.rglob("*.html")):
        yield from (found.replace('\\"', '"') for found in _SHOWN.findall(template.read_text()))


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(set(_shown())))
def test_commands_on_pages_exist(command: str) -> None:
    _, group, *words = shlex.split(command)
    found = load(group)
    while hasattr(found, "commands") and words and words[0] in found.commands:
        found = found.commands[words.pop(0)]
    assert not hasattr(found, "commands") or not words, f"{group} has no command {words[0]}"
    known = {name for option in getattr(found, "params", ()) for name in option.opts}
    assert {word for word in words if word.startswith("--")} <= known
