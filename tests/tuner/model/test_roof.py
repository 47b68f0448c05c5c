"""The roofline of a device does without the parts of the tuner that search and predict."""

import subprocess
import sys

_IMPORTED = """
import sys
from codegen import GemmProblem
from hal import find
from tests.tuner.space.cpu.cpus import OLD
from tuner.errors import NoRoofline
from tuner.model.roof import roof_us

problem = GemmProblem(512, 384, 1024)
assert roof_us(problem, find("b580")) > 0
try:
    roof_us(problem, OLD)
except NoRoofline:
    print([name for name in ("numpy", "tuner.backend", "tuner.space.xe.backend") if name in sys.modules])
"""


def test_a_roofline_brings_no_space_and_no_prediction() -> None:
    done = subprocess.run([sys.executable, "-c", _IMPORTED], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"
