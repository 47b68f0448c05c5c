"""The program of docs/cpu_kernels.md calls a kernel that `xetune compile` made; its numbers are right."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from codegen.cpu.isa import isas_of
from hal.facts.cpu import probe_cpu
from service.cli.app import app

PAGE = Path(__file__).parents[3] / "docs" / "cpu_kernels.md"
CHECK = """
np.save("a.npy", a.reshape(24, 40)), np.save("b.npy", b.reshape(40, 96)), np.save("c.npy", c.reshape(24, 96))
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="a C compiler links the object: apt-get install gcc")
@pytest.mark.skipif(not isas_of(probe_cpu().isa or ()), reason="this CPU has no AVX2 with FMA")
@pytest.mark.slow
def test_the_python_of_the_page_calls_a_kernel(tmp_path: Path) -> None:
    asked = ("--m", "24", "--n", "96", "--k", "40", "--dtype", "f32", "--device", "cpu", "--set", "pack_b=beforehand")
    made = CliRunner().invoke(app, ["compile", *asked, "--verify", "-o", str(tmp_path)])
    assert made.exit_code == 0, made.output
    assert "device: " in made.output
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    subprocess.run(["cc", "-shared", "-pthread", "-o", "kernel.so", "kernel.o"], cwd=tmp_path, check=True)
    (tmp_path / "program.py").write_text(program + CHECK)
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, check=True, timeout=120)
    a, b, c = (np.load(tmp_path / f"{name}.npy").astype(np.float64) for name in "abc")
    assert np.abs(a).sum() > 0
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)
