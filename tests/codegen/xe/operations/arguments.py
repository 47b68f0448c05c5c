"""Arguments of the kernels of cases: random arrays, and the numbers that a case states."""

import re

import numpy as np
from numpy.typing import NDArray

from codegen.simulate.run_module import dtype_of
from tests.codegen.xe.operations.case import Case

Array = NDArray[np.generic]
Argument = Array | int | float

_TF32 = np.uint32(0xFFFFE000)


def arguments(case: Case, source: str) -> list[Argument]:
    """Return random arrays for memrefs and numbers for scalars, the same for each call."""
    rng = np.random.default_rng(7)
    given = [case.values.get(name, type_) for name, type_ in signature(source)]
    return [_random(case, rng, value) if isinstance(value, str) else value for value in given]


def signature(source: str) -> list[tuple[str, str]]:
    """Return names and types of the kernel's arguments."""
    found = re.search(r"gpu\.func @k\((.*)\)( workgroup\(.*\))? kernel", source)
    assert found is not None
    return re.findall(r"%(\w+): (.+?)(?:, (?=%)|$)", found[1])


def _random(case: Case, rng: np.random.Generator, type_: str) -> Array:
    """Return an array for a memref, column-major if its strides or its map are."""
    *extents, element = re.sub(r"^memref<|[,>].*", "", type_).split("x")
    shape, order = tuple(map(int, extents)), "F" if "<[1," in type_ or "affine_map" in type_ else "C"
    dtype = np.dtype(dtype_of(element))
    if element == "bf16":
        return (_singles(case, rng, shape).view(np.uint32) >> 16).astype(dtype, order=order)
    if element == "tf32":
        return (_singles(case, rng, shape).view(np.uint32) & _TF32).view(dtype)
    if dtype.kind == "f":
        return rng.uniform(*case.floats, shape).astype(dtype, order=order)
    low, high = case.integers
    low, high = (0, high - low) if dtype.kind == "u" else (low, high)
    return rng.integers(low, high, shape).astype(dtype, order=order)


def _singles(case: Case, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    return rng.uniform(*case.floats, shape).astype(np.float32)
