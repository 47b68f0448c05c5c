"""Upstream MLIR as the judge of our XeGPU."""

from codegen import CompileFailed, KernelArtifact
from codegen.xe.mlir import MlirModule

# Forms of the RFC and of older documents, which the pinned MLIR does not have, and layouts with more sub-groups than
# parts of a tile.
_OURS_ALONE = (
    "custom op 'xegpu.create_tdesc' is unknown",
    "custom op 'xegpu.mem_desc_subview' is unknown",
    "Mismatched ranks between offsets and tensor descriptor",
    "expecting strides and shape to be present for integer source",
    "is not consistent with tensor descriptor",  # transpose_bit_width
    "all of {lhs, rhs} have same element type",  # ui8 by si8
    "Rank mismatch among A, B, and result",  # operands packed in words
    "expected ':'",  # spellings of the RFC
    "shape is not distributable with the layout",
    "data cannot be evenly distributed",
    "cannot distribute [",
    "unknown attribute `sg_map`",
    "TensorDesc doesn't need LayoutAttr for SIMT code",  # work-items may say which elements they hold
    "SLM is only supported for 1D block tensor",
    "Mask should match value except the chunk size dim",  # chunk_size that the value's type says
    "value elements must match chunk size 1",
)


def check_upstream(artifact: KernelArtifact) -> None:
    """Check that MLIR parses and verifies the XeGPU of a module, at work-group and at sub-group level.

    Raises:
        CompileFailed: it refuses something that is in the dialect of both.
    """
    for stage in ("xegpu", "subgroup"):
        try:
            MlirModule(artifact.stage(stage).data.decode(), stage)
        except CompileFailed as refused:
            if not any(reason in refused.message for reason in _OURS_ALONE):
                raise
