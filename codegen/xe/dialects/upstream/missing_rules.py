"""Rules of MLIR that xDSL's verifiers do not check, or whose violation ends in an error of no type of its own."""

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.gpu.kernel import FuncOp, ReturnOp
from codegen.xe.dialects.upstream.arith_casts import check_truncf


def check_missing_rules(op: Operation) -> None:
    """Check the rules of one operation.

    Raises:
        VerifyException: it breaks one.
    """
    rule = _RULES.get(type(op))
    if rule is not None:
        rule(op)


def _same(op: Operation, expected: Sequence[Attribute], values: Sequence[SSAValue]) -> None:
    types = tuple(value.type for value in values)
    if types != tuple(expected):
        wanted, got = (", ".join(map(str, listed)) for listed in (expected, types))
        raise VerifyException(f"{op.name}: expected values of ({wanted}), got ({got})")


def _yield(op: Operation) -> None:
    parent = op.parent_op()
    if isinstance(parent, scf.IfOp):
        _same(op, parent.result_types, op.operands)
    elif isinstance(parent, scf.WhileOp):
        _same(op, [value.type for value in parent.arguments], op.operands)


def _condition(op: Operation) -> None:
    parent = op.parent_op()
    if isinstance(parent, scf.WhileOp):
        _same(op, parent.result_types, op.operands[1:])


def _while(op: Operation) -> None:
    assert isinstance(op, scf.WhileOp)
    for region, types in ((op.before_region, [v.type for v in op.arguments]), (op.after_region, op.result_types)):
        _same(op, types, region.block.args)


def _return(op: Operation) -> None:
    parent = op.parent_op()
    if isinstance(parent, FuncOp):
        _same(op, parent.function_type.outputs.data, op.operands)


def _access(op: Operation) -> None:
    assert isinstance(op, memref.LoadOp | memref.StoreOp)
    type_, got = op.memref.type, len(op.indices)
    if isinstance(type_, MemRefType) and type_.get_num_dims() != got:
        raise VerifyException(f"{op.name}: expected {type_.get_num_dims()} indices for {type_}, got {got}")


def _truncf(op: Operation) -> None:
    assert isinstance(op, arith.TruncFOp)
    check_truncf(op)


_RULES: Mapping[type[Operation], Callable[[Operation], None]] = {
    scf.YieldOp: _yield,
    scf.ConditionOp: _condition,
    scf.WhileOp: _while,
    ReturnOp: _return,
    memref.LoadOp: _access,
    memref.StoreOp: _access,
    arith.TruncFOp: _truncf,
}
