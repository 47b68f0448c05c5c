"""The listings of docs/machine_code.md are those that the compiler and the pipeline model give."""

import re
import shlex
from pathlib import Path

import pytest

from codegen import DType, GemmProblem, compile_gemm
from codegen.problem.epilogue_text import parse_epilogue
from codegen.target import target_of
from codegen.xe.isa import NativeCode, compile_kernel
from codegen.xe.machine.pipeline import annotated
from hal import find
from tests.codegen.xe.isa.fake_ocloc import real_ocloc
from tuner.space.xe.heuristic import default_config

PAGE = (Path(__file__).parents[2] / "docs" / "machine_code.md").read_text()
LISTINGS = re.findall(r"^    (xetune compile .*?)(?:; cat .*)?\n\n((?:    .*\n)+)", PAGE, re.MULTILINE)
_VERSION = "26.27.039122"  # of the compiler that made them
_SPILLED = 224  # bytes of a thread, by the worst


def compiled(command: str) -> NativeCode:
    """Compile the default kernel that a command of the page names."""
    words = shlex.split(command)
    given = {word: words[words.index(word) + 1] for word in words if word.startswith("--") and word != "--isa"}
    dtype, layout, spec = DType(given["--dtype"]), given.get("--layout", "nn"), find(given["--device"])
    problem = GemmProblem(
        *(int(given[f"--{size}"]) for size in "mnk"),
        dtype_a=dtype,
        dtype_b=dtype,
        transpose_a=layout[0] == "t",
        transpose_b=layout[1] == "t",
        epilogue=parse_epilogue(given.get("--epilogue", "")),
    )
    ocloc = real_ocloc()
    if _VERSION not in ocloc.version():
        pytest.skip(f"the page is of ocloc {_VERSION}, this is {ocloc.version()}")
    return compile_kernel(ocloc, compile_gemm(problem, default_config(problem, spec), spec), target_of(spec))


def test_the_page_has_the_listings_of_the_default_and_of_the_worst_spiller() -> None:
    assert len(LISTINGS) == 2
    assert "--device b580" in LISTINGS[0][0]
    assert f"{_SPILLED} bytes on arrow-lake-h" in PAGE


@pytest.mark.slow
@pytest.mark.parametrize(("command", "shown"), LISTINGS, ids=["default", "worst"])
def test_a_listing_is_what_its_command_gives(command: str, shown: str) -> None:
    code = compiled(command)
    (report,) = [report for report in code.reports if report.pipeline is not None]
    assert report.pipeline is not None
    lines = {" ".join(line.split()) for line in annotated(report.pipeline).splitlines()}
    missing = [line for line in map(str.strip, shown.splitlines()) if " ".join(line.split()) not in {*lines, "...", ""}]
    assert missing == []
    assert code.spill_bytes == (_SPILLED if "arrow-lake-h" in command else 0)
