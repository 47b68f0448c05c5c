"""lower-xetile keeps the results of every operation."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.xe.dialects import parse
from codegen.xe.passes.lower_xetile import (
    LowerXeTilePass,
    lower_xetile,
)
from tests.codegen.xetile_kernels import KERNELS, Kernel
from tests.oracle import interpret

_DTYPES = {"f32": np.float32, "f16": np.float16}


def arrays_of(kernel: Kernel) -> list[NDArray[np.generic]]:
    """Return random arrays for a kernel, in the order of its arguments."""
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
