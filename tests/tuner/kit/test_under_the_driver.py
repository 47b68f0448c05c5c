"""Under Intel's driver in its simulation mode a kit comes until the launch, and says that nothing was executed."""

import os
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from codegen import AnyArtifact, GemmProblem, KernelConfig
from codegen.backend import compile_kernel
from hal import DeviceSpec
from hal.driver.simulated_gpus import SIMULATED_GPUS
from tests.hal.driver.real_driver import real_driver
from tests.tuner.fakes import FakeCompilation, FakeCompiler
from tests.tuner.kit.kits import B580, runners_up
from tuner.kit.build import build_kit

SITE = Path(np.__file__).parents[1]
# The processes that the kit starts must run under the driver's loader too.
UNDER = (
    "import runpy, sys; sys.executable = sys.argv.pop(1); sys.path.append(sys.argv.pop(1)); "
    "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
)


@dataclass
class Compiled(FakeCompilation):
    """A kernel that is compiled when it is asked for."""

    spec: DeviceSpec = B580

    def result(self) -> AnyArtifact:
        return compile_kernel(self.problem, self.config, self.spec)


class RealCompiler(FakeCompiler):
    """Compiles with the compiler."""

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Compiled:
        return Compiled(problem, config, spec=spec)


@pytest.mark.slow
def test_a_kit_says_that_nothing_was_executed(tmp_path: Path) -> None:
    interpreter = real_driver().interpreter(next(gpu for gpu in SIMULATED_GPUS if gpu.row == "b580"))
    kit, python = tmp_path / "kit.pyz", tmp_path / "python"
    kit.write_bytes(build_kit(runners_up(), RealCompiler()).data)
    python.write_text(f'#!/bin/sh\nexec {shlex.join(interpreter.command)} "$@"\n')
    python.chmod(0o755)
    done = subprocess.run(
        [str(python), "-I", "-c", UNDER, str(python), str(SITE), str(kit)],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], **interpreter.variables},
        capture_output=True,
        text=True,
    )
    assert "measuring on Intel(R) Graphics [0xe20b], driver Intel(R) OpenCL Graphics 26." in done.stdout, done.stderr
    assert (done.returncode, "and none took any time: it simulates the GPU and executed nothing" in done.stderr) == (
        2,
        True,
    )
    assert not (tmp_path / "found.jsonl").exists()
