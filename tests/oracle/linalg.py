"""The meaning of linalg's products."""

from codegen.xe.dialects.upstream.linalg import (
    BatchMatmulOp,
    MatmulOp,
    ProductOp,
)
from tests.oracle.combine import product
from tests.oracle.frame import Frame
from tests.oracle.registry import rule_of


@rule_of(MatmulOp)
def _matmul(frame: Frame, op: MatmulOp) -> None:
    _multiply(frame, op)


@rule_of(BatchMatmulOp)
def _batch_matmul(frame: Frame, op: BatchMatmulOp) -> None:
    _multiply(frame, op)


def _multiply(frame: Frame, op: ProductOp) -> None:
    a, b, c = (frame.view(v) for v in (op.a, op.b, op.c))
    c.store(product(a.load(), b.load(), c.load(), c.element))
