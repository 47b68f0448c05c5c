"""Upstream MLIR as the judge of our XeGPU."""

from codegen import CompileFailed, KernelArtifact
from codegen.xe.mlir import MlirModule

# Only in the RFC: scattered descriptors, and offsets into the outer dimensions of a matrix. Ours alone: layouts with
# more sub-groups than parts of a tile.
_OURS_ALONE = (
    "custom op 'xegpu.create_tdesc' is unknown",
    "Mismatched ranks between offsets and tensor descriptor",
    "shape is not distributable with the layout",
    "data cannot be evenly distributed",
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
