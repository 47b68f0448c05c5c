"""Intel's driver without a GPU takes the launches of each program, up to the comparison of results."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from codegen import DType, Extent, GemmProblem, MatmulConfig, SplitK, XeConfig, XeStrategy
from codegen.problem.epilogue_text import parse_epilogue
from hal import find
from hal.driver.installed import Driver
from hal.driver.simulated_gpus import SIMULATED_GPUS, SimulatedGpu
from service.api.hostcode.languages import Language
from tests.hal.driver.real_driver import real_driver
from tests.service.api.hostcode.host_code import build, compiled, run_under_driver, sycl_flags, told, write_program
from tuner.backend import tuning_for

pytestmark = pytest.mark.slow
B580, _, _, _, A770, _, _, METEOR_LAKE_U = SIMULATED_GPUS
BF16 = GemmProblem(
    512,
    384,
    640,
    dtype_a=DType.BF16,
    dtype_b=DType.BF16,
    dtype_c=DType.BF16,
    epilogue=parse_epilogue("bias:column, relu"),
)
DYNAMIC = GemmProblem(192, 160, 512, dynamic=True, epilogue=parse_epilogue("gelu, reduce:row"))
SPLIT = XeConfig(
    MatmulConfig(Extent(3, 5, 2), Extent(64, 32, 32), Extent(32, 16, 16)),
    XeStrategy((2, 2), split_k=SplitK.PARTIAL_SUMS),
)
TUNED = tuning_for(find(B580.row)).default(BF16, find(B580.row))
KERNELS = {"bf16": (BF16, TUNED), "two steps of dynamic sizes": (DYNAMIC, SPLIT)}
SYCL_BY = {"opencl": "opencl:gpu", "level_zero": "level_zero:gpu"}
PROGRAMS = [
    pytest.param(Language.PYOPENCL, "", id="pyopencl"),
    pytest.param(Language.LEVEL_ZERO, "", id="level-zero"),
    *(pytest.param(Language.SYCL, by, id=f"sycl-{name}") for name, by in SYCL_BY.items()),
    *(pytest.param(Language.DPCTL, by, id=f"dpctl-{name}") for name, by in SYCL_BY.items()),
]
NO_HEADERS = (
    "Level Zero's headers are not here: install Debian's libze-dev, or unpack it and set CPLUS_INCLUDE_PATH to its "
    "usr/include"
)


@pytest.fixture(scope="module")
def driver() -> Driver:
    return real_driver()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("language", "backend"), PROGRAMS)
def test_a_program_runs_until_its_results_are_compared(
    driver: Driver, kernel: str, language: Language, backend: str, tmp_path: Path
) -> None:
    program = _built(driver, language, tmp_path, kernel)
    done = run_under_driver(driver, B580, program, "kernel.spv", ONEAPI_DEVICE_SELECTOR=backend)
    assert done.stdout.splitlines() == ["on Intel(R) Graphics [0xe20b]"], done.stderr
    assert done.stderr.startswith("wrong: C"), done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("gpu", "missing"),
    [
        (A770, ["cl_intel_subgroup_2d_block_io"]),
        (
            METEOR_LAKE_U,
            [
                "cl_intel_bfloat16_conversions",
                "cl_intel_subgroup_2d_block_io",
                "cl_intel_subgroup_matrix_multiply_accumulate",
            ],
        ),
    ],
    ids=lambda value: getattr(value, "row", ""),
)
@pytest.mark.parametrize(("language", "backend"), PROGRAMS[:4])
def test_a_program_names_the_extensions_that_another_gpu_lacks(
    driver: Driver, gpu: SimulatedGpu, missing: list[str], language: Language, backend: str, tmp_path: Path
) -> None:
    program = _built(driver, language, tmp_path, "bf16")
    done = run_under_driver(driver, gpu, program, "kernel.spv", ONEAPI_DEVICE_SELECTOR=backend)
    assert done.returncode == 1
    assert [word.strip(",") for word in done.stderr.split() if word.startswith("cl_")] == missing


@pytest.mark.parametrize(("language", "backend"), [PROGRAMS[0], PROGRAMS[1], PROGRAMS[2], PROGRAMS[4]])
def test_a_program_without_a_gpu_says_so(driver: Driver, language: Language, backend: str, tmp_path: Path) -> None:
    program = _built(driver, language, tmp_path, "bf16")
    off = {"NEOReadDebugKeys": "0", "ONEAPI_DEVICE_SELECTOR": backend}  # the driver simulates nothing
    done = run_under_driver(driver, B580, program, "kernel.spv", **off)
    assert (done.returncode, done.stdout) == (1, "")
    said = [line for line in done.stderr.splitlines() if not line.startswith("UR adapter")]  # SYCL's own
    assert len(said) == 1, done.stderr
    assert re.match("no .*GPU|No device of requested type", said[0])


def test_the_program_of_level_zero_is_built_and_started_as_its_head_says(driver: Driver, tmp_path: Path) -> None:
    need_headers()
    problem, config = KERNELS["bf16"]
    program = write_program(compiled(problem, config, find(B580.row), tmp_path), Language.LEVEL_ZERO, tmp_path)
    building, starting = told(program)
    env = {**os.environ, "LIBRARY_PATH": str(_loader_to_link(driver, tmp_path / "loader"))}
    built = subprocess.run(building.split(), cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, "")
    executable, *arguments = starting.split()
    done = run_under_driver(driver, B580, tmp_path / executable, *arguments)
    assert done.stdout.splitlines() == ["on Intel(R) Graphics [0xe20b]"], done.stderr
    assert done.stderr.startswith("wrong: C"), done.stderr


def _loader_to_link(driver: Driver, folder: Path) -> Path:
    """Return a folder with a libze_loader.so that has the functions of the driver's, whose C library is newer."""
    folder.mkdir()
    real = Path(driver.interpreter(B580).command[2]) / "libze_loader.so.1"
    names = subprocess.run(["nm", "-D", "--defined-only", real], capture_output=True, text=True, check=True).stdout
    functions = re.findall(r" T (ze\w+)", names)
    text = "".join(f"void {name}(void) {{}}\n" for name in functions)
    (folder / "loader.c").write_text(text)
    flags = ("-shared", "-Wl,-soname,libze_loader.so.1", "-o", "libze_loader.so")
    subprocess.run(["gcc", *flags, "loader.c"], cwd=folder, check=True)
    return folder


def _built(driver: Driver, language: Language, folder: Path, kernel: str) -> Path:
    """Write the program of a kernel for a B580, and compile it if it is in C++."""
    problem, config = KERNELS[kernel]
    program = write_program(compiled(problem, config, find(B580.row), folder), language, folder)
    if language is Language.SYCL:
        return build(program, *sycl_flags())
    if language is Language.LEVEL_ZERO:
        need_headers()
        loader = Path(driver.interpreter(B580).command[2]) / "libze_loader.so.1"
        return build(program, "-Wl,--unresolved-symbols=ignore-in-shared-libs", loader)  # it needs a newer C library
    return program


def need_headers() -> None:
    """Skip the test without Level Zero's headers."""
    command = ["g++", "-E", "-x", "c++", "-include", "level_zero/ze_api.h", "/dev/null"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip(NO_HEADERS)
