"""Inlines the functions that kernels call."""

from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects import gpu
from codegen.xe.locations import Rewriting

Function = func.FuncOp | gpu.FuncOp


def inline_calls(module: gpu.ModuleOp) -> None:
    """Inline every call in the kernels of a gpu.module; erase what was called, and the functions of func.

    Raises:
        PassFailedException: a function calls itself, or is not in the module with a body.
    """
    functions = {op.sym_name.data: op for op in module.body.ops if isinstance(op, Function)}
    called = {call.callee.string_value() for call in module.walk() if isinstance(call, func.CallOp)}
    inlining = _Inlining(functions)
    for name, function in functions.items():
        if isinstance(function, gpu.FuncOp) and (function.kernel is not None or name not in called):
            inlining.flatten(name, ())
    for name, function in functions.items():
        if isinstance(function, func.FuncOp) or (function.kernel is None and name in called):
            Rewriter.erase_op(function)


@dataclass(slots=True)
class _Inlining:
    functions: dict[str, Function]
    flat: set[str] = field(default_factory=set[str])

    def flatten(self, name: str, callers: tuple[str, ...]) -> Block | None:
        """Inline the calls of a function that is called by `callers`; return its body, None without one."""
        if name in callers:
            chain = " -> ".join((*callers[callers.index(name) :], name))
            raise PassFailedException(f"rewrite-forms: expected functions that do not call themselves, got {chain}")
        function = self.functions.get(name)
        if function is None or not function.body.blocks:
            return None
        if name not in self.flat:
            for call in [op for op in function.walk() if isinstance(op, func.CallOp)]:
                with Rewriting(call):
                    self._inline(call, name, callers)
            self.flat.add(name)
        return function.body.block

    def _inline(self, call: func.CallOp, name: str, callers: tuple[str, ...]) -> None:
        callee = call.callee.string_value()
        body = self.flatten(callee, (*callers, name))
        if body is None:
            raise PassFailedException(
                f"rewrite-forms: {name} calls {callee}: expected its body in the same gpu.module, got none"
            )
        _replace(call, body)


def _replace(call: func.CallOp, body: Block) -> None:
    """Replace a call by a copy of the function's body, which has no calls itself."""
    values: dict[SSAValue, SSAValue] = dict(zip(body.args, call.operands, strict=True))
    within, end = call.parent_block(), body.last_op
    assert within is not None
    assert end is not None  # a function ends with a terminator
    for op in list(body.ops)[:-1]:
        within.insert_op_before(op.clone(values), call)
    Rewriter.replace_op(call, [], [values.get(value, value) for value in end.operands])
