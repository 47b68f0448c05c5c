"""Rewrites calls, branches, switches and operations that others express: the first pass of a module."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from codegen.xe.dialects import gpu
from codegen.xe.passes.forms.expand_ops import expand_ops
from codegen.xe.passes.forms.inline_calls import inline_calls
from codegen.xe.passes.forms.structure_branches import structure_branches
from codegen.xe.passes.mark_levels import mark_levels


@dataclass(frozen=True)
class RewriteFormsPass(ModulePass):
    """Inlines calls, makes scf of branches, and expands operations that others express; kernels only."""

    name = "rewrite-forms"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_forms(op)


def rewrite_forms(module: ModuleOp) -> None:
    """Apply the pass to the gpu.modules of a module; kernels for work-items are marked.

    Raises:
        PassFailedException: a function calls itself or has no body, its branches are not loops and conditions, or its
            operations are of several levels.
    """
    for op in module.body.ops:
        if isinstance(op, gpu.ModuleOp):
            structure_branches(op)
            inline_calls(op)
            for function in op.body.ops:
                if isinstance(function, gpu.FuncOp):
                    mark_levels(function)
            expand_ops(op)
