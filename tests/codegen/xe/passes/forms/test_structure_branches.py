"""Branches between blocks, as MLIR writes loops and conditions, become loops and conditions that do the same."""

# MLIR's bindings declare no types.
# pyright: reportAttributeAccessIssue=false

from pathlib import Path

import numpy as np
import pytest
from torch_mlir import ir
from torch_mlir.passmanager import PassManager
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects import parse, text
from codegen.xe.mlir.context import context
from codegen.xe.passes.forms import rewrite_forms
from tests.codegen.xe.operations.arguments import arguments
from tests.codegen.xe.operations.case import Case, Level, cases_of
from tests.oracle import interpret

FOLDER = Path(__file__).parents[2] / "operations"
CASES = [
    case
    for case in (*cases_of(FOLDER / "control.mlir"), *cases_of(FOLDER / "forms.mlir"))
    if case.operation in ("scf.for", "scf.if", "scf.while") and Level.SUBGROUP in case.sources
]


def with_branches(source: str) -> str:
    """A module after MLIR's `convert-scf-to-cf`."""
    with context(), ir.Location.unknown():
        module = ir.Module.parse(source)
        PassManager.parse("builtin.module(gpu.module(gpu.func(convert-scf-to-cf)))").run(module.operation)
        return str(module)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "_"))
def test_branches_do_what_the_loops_did(case: Case) -> None:
    source = case.sources[Level.SUBGROUP]
    lowered = with_branches(source)
    assert "cf." in lowered
    assert "scf." not in lowered
    module = parse(lowered)
    rewrite_forms(module)
    module.verify()
    assert "cf.br" not in text(module).replace("scf.", "")
    expected, got = (arguments(case, source) for _ in range(2))
    for kernel, values in ((parse(source), expected), (module, got)):
        interpret(kernel, "k", (case.groups, 1, 1), values, case.block(Level.SUBGROUP))
    for wanted, found in zip(expected, got, strict=True):
        np.testing.assert_array_equal(wanted, found)


def test_an_empty_block_is_refused() -> None:
    module = parse("""gpu.module @m {
  gpu.func @k(%A: memref<8x16xf32>) kernel {
    %c = arith.constant true
    cf.cond_br %c, ^a, ^b
  ^a:
    gpu.return
  ^b:
  }
}""")
    with pytest.raises(PassFailedException, match="expected a terminator in each block, got an empty block"):
        rewrite_forms(module)
