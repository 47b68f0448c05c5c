"""Check that pages show the output of a command as it prints it."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.codegen.xe.isa.fake_ocloc import real_ocloc
from tests.docs.shell import ROOT

SAMPLES = {
    "problems.md": r"^    (xetune compile .*--dtype s8 .*)\n\n```text\n((?:.*\n)+?)```$",
    "isa.md": r"^    (xetune compile .*--m 4096 .*--isa .*)\n(?:.*\n)+?(    code for bmg .*\n(?:    .*\n|\n)+)",
}
"""By page: its command, and the sample of what this prints."""


def squeezed(text: str) -> list[str]:
    """The lines that are shown, each as its words."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line not in ("", "...") and not line.startswith("─")]


@pytest.mark.slow
@pytest.mark.parametrize("page", SAMPLES)
def test_a_sample_is_what_its_command_prints(page: str, tmp_path: Path) -> None:
    found = re.search(SAMPLES[page], (ROOT / "docs" / page).read_text(), re.MULTILINE)
    assert found is not None
    words = shlex.split(found[1])
    own = {"XETUNE_DATA_DIR": str(tmp_path), "COLUMNS": "200"}
    if "--isa" in words:
        own["XETUNE_OCLOC"] = str(real_ocloc().path)
    program = Path(sys.executable).parent / words[0]
    done = subprocess.run(
        [program, *words[1:]],
        cwd=tmp_path,
        env=os.environ | own,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    shown = squeezed(found[2])
    assert len(shown) > 5
    assert [line for line in shown if line not in squeezed(done.stdout)] == []
