"""GEMM, softmax and flash attention as one writes them from the specifications compile as they stand and are right."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import compile_module, simulate_module
from codegen.target import target_of
from codegen.xe.isa import compile_native
from hal import find
from tests.codegen.xe.isa.fake_ocloc import real_ocloc

FOLDER = Path(__file__).parent
Array = NDArray[Any]


def bf16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The bits of bf16 numbers, cut off."""
    return (values.view(np.uint32) >> 16).astype(np.uint16)


def softmax(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each row, in float64."""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def draw(rng: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    """Numbers that bf16 holds exactly."""
    return (rng.integers(-64, 64, shape) / 32).astype(np.float32)


def gemm(rng: np.random.Generator, name: str) -> tuple[list[Array], NDArray[np.float64]]:
    a, b = draw(rng, 128, 96), draw(rng, 96, 64)
    if name == "gemm_subgroup":
        given: list[Array] = [bf16(a), bf16(b)]
    else:
        given = [a.astype(np.float16), b.astype(np.float16, order="F" if name == "gemm_tiles" else "C")]
    return [*given, np.zeros((128, 64), np.float32)], a.astype(np.float64) @ b


def rows(rng: np.random.Generator, name: str) -> tuple[list[Array], NDArray[np.float64]]:
    x = draw(rng, 64, 96)
    return [x, np.zeros_like(x)], softmax(x.astype(np.float64))


def attention(rng: np.random.Generator, name: str) -> tuple[list[Array], NDArray[np.float64]]:
    q, k, v = draw(rng, 128, 64), draw(rng, 96, 64), draw(rng, 96, 64)
    given: list[Array] = [x.astype(np.float16) for x in (q, k, v)]
    return [*given, np.zeros((128, 64), np.float32)], softmax(q.astype(np.float64) @ k.T / 8) @ v


Problem = Callable[[np.random.Generator, str], tuple[list[Array], NDArray[np.float64]]]
PROGRAMS: dict[str, tuple[Problem, str, tuple[int, int, int], tuple[int, int, int] | None]] = {
    "gemm_workgroup": (gemm, "gemm", (2, 1, 1), (128, 1, 1)),
    "gemm_subgroup": (gemm, "gemm", (16, 4, 1), None),
    "gemm_tiles": (gemm, "gemm", (2, 1, 1), (128, 1, 1)),
    "softmax_subgroup": (rows, "softmax", (2, 1, 1), None),
    "softmax_tiles": (rows, "softmax", (2, 1, 1), (64, 1, 1)),
    "attention_workgroup": (attention, "attention", (2, 1, 1), None),
    "attention_subgroup": (attention, "attention", (2, 1, 1), None),
    "attention_tiles": (attention, "attention", (2, 1, 1), (64, 1, 1)),
}
"""The problem of each file, its kernel, the grid, and the block where the kernel does not say it."""


FEW = ("gemm_tiles", "gemm_subgroup", "softmax_subgroup", "attention_workgroup")


def halved(source: str) -> str:
    """A program for sub-groups of 8: as many of them, in half the work-items."""
    return re.sub(r"(known_block_size = array<i32: )(\d+)", lambda found: f"{found[1]}{int(found[2]) // 2}", source)


def check(name: str, device: str) -> None:
    """Run a program on random arguments and compare."""
    problem, kernel, grid, block = PROGRAMS[name]
    arguments, expected = problem(np.random.default_rng(3), name)
    source, spec = (FOLDER / f"{name}.mlir").read_text(), find(device)
    if target_of(spec).subgroup_size == 8:
        source, block = halved(source), block and (block[0] // 2, 1, 1)
    simulate_module(compile_module(source, spec), kernel, grid, block, arguments)
    np.testing.assert_allclose(arguments[-1], expected, rtol=4e-3, atol=4e-3)  # P is rounded to f16


@pytest.mark.parametrize("device", ["b580", pytest.param("pvc", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in FEW else pytest.mark.slow) for n in PROGRAMS])
def test_a_program_computes_what_numpy_does(name: str, device: str) -> None:
    check(name, device)


@pytest.mark.parametrize("device", ["a770", pytest.param("mtl", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n == "gemm_subgroup" else pytest.mark.slow) for n in PROGRAMS]
)
def test_a_program_computes_the_same_by_sub_groups_of_8(name: str, device: str) -> None:
    check(name, device)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["b580", "pvc"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_code_of_a_program_keeps_its_values_in_registers(name: str, device: str) -> None:
    spec = find(device)
    artifact = compile_module((FOLDER / f"{name}.mlir").read_text(), spec)
    (report,) = compile_native(real_ocloc(), artifact.stage("spirv").data, target_of(spec)).reports
    assert report.spill_bytes == 0
    assert (report.k_loop is not None) == (not name.startswith("softmax"))


def test_every_file_is_run() -> None:
    assert sorted(file.stem for file in FOLDER.glob("*.mlir")) == sorted(PROGRAMS)
