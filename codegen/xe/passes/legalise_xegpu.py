"""Rewrites XeGPU of the RFC and of MLIR's documentation to the XeGPU that the pinned MLIR has."""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from codegen.xe.passes.legalise_xegpu_blocks import legalise_blocks
from codegen.xe.passes.legalise_xegpu_layouts import legalise_layouts
from codegen.xe.passes.legalise_xegpu_matrices import legalise_matrices
from codegen.xe.passes.legalise_xegpu_scattered import legalise_scattered
from codegen.xe.passes.legalise_xegpu_values import legalise_values

_STEPS: tuple[Callable[[ModuleOp], None], ...] = (
    legalise_blocks,
    legalise_scattered,
    legalise_matrices,
    legalise_values,
    legalise_layouts,  # last: accesses have their descriptor's layout by then
)


@dataclass(frozen=True)
class LegaliseXeGPUPass(ModulePass):
    """Afterwards MLIR takes the module: offsets on accesses, bases in place of scattered descriptors, no sg_map."""

    name = "legalise-xegpu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        legalise_xegpu(op)


def legalise_xegpu(module: ModuleOp) -> None:
    """Apply the pass.

    Raises:
        PassFailedException: something that the pinned MLIR has no form for; our own lowering may take it.
    """
    for step in _STEPS:
        step(module)
