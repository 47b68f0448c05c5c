"""Work-group-level kernels for the tests of the distribution, and how they are compared."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from codegen.xe.dialects import parse
from codegen.xe.passes.distribute import distribute_to_subgroups
from tests.oracle import interpret

Array = NDArray[Any]


def kernel(arguments: str, body: str, attributes: str = "", aliases: str = "") -> str:
    """A module with one kernel, `@k`."""
    return f"{aliases}\ngpu.module @m {{ gpu.func @k({arguments}) kernel {attributes} {{\n{body}\ngpu.return\n}} }}"


@lru_cache(1)
def _parsed(source: str) -> ModuleOp:
    module = parse(source)
    module.verify()
    return module


def run(source: str, args: list[Array | int | float], *, distributed: bool) -> list[Array | int | float]:
    """The arguments after a kernel of one work-group has run, at work-group or at sub-group level."""
    module = _parsed(source)
    if distributed:
        module = module.clone()
        distribute_to_subgroups(module)
        module.verify()
    after = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    interpret(module, "k", (1, 1, 1), after)
    return after


def assert_agrees(source: str, args: list[Array | int | float], rtol: float = 0.0) -> list[Array | int | float]:
    """Check that a kernel does the same before and after it is distributed; what it does."""
    expected = run(source, args, distributed=False)
    got = run(source, args, distributed=True)
    for before, after in zip(expected, got, strict=True):
        if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
            np.testing.assert_allclose(after.astype(np.float64), before.astype(np.float64), rtol=rtol, atol=rtol)
    changed = any(isinstance(b, np.ndarray) and not np.array_equal(a, b) for a, b in zip(args, expected, strict=True))
    assert changed, "the kernel does nothing, so nothing was compared"
    return got


def numbers(*shape: int, dtype: str = "float32", seed: int = 0) -> Array:
    """Small whole numbers: sums of them are exact in any order."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def layout(sg_layout: list[int], sg_data: list[int], order: list[int] | None = None) -> str:
    """The text of a layout."""
    ending = f", order = {order}" if order is not None else ""
    return f"#xegpu.layout<sg_layout = {sg_layout}, sg_data = {sg_data}{ending}>"


def copy_kernel(rows: int, columns: int, source: str, middle: str, target: str, kind: str = "f32") -> str:
    """Loads a matrix by one layout, converts by what `middle` says from %v to %w, stores it by another layout."""
    matrix, vector = f"memref<{rows}x{columns}x{kind}>", f"vector<{rows}x{columns}x{kind}>"
    desc = f"!xegpu.tensor_desc<{rows}x{columns}x{kind}>"
    return kernel(
        f"%A: {matrix}, %B: {matrix}",
        f"""
  %a = xegpu.create_nd_tdesc %A : {matrix} -> {desc}
  %b = xegpu.create_nd_tdesc %B : {matrix} -> {desc}
  %v = xegpu.load_nd %a[0, 0] <{{layout = {source}}}> : {desc} -> {vector}
  {middle}
  xegpu.store_nd %w, %b[0, 0] <{{layout = {target}}}> : {vector}, {desc}""",
    )
