"""lower-xetile keeps the meaning of every operation, and MLIR does of those that run into none of its faults."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.xe.dialects import parse
from codegen.xe.mlir.faults import upstream_faults
from codegen.xe.passes.lower_xetile import (
    LowerXeTilePass,
    lower_xetile,
)
from tests.codegen.upstream import lowered, run_upstream
from tests.codegen.xetile_kernels import KERNELS, Kernel
from tests.oracle import interpret

_DTYPES = {"f32": np.float32, "f16": np.float16}


def arrays_of(kernel: Kernel) -> list[NDArray[np.generic]]:
    """What a kernel runs on, in the order of its arguments."""
    rng = np.random.default_rng(3)
    made: list[NDArray[np.generic]] = []
    for argument in re.split(r", (?=%)", kernel.arguments):
        *shape, element = kernel.arrays[argument.strip(" %")[0]].split("x")
        by_columns = "strided<[1," in argument or "affine_map" in argument
        values = rng.integers(-4, 5, tuple(map(int, shape))) / 4
        made.append(values.astype(_DTYPES[element], order="F" if by_columns else "C"))
    return made


@pytest.mark.parametrize("maps", [True, False], ids=["workgroup", "subgroup"])
@pytest.mark.parametrize("name", KERNELS)
def test_values_are_those_of_the_source(name: str, maps: bool) -> None:
    kernel = KERNELS[name]
    before, after = arrays_of(kernel), arrays_of(kernel)
    module = parse(kernel.source(maps=maps))
    module.verify()
    interpret(module, "k", (1, 1, 1), before)
    lower_xetile(module, LowerXeTilePass())
    module.verify()
    assert not [op.name for op in module.walk() if op.name.startswith("xetile.")]
    interpret(module, "k", (1, 1, 1), after)
    assert not all(np.array_equal(a, b) for a, b in zip(after, arrays_of(kernel), strict=True))
    for a, b in zip(before, after, strict=True):
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-5)


FAULTS = {
    "order_loaded": {"turned_value"},
    "order_stored": {"transposed_store", "turned_value"},
    "convert_layout": {"convert_layout"},
    "reduction_add_1": {"row_reduction"},
    "reduction_mul_1": {"row_reduction"},
    "reduction_minnumf_1": {"row_reduction"},
    "reduction_maximumf_1": {"row_reduction"},
    "reduction_of_all": {"scalar_reduction"},
    "blocked": {"row_reduction", "computed_rows"},
    "scattered": {"scattered_prefetch", "reshape"},
    "gathered": {"reshape"},
    "atomic": {"atomic"},
    "atomic_columns": {"atomic"},
    "array_length": {"block_columns"},
    "padding": {"padding"},
}


@pytest.mark.parametrize("name", KERNELS)
def test_mlir_keeps_the_meaning_of_what_has_no_fault(name: str) -> None:
    kernel = KERNELS[name]
    source = kernel.source(maps=True)
    assert {fault.name for fault in upstream_faults(lowered(source))} == FAULTS.get(name, set())
    if name in FAULTS:
        return
    expected = arrays_of(kernel)
    interpret(parse(source), "k", (1, 1, 1), expected)
    outcome = run_upstream(source, arrays_of(kernel))
    assert outcome.arrays is not None, outcome.message
    for a, b in zip(outcome.arrays.values(), expected, strict=True):
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-5, atol=1e-5)
