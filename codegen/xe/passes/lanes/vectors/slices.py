"""Slices of a message's result in private memory, which must not be loaded twice.

MLIR makes a load of each slice, and takes elements of a slice from the whole. LLVM then extracts the slice
from the load of the whole, as one integer of that many bits, which SPIR-V lacks.
"""

from xdsl.dialects import vector as xvector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from codegen.xe.dialects.creation import walk
from codegen.xe.dialects.upstream.vector_ops import (
    ExtractStridedSliceOp,
    FromElementsOp,
    integers,
)
from codegen.xe.dialects.upstream.xevm import BlockLoad2dOp


def take_elements_of_slices(body: Block) -> None:
    """Build slices from elements if elements of the slice or of the message's result are also extracted."""
    for op in [op for op in walk(body) if type(op) is BlockLoad2dOp]:
        if _is_taken_otherwise(op.results[0]):
            for use in tuple(op.results[0].uses):
                if isinstance(use.operation, ExtractStridedSliceOp):
                    _to_elements(use.operation)


def _is_taken_otherwise(value: SSAValue) -> bool:
    users = [use.operation for use in value.uses]
    slices = [op for op in users if type(op) is ExtractStridedSliceOp]
    of_slices = [use.operation for op in slices for use in op.result.uses]
    return len(slices) < len(users) or any(isinstance(op, xvector.ExtractOp) for op in of_slices)


def _to_elements(op: ExtractStridedSliceOp) -> None:
    type_ = op.result.type
    assert isinstance(type_, VectorType)
    (first,), (length,) = integers(op.offsets), type_.get_shape()
    elements = [xvector.ExtractOp(op.source, [first + position], type_.element_type) for position in range(length)]
    Rewriter.insert_op(elements, InsertPoint.before(op))
    Rewriter.replace_op(op, FromElementsOp([element.result for element in elements], type_))
