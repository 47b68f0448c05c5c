"""Every example compiles, and the simulator's numbers are numpy's, for GPUs with sub-groups of 16 and of 8."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import CodegenError, KernelArtifact, compile_module
from codegen.simulate.run_module import simulate_module
from hal.facts.xe import find

EXAMPLES = Path(__file__).parents[4] / "examples"

Array = NDArray[Any]
Arrays = dict[str, Array]
SCATTERED = 200


@dataclass(frozen=True)
class Example:
    """Arrays of an example by name, what its outputs must become, the error that is allowed, and its numbers."""

    grid: tuple[int, int, int]
    arguments: Callable[[np.random.Generator], Arrays]
    expected: Callable[[Arrays], Arrays]
    tolerance: float = 1e-4
    scalars: Mapping[str, int] = field(default_factory=dict)

    def ordered(self, names: Iterable[str], arrays: Arrays) -> list[Array | int]:
        """Return the values of those arguments."""
        return [self.scalars[name] if name in self.scalars else arrays[name] for name in names]


def half(rng: np.random.Generator, *shape: int) -> Array:
    """Halves between -1 and 1."""
    return rng.uniform(-1, 1, shape).astype(np.float16)


def single(rng: np.random.Generator, *shape: int) -> Array:
    """Floats between -1 and 1."""
    return rng.uniform(-1, 1, shape).astype(np.float32)


def product(a: Array, b: Array) -> Array:
    """`a @ b` in double."""
    return a.astype(np.float64) @ b.astype(np.float64)


def gemm(m: int, n: int, k: int, batch: tuple[int, ...] = ()) -> Callable[[np.random.Generator], Arrays]:
    """A and B, and C that is not zero."""
    return lambda rng: {
        "A": half(rng, *batch, m, k),
        "B": half(rng, *batch, k, n),
        "C": np.full((*batch, m, n), 7, np.float32),
    }


def transposed_gemm(m: int, n: int, k: int) -> Callable[[np.random.Generator], Arrays]:
    """A and B stored by columns."""
    return lambda rng: {"A": half(rng, m, k), "BT": half(rng, n, k), "C": np.full((m, n), 7, np.float32)}


def plain(x: Arrays) -> Arrays:
    """C = A @ B."""
    return {"C": product(x["A"], x["B"])}


def with_bias_and_sums(x: Arrays) -> Arrays:
    """C = A @ BT^T + bias, and the sums of its rows."""
    c = product(x["A"], x["BT"].T) + x["bias"]
    return {"C": c, "sums": c.sum(1, keepdims=True)}


def softmax(x: Arrays) -> Arrays:
    """Of each row."""
    e = np.exp(x["X"].astype(np.float64) - x["X"].max(1, keepdims=True))
    return {"Y": e / e.sum(1, keepdims=True)}


def scattered(x: Arrays) -> Arrays:
    """Y[2 i] = X[255 - i] + 1 for the first n."""
    y, i = x["Y"].copy(), np.arange(SCATTERED)
    y[2 * i] = x["X"][255 - i] + 1
    return {"Y": y}


EXAMPLE = {
    "gemm_prefetch": Example((1, 2, 1), gemm(512, 256, 192), plain),
    "xegpu_gemm_prefetch": Example((1, 2, 1), gemm(512, 256, 192), plain),
    "gemm_two_cache_levels": Example((1, 1, 1), gemm(512, 256, 256), plain),
    "gemm_shared_memory": Example((2, 1, 1), gemm(128, 256, 192), plain),
    "batched_gemm": Example((1, 1, 3), gemm(64, 128, 96, (3,)), plain),
    "subgroup_gemm": Example((2, 1, 1), gemm(128, 256, 64), plain),
    "work_item_gemm": Example((2, 1, 1), gemm(64, 48, 96), plain),
    "gemm_transpose_in_registers": Example(
        (1, 1, 1), transposed_gemm(256, 256, 96), lambda x: {"C": product(x["A"], x["BT"].T)}
    ),
    "gemm_transpose_broadcast_reduce": Example(
        (1, 1, 1),
        lambda rng: (
            transposed_gemm(256, 512, 64)(rng) | {"bias": single(rng, 1, 512), "sums": np.full((256, 1), 7, np.float32)}
        ),
        with_bias_and_sums,
        tolerance=1e-2,  # a sum of 512 elements of C
    ),
    "softmax_rows": Example(
        (2, 1, 1),
        lambda rng: {"X": 4 * single(rng, 64, 128), "Y": np.zeros((64, 128), np.float32)},
        softmax,
    ),
    "atomic_accumulation": Example(
        (1, 1, 3),
        gemm(64, 64, 192),
        lambda x: {"C": product(x["A"], x["B"]) + 7},
    ),
    "gather_scatter": Example(
        (8, 1, 1),
        lambda rng: {"X": single(rng, 256), "Y": np.full(512, 7, np.float32)},
        scattered,
        scalars={"n": SCATTERED},
    ),
}


def test_every_example_is_here() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.mlir")} == set(EXAMPLE)


def compiled(name: str, device: str) -> KernelArtifact:
    """An example for a GPU."""
    return compile_module((EXAMPLES / f"{name}.mlir").read_text(), find(device))


_REFUSED = {"work_item_gemm": "expected the value of a whole sub-group, 128 elements, or of one of its 8 work-items"}
_SLOW = [pytest.param(device, name, marks=pytest.mark.slow) for device in ("pvc", "mtl") for name in EXAMPLE]
# Of the others each does something else.
_ALIKE = (
    "gemm_prefetch",
    "gemm_transpose_in_registers",
    "gemm_two_cache_levels",
    "softmax_rows",
    "xegpu_gemm_prefetch",
)
_WIDE = [pytest.param("b580", name, marks=pytest.mark.slow if name in _ALIKE else ()) for name in EXAMPLE]
_NARROW = [
    ("a770", name) if name == "softmax_rows" else pytest.param("a770", name, marks=pytest.mark.slow) for name in EXAMPLE
]


@pytest.mark.parametrize("name", _REFUSED)
def test_what_is_written_for_work_items_of_wider_sub_groups_is_refused(name: str) -> None:
    with pytest.raises(CodegenError, match=_REFUSED[name]):
        compiled(name, "a770")


@pytest.mark.parametrize(("device", "name"), [*_WIDE, *_NARROW, *_SLOW])
def test_the_numbers_of_an_example_are_right(device: str, name: str) -> None:
    if device in ("a770", "mtl") and name in _REFUSED:
        pytest.skip("it is written for the work-items of sub-groups of 16")
    example = EXAMPLE[name]
    artifact = compiled(name, device)
    (signature,) = artifact.kernels
    arguments = example.arguments(np.random.default_rng(0))
    expected = example.expected(arguments)
    values = example.ordered((argument.name for argument in signature.arguments), arguments)
    report = simulate_module(artifact, signature.name, example.grid, None, values)
    assert report.executed == report.total == int(np.prod(example.grid))
    for output, wanted in expected.items():
        np.testing.assert_allclose(arguments[output], wanted, rtol=0, atol=example.tolerance)
