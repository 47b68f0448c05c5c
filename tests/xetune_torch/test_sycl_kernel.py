"""Kernels on the SYCL queue of another program: on the CPU with emulated built-ins, and until launch under Intel's
driver.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from codegen import DType, GemmProblem
from codegen.backend import backend_of, compile_kernel
from hal import DeviceSpec, find, resolve_device
from hal.driver.simulated_gpus import SIMULATED_GPUS
from hal.probe.icd import wheel_runtime
from tests.codegen.xe.isa.fake_ocloc import real_ocloc
from tests.hal.driver.real_driver import real_driver
from tests.service.api.hostcode.host_code import of_sycl, run_under_driver
from tuner.backend import tuning_for

PROGRAM = Path(__file__).with_name("sycl_program.py")
PROBLEM = GemmProblem(64, 96, 128, dtype_a=DType.F16, dtype_b=DType.F16)


def _write(folder: Path, spec: DeviceSpec) -> tuple[np.ndarray, np.ndarray]:
    config = tuning_for(spec).default(PROBLEM, spec)
    artifact = compile_kernel(PROBLEM, config, spec)
    manifest = json.loads(json.dumps(backend_of(config).manifest(artifact)))
    (folder / "kernel.json").write_text(json.dumps(manifest))
    (folder / "kernel.spv").write_bytes(artifact.launch.binary)
    random = np.random.default_rng(0)
    a, b = (random.integers(-2, 3, size).astype(np.float16) for size in ((64, 128), (128, 96)))
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)
    return a, b


@pytest.mark.opencl
def test_a_kernel_computes_on_a_queue_known_by_its_address(tmp_path: Path) -> None:
    a, b = _write(tmp_path, resolve_device("opencl-cpu", "b580").spec)
    (tmp_path / "cpu.icd").write_text(f"{wheel_runtime()}\n")
    libraries = {"LD_LIBRARY_PATH": str(of_sycl("/libsycl.so").parent), "OCL_ICD_VENDORS": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path), "opencl:cpu"],
        env=os.environ | libraries,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert ": True" in done.stdout
    assert np.array_equal(np.load(tmp_path / "c.npy"), a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("native", [None, "own", "cut"])
@pytest.mark.parametrize("api", ["opencl:gpu", "level_zero:gpu"])
def test_the_driver_accepts_the_launch(tmp_path: Path, api: str, native: str | None) -> None:
    a, b = _write(tmp_path, find("b580"))
    if native is not None:
        options = json.loads((tmp_path / "kernel.json").read_text())["build_options"]["opencl"]
        binary = real_ocloc().compile((tmp_path / "kernel.spv").read_bytes(), "bmg", options)
        (tmp_path / "kernel.zebin").write_bytes(binary if native == "own" else binary[: len(binary) // 2])
    gpu = next(gpu for gpu in SIMULATED_GPUS if gpu.row == "b580")
    done = run_under_driver(real_driver(), gpu, PROGRAM, str(tmp_path), api)
    assert done.returncode == 0, done.stderr
    natively = "natively " * (native == "own" and api.startswith("level_zero"))
    assert f"launched {natively}on Intel" in done.stdout
    assert not np.array_equal(np.load(tmp_path / "c.npy"), a.astype(np.float32) @ b)  # nothing was executed
