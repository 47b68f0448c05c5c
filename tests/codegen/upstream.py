"""Upstream MLIR as the judge of our XeGPU."""

from codegen import CompileFailed, KernelArtifact
from codegen.xe.mlir import MlirModule

# Scattered descriptors are only in the RFC; layouts may have more sub-groups than parts of a tile.
_OURS_ALONE = (
    "custom op 'xegpu.create_tdesc' is unknown",
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
