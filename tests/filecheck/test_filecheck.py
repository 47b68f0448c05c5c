"""Runs the `// RUN:` lines of the .mlir files here, in this process: `xdsl-opt ... %s | filecheck %s`.

`xetune opt %s --pass NAME ...` stands in for `xdsl-opt` where a file needs our own gpu, vector or arith dialect.
"""

import argparse
import io
import shlex
import sys
from pathlib import Path

import pytest
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options
from xdsl.xdsl_opt_main import xDSLOptMain

from codegen.xe.opt import (
    read_passes,
    run_passes,
)

FILES = sorted(Path(__file__).parent.glob("*.mlir"))


def run_lines(file: Path) -> list[str]:
    """The commands that a file asks for."""
    prefix = "// RUN: "
    return [line.removeprefix(prefix) for line in file.read_text().splitlines() if line.startswith(prefix)]


def run_xetune_opt(arguments: list[str]) -> None:
    """Print what `xetune opt` prints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--pass", action="append", dest="passes")
    parser.add_argument("--split-input-file", action="store_true", dest="split")
    asked = parser.parse_args(arguments)
    sys.stdout.write(run_passes(Path(asked.file).read_text(), read_passes(asked.passes), split=asked.split))


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_output_is_as_the_file_says(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = run_lines(file)
    assert commands, f"{file.name} has no RUN line"
    for command in commands:
        *stages, check = (shlex.split(stage.replace("%s", str(file))) for stage in command.split("|"))
        for stage in stages:
            if stage[:2] == ["xetune", "opt"]:
                run_xetune_opt(stage[2:])
            else:
                assert stage[0] == "xdsl-opt"
                xDSLOptMain(args=stage[1:]).run()
            output = io.BytesIO(capsys.readouterr().out.encode())
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(output))
        assert check[0] == "filecheck"
        assert Matcher.from_opts(parse_argv_options(check)).run() == 0, capsys.readouterr().err
