"""Small kernels, one fault of the past each, give numpy's numbers."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import CompileFailed, compile_module, simulate_module
from codegen.artifact.signature import KernelArgument
from hal.facts.xe import find

Array = NDArray[Any]
_FOLDER = Path(__file__).parent
_INF = float("inf")


def run(name: str, *arrays: Array | int, kernel: str = "k") -> None:
    """Compile a kernel, and run one work-group of it on arrays, which it changes."""
    source = (_FOLDER / f"{name}.mlir").read_text()
    simulate_module(compile_module(source, find("b580"), name), kernel, (1, 1, 1), None, list(arrays))


def numbers(*shape: int, dtype: str = "float32") -> Array:
    """Small whole numbers: their sums are exact in any order."""
    return np.random.default_rng(19).integers(-4, 5, shape).astype(dtype)


def test_hexadecimal_vectors() -> None:
    run("hex_dense", b := np.zeros((8, 16), "float32"))
    np.testing.assert_array_equal(b, np.full((8, 16), -_INF))


def test_hexadecimal_scalars() -> None:
    run("hex_scalars", b := np.zeros(5, "float32"))
    np.testing.assert_array_equal(b, [1, 2, -_INF, 3, _INF])


def test_layouts_of_a_dpas_differ() -> None:
    a, b = numbers(64, 64, dtype="float16"), numbers(64, 128, dtype="float16")
    expected = a[:, :16].astype("float32") @ b[:16].astype("float32")
    for name in ("dpas_layouts", "dpas_layouts_acc"):
        run(name, a, b, c := np.zeros((64, 128), "float32"))
        np.testing.assert_array_equal(c, expected)


@pytest.mark.slow
def test_products_of_f32_are_exact_and_those_of_tf32_rounded() -> None:
    rng = np.random.default_rng(19)
    a, b = (rng.standard_normal(shape).astype("float32") for shape in ((16, 24), (24, 32)))
    for kernel, factors in (("exact", (a, b)), ("rounded", (_tf32(a), _tf32(b)))):
        run("f32_product", a, b, c := np.zeros((16, 32), "float32"), kernel=kernel)
        np.testing.assert_allclose(c, factors[0].astype("float64") @ factors[1], atol=2e-5)


@pytest.mark.parametrize(("kernel", "rows"), [("subgroups", (0, 16, 32, 48, 64)), ("workgroup", (0, 0, 32, 64, 64))])
def test_a_range_of_subgroups_alone_runs_a_branch(kernel: str, rows: tuple[int, ...]) -> None:
    """Sub-group 1 takes the first branch, 2 the second; the others take none."""
    run("range", 1, o := np.zeros((64, 16), "float32"), kernel=kernel)
    expected = np.zeros_like(o)
    expected[rows[1] : rows[2]], expected[rows[2] : rows[3]] = 1, 2
    np.testing.assert_array_equal(o, expected)


def test_default_attributes_of_a_descriptor_are_none() -> None:
    run("default_attr", a := np.ones((8, 16), "float32"))
    assert not a.any()


def test_a_slice_of_all_dimensions() -> None:
    a = numbers(16, 64)
    run("slice", a, o := np.zeros(1, "float32"))
    assert o[0] == a.sum()


def test_a_tile_of_transposed_shared_memory() -> None:
    a = numbers(16, 16)
    run("slm_transpose", a, b := np.zeros_like(a))
    np.testing.assert_array_equal(b, a.T)


def test_sub_groups_numbered_by_columns_share_parts_of_f16() -> None:
    """LLVM aborted on this kernel."""
    a = numbers(32, 64, dtype="float16")
    run("sharing_order", a, b := np.zeros_like(a), c := np.zeros_like(a))
    np.testing.assert_array_equal(b, a)
    np.testing.assert_array_equal(c, 2 * a)


@pytest.mark.slow
def test_values_may_spill() -> None:
    a = numbers(384, 64)
    run("registers", a, b := np.zeros_like(a))
    np.testing.assert_array_equal(b, a)


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("for_without_parentheses", KernelArgument("a", "f16", (64, 64), (64, 1))),
        ("aligned_pointer", KernelArgument("a", "f32", (64, 64), (64, 1))),
        ("branch", KernelArgument("a", "f32", (64, 64), (64, 1))),
        ("column_major", KernelArgument("b", "f16", (1024, 512), (1, 1024))),
        ("three_dimensions", KernelArgument("b", "f32", (None, 128, 96), (12288, 96, 1))),
    ],
)
def test_unusual_forms_compile(name: str, argument: KernelArgument) -> None:
    (kernel,) = compile_module((_FOLDER / f"{name}.mlir").read_text(), find("b580"), name).kernels
    assert (kernel.name, kernel.arguments) == ("f", (argument,))


def test_a_file_of_two_modules() -> None:
    a = numbers(32, 64)
    for kernel in ("k1", "k2"):
        run("two_modules", a, b := np.zeros_like(a), kernel=kernel)
        np.testing.assert_array_equal(b, a)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "gpu.module @m { gpu.func @k(%a: memref<*xf32>) kernel { gpu.return } }",
            "argument a: expected a memref of known rank or a scalar, got memref<*xf32>",
        ),
        (
            "gpu.module @m { gpu.func @k() kernel { gpu.return } func.func @f() { return } } "
            "gpu.module @n { gpu.func @l() kernel { gpu.return } func.func @f() { return } }",
            "expected symbols of different names, got f",
        ),
    ],
)
def test_refused(source: str, message: str) -> None:
    with pytest.raises(CompileFailed, match=re.escape(message)):
        compile_module(source, find("b580"))


def _tf32(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The nearest numbers with 10 bits of fraction, ties to even."""
    mantissa, exponent = np.frexp(values.astype("float64"))
    return np.ldexp(np.rint(mantissa * 2.0**11) / 2.0**11, exponent).astype("float32")
