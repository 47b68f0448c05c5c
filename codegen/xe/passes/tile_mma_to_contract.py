"""Converts XeTile products to `vector.contract`, for hardware without DPAS."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr, IntegerType, ModuleOp, VectorType
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException
from xdsl.utils.hints import isa

from codegen.xe.dialects.creation import walk
from codegen.xe.dialects.upstream.contract import (
    ContractOp,
    IteratorType,
    projection,
)
from codegen.xe.dialects.xegpu.layout import Distribution, LayoutAttr
from codegen.xe.dialects.xetile import TileMmaOp
from codegen.xe.locations import Rewriting

_SUMMED, _KEPT = IteratorType.REDUCTION, IteratorType.PARALLEL

# Iteration dimensions m, n, k: A is (m, k), B (k, n), C (m, n).
_PLAIN = tuple(projection(3, kept) for kept in ((0, 2), (2, 1), (0, 1)))
# m, n, k over blocks, then bm, bn, bk in one: A is (m, k, bm, bk) and so on.
_BLOCKED = tuple(projection(6, kept) for kept in ((0, 2, 3, 5), (2, 1, 5, 4), (0, 1, 3, 4)))


@dataclass(frozen=True)
class TileMmaToContractPass(ModulePass):
    """Converts `tile_mma` to `vector.contract`, in two dimensions or blocked; without C, added to zeros."""

    name = "tile-mma-to-contract"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        tile_mma_to_contract(op)


def tile_mma_to_contract(module: ModuleOp, *, of: Attribute | None = None) -> None:
    """Apply the pass, to operations on one element type or on all.

    Raises:
        PassFailedException: the result has shorter floats than the operands.
    """
    for op in tuple(walk(module)):
        if type(op) is TileMmaOp and of in (None, _element_of(op)):
            with Rewriting(op):
                _replace(op)


def _replace(op: TileMmaOp) -> None:
    a, d = _element_of(op), op.d.type
    if isinstance(a, AnyFloat) and isa(d, VectorType[AnyFloat]) and d.element_type.bitwidth < a.bitwidth:
        raise PassFailedException(
            f"tile-mma-to-contract: expected a result of at least {a.bitwidth} bits for a and b of {a}, "
            f"got {d.element_type}: convert the result afterwards"
        )
    added: list[Operation] = []
    c = op.c
    if c is None:
        added.append(ConstantOp(_zeros(d)))
        c = added[0].results[0]
    blocked = d.get_num_dims() == 4
    maps = _BLOCKED if blocked else _PLAIN
    iterators = (_KEPT, _KEPT, _SUMMED) * (2 if blocked else 1)
    contract = ContractOp(op.a, op.b, c, maps, iterators)
    contract.result.name_hint = op.d.name_hint
    if op.wg_map_c is not None:
        layout = Distribution(sg_layout=op.wg_map_c.sg_layout, sg_data=op.wg_map_c.sg_data)
        contract.attributes["layout_result_0"] = LayoutAttr(layout)
    Rewriter.replace_op(op, [*added, contract])


def _element_of(op: TileMmaOp) -> Attribute:
    assert isinstance(op.a.type, VectorType)
    return op.a.type.element_type


def _zeros(type_: VectorType) -> DenseIntOrFPElementsAttr:
    if isa(type_, VectorType[AnyFloat]):
        return DenseIntOrFPElementsAttr.from_list(type_, [0.0])
    assert isa(type_, VectorType[IntegerType]), "tile_mma adds floats or integers"
    return DenseIntOrFPElementsAttr.from_list(type_, [0])
