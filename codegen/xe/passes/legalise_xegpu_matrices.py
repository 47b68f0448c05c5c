"""Subviews of matrices in shared local memory to offsets of the accesses."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.xegpu import (
    LoadMatrixOp,
    MemDescSubviewOp,
    MemDescType,
    StoreMatrixOp,
)
from codegen.xe.passes.fold_offsets import (
    Place,
    add,
)


def legalise_matrices(module: ModuleOp) -> None:
    """Apply the step.

    Raises:
        PassFailedException: a subview that something other than an access uses.
    """
    for op in tuple(module.walk()):
        if isinstance(op, LoadMatrixOp | StoreMatrixOp) and isinstance(op.mem_desc.owner, MemDescSubviewOp):
            _replace_access(op)
    for op in reversed(tuple(module.walk())):
        if not isinstance(op, MemDescSubviewOp):
            continue
        users = [use.operation.name for use in op.result.uses]
        if users:
            raise PassFailedException(
                f"legalise-xegpu: expected mem_desc_subview for load_matrix and store_matrix, got one for {users[0]}"
            )
        Rewriter.erase_op(op)


def _replace_access(op: LoadMatrixOp | StoreMatrixOp) -> None:
    matrix, place = _root(op.mem_desc, op.mixed_offsets, InsertPoint.before(op))
    properties = {k: v for k, v in op.properties.items() if k != "const_offsets"}
    if isinstance(op, LoadMatrixOp):
        new: Operation = LoadMatrixOp(matrix, place, op.result.type, properties)
        new.results[0].name_hint = op.result.name_hint
    else:
        new = StoreMatrixOp(op.value, matrix, place, properties)
    new.attributes = op.attributes
    Rewriter.replace_op(op, new)


def _root(desc: SSAValue, place: Place, where: InsertPoint) -> tuple[SSAValue, Place]:
    """The matrix that a subview is of, and a place in the subview as one in the matrix."""
    while isinstance(desc.owner, MemDescSubviewOp):
        view = desc.owner
        assert isinstance(view.source.type, MemDescType)
        padded = (0,) * (view.source.type.get_num_dims() - len(place)) + place
        place = tuple(add(a, b, where) for a, b in zip(view.mixed_offsets, padded, strict=True))
        desc = view.source
    return desc, place
