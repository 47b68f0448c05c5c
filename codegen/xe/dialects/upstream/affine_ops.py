"""The operation of the affine dialect that kernels use to compute indices."""

from xdsl.dialects.affine import ApplyOp
from xdsl.ir import Dialect

__all__ = ["Affine", "ApplyOp"]

Affine = Dialect("affine", [ApplyOp])
