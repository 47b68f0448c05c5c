"""The benchmark of experts on CPUs: operands are those of the problem."""

import numpy as np
import pytest

from benchmarks.cpu.experts import operands, problem_of
from codegen.problem.experts import offsets


@pytest.mark.parametrize("kind", ["bf16", "u4"])
def test_operands_are_those_of_the_problem(kind: str) -> None:
    problem = problem_of(kind, 20, 6, 48, 256)
    held = operands(problem)
    assert [len(part) for part in held.bytes] == [operand.nbytes(1) for operand in problem.operands]
    assert held.scales[-1].view(np.int32).tolist() == offsets(problem.rows_of_experts)
    values = (held.a.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    assert np.abs(values).max() <= 0.5
