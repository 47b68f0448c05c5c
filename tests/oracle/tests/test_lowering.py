"""Kernels give the same results in the interpreter before and after lowering and distribution."""

import numpy as np
import pytest
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i32

from codegen import DType, GemmProblem
from codegen.xe.build.gemm import build_gemm
from codegen.xe.build.raster import launched
from codegen.xe.dialects import (
    gpu,
    parse,
)
from codegen.xe.dialects.gpu.host import (
    DevicePart,
    device_part,
)
from codegen.xe.passes.distribute import distribute_to_subgroups
from codegen.xe.passes.expand_subgroup_threads import expand_subgroup_threads
from codegen.xe.passes.lower_xetile import (
    LowerXeTilePass,
    lower_xetile,
)
from hal.facts.xe import find
from tests.codegen.xe.gemm_fixtures import GemmFixture
from tests.codegen.xe.modules.test_examples import EXAMPLE, EXAMPLES, Arrays, Example
from tests.codegen.xe.passes.test_lower_xetile import CASES, config
from tests.few import few
from tests.oracle import interpret

B580 = find("b580")

GEMMS = {
    "ragged": CASES["ragged"],
    "ragged-no-prefetch": CASES["ragged-no-prefetch"],
    "bf16": (
        GemmProblem(72, 104, 88, dtype_a=DType.BF16, dtype_b=DType.BF16, dtype_c=DType.BF16),
        config((64, 128, 64), (2, 4)),
    ),
}


@pytest.mark.parametrize("name", GEMMS)
def test_a_lowered_gemm_computes_the_same(name: str) -> None:
    problem, chosen = GEMMS[name]
    measure = GemmFixture("", problem.m, problem.n, problem.k, problem.dtype_a, problem.dtype_c, (1, 1, 1), 16)
    module, results = build_gemm(problem, chosen, B580), []
    for _ in range(2):
        buffers = measure.operands()
        interpret(module, "gemm", launched(problem, chosen), buffers)
        assert measure.worst(buffers) <= 1
        results.append(buffers[2])
        lower_xetile(module, LowerXeTilePass())
        module.verify()
    np.testing.assert_array_equal(*results)
    assert not any(op.name.startswith("xetile.") for op in module.walk())


def example(part: DevicePart) -> tuple[ModuleOp, gpu.FuncOp]:
    """Return the module of an example, whose only kernel has the block size of its host code."""
    module = parse(part.text)
    module.verify()
    (kernel,) = (op for op in module.walk() if isinstance(op, gpu.FuncOp))
    blocks = [launch.block for launch in part.launches if launch.block is not None]
    if kernel.known_block_size is None and blocks:
        kernel.properties["known_block_size"] = DenseArrayBase.from_list(i32, blocks[0])
    return module, kernel


def computed(module: ModuleOp, kernel: gpu.FuncOp, chosen: Example, arguments: Arrays) -> Arrays:
    """Return the arguments after a launch."""
    after = {name: x.copy() for name, x in arguments.items()}
    args = chosen.ordered((a.name_hint or "" for a in kernel.body.blocks[0].args), after)
    interpret(module, kernel.sym_name.data, chosen.grid, args)
    return after


@pytest.mark.parametrize("name", few(EXAMPLE, 4))
def test_an_example_computes_the_same_at_every_level(name: str) -> None:
    chosen = EXAMPLE[name]
    module, kernel = example(device_part((EXAMPLES / f"{name}.mlir").read_text()))
    arguments = chosen.arguments(np.random.default_rng(3))
    expected = chosen.expected(arguments)
    before = computed(module, kernel, chosen, arguments)

    expand_subgroup_threads(module)
    lower_xetile(module, LowerXeTilePass())
    lowered = computed(module, kernel, chosen, arguments)
    distribute_to_subgroups(module)
    distributed = computed(module, kernel, chosen, arguments)
    for output, values in expected.items():
        np.testing.assert_allclose(before[output], values, rtol=0, atol=chosen.tolerance)
        np.testing.assert_array_equal(lowered[output], before[output])
        np.testing.assert_allclose(distributed[output], before[output], rtol=0, atol=chosen.tolerance)
