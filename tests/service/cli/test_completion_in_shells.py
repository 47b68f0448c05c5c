"""Completion in real bash, zsh and fish, by the scripts that xetune prints and an installed program."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SERVER = "http://127.0.0.1:9"  # where nothing answers
_CONTROLS = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]|\r")
_BOUND_S = 120.0

pytestmark = pytest.mark.slow


def needs(shell: str) -> pytest.MarkDecorator:
    """Skip a test if a shell is not installed."""
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not here: apt-get install {shell}")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment with an installed `xetune`: a script that Python runs."""
    program = tmp_path / "xetune"
    program.write_text(f"#!{sys.executable}\nimport sys\nfrom service.cli.main import main\nsys.exit(main())\n")
    program.chmod(0o755)
    (tmp_path / "results.jsonl").touch()
    own = {"PYTHONPATH": str(ROOT), "XETUNE_DATA_DIR": str(tmp_path), "HOME": str(tmp_path), "TERM": "dumb"}
    return {"PATH": f"{tmp_path}:/usr/bin:/bin", **own}


def said(shell: list[str], script: str, environment: dict[str, str]) -> list[str]:
    """Run a script in a shell and return the lines of its output that are not empty."""
    done = subprocess.run(
        [*shell, script],
        capture_output=True,
        text=True,
        env=environment,
        cwd=environment["HOME"],
        timeout=2 * _BOUND_S,
    )
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line]


@needs("bash")
def test_bash_completes_by_the_script_that_it_is_shown(environment: dict[str, str]) -> None:
    script = """
    source <(xetune --show-completion)
    COMP_WORDS=(xetune --server http : //127.0.0.1 : 9 shapes pre) COMP_CWORD=8
    _xetune_completion xetune; echo "${COMPREPLY[@]}"
    COMP_WORDS=(xetune tune --device = b5) COMP_CWORD=4
    _xetune_completion xetune; echo "${COMPREPLY[@]}"
    """
    assert said(["bash", "--norc", "-c"], script, environment) == ["presets", "b580 b570 b50"]


@needs("fish")
def test_fish_completes_by_the_script_that_it_is_shown(environment: dict[str, str]) -> None:
    script = f"""
    xetune --show-completion | source
    complete -C "xetune ex"
    complete -C "xetune --server {SERVER} shapes pre"
    complete -C "xetune tune --device b5"
    complete -C "xetune import res"
    """
    told = [line.split("\t") for line in said(["fish", "--no-config", "-c"], script, environment)]
    values = ["explain", "export", "presets", "b50", "b570", "b580", "results.jsonl"]
    assert [value for value, *_ in told] == values
    assert told[3][1] == "Intel Arc Pro B50"


class Zsh:
    """An interactive zsh in a pseudo-terminal."""

    def __init__(self, environment: dict[str, str]) -> None:
        """Start a zsh with the script and default completion."""
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.chdir(environment["HOME"])
            os.execvpe("zsh", ["zsh", "-f", "-i"], environment | {"COLUMNS": "200"})
        self._type('PS1=; autoload -Uz compinit; compinit -D; eval "$(xetune --show-completion)"; echo REA""DY\n')
        self._until("READY")

    def complete(self, line: str, told: str) -> str:
        """Type a line and Tab, return the screen once it shows `told`, and discard the line."""
        self._type(f"{line}\t")
        shown = self._until(told)
        self._type("\x15echo NE''XT\n")
        self._until("NEXT")
        return shown

    def close(self) -> None:
        """Close the terminal."""
        os.close(self._terminal)
        os.waitpid(self._pid, 0)

    def _type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def _until(self, told: str) -> str:
        shown, ends = b"", time.monotonic() + _BOUND_S
        while told not in (text := _CONTROLS.sub(b"", shown).decode(errors="replace")):
            left = ends - time.monotonic()
            assert left > 0, f"expected {told!r}, zsh showed {text!r}"
            if select.select([self._terminal], [], [], left)[0]:
                shown += os.read(self._terminal, 65536)
        return text


@needs("zsh")
def test_zsh_completes_by_the_script_that_it_is_shown(environment: dict[str, str]) -> None:
    zsh = Zsh(environment)
    try:
        zsh.complete("xetune expl", "xetune explain ")
        zsh.complete(f"xetune --server {SERVER} shapes pre", "shapes presets ")
        shown = zsh.complete("xetune tune --device b5", "Intel Arc B580")
        assert "Intel Arc Pro B50" in shown
        zsh.complete("xetune import res", "import results.jsonl ")
    finally:
        zsh.close()
