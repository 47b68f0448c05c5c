"""Each command of the documentation is one that the program has, with options that it takes."""

import json
import re
import shlex
from itertools import dropwhile, groupby
from typing import Any, cast

import pytest
import typer
import yaml
from typer.core import TyperGroup

from service.cli.commands import COMMANDS
from service.cli.loading import load
from tests.docs.shell import ROOT, Command, commands

ALL = commands()
ID = "01a20d72-af62-7bff-8e66-9897d9093083"
# Its base has no public name.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])
_OF_A_FILE = re.compile(r"(file|path) '.*' does not exist")


def test_pages_have_commands() -> None:
    assert len(ALL) > 170
    assert {"README.md", "docs/quick_start.md", "docs/guides/backup.md"} <= {each.page for each in ALL}


@pytest.mark.parametrize("name", COMMANDS)
def test_options_of_each_command_exist(name: str) -> None:
    for command in ALL:
        for words in calls_of(command):
            if words[:1] == [name]:
                parse(load(name), name, words[1:], command)


def calls_of(command: Command) -> list[list[str]]:
    """Words after `xetune` and its own options, for each call in a command."""
    reader = shlex.shlex(re.sub(r"\bID\b", ID, command.text.replace("\\\n", " ")), posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    found: list[list[str]] = []
    for ends, words in groupby(reader, lambda word: set(word) <= set("&|;<>()")):
        call = [] if ends else list(dropwhile(re.compile(r"[A-Z_]+=").match, words))
        if call[:1] == ["xetune"]:
            found.append(call[3:] if call[1:2] == ["--server"] else call[1:])
    return found


def parse(command: Any, name: str, words: list[str], said: Command) -> None:
    """Parse the words of a command, of each level."""
    try:
        context = command.make_context(name, list(words))
    except typer.Exit:  # --help
        return
    except UsageError as error:
        if _OF_A_FILE.search(error.message):
            return
        pytest.fail(f"{said}: {error.message}")
    rest = [*context._protected_args, *context.args] if isinstance(command, TyperGroup) else []
    if rest:
        below, child, left = command.resolve_command(context, rest)
        parse(child, below or "", left, said)


def test_requests_are_in_the_contract() -> None:
    paths = yaml.safe_load((ROOT / "openapi.yaml").read_text())["paths"]
    requests = [
        (command, url)
        for command in ALL
        for url in re.findall(r"(?:localhost:8752|there:8752|SERVER)(/[^\s'?]*)", command.text)
    ]
    assert len(requests) > 20
    for command, url in requests:
        method = (
            "post"
            if re.search(r"\s-d\s", command.text) or "--data-binary" in command.text or "--json" in command.text
            else "get"
        )
        pattern = [path for path in paths if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), url)]
        method = "get" if url.endswith("/exports") or "-sG" in command.text else method
        assert any(method in paths[path] for path in pattern), f"{command}: no operation {method} {url}"
        for body in re.findall(r"-d '(.*?)'", command.text, re.DOTALL):
            json.loads(body)
