"""Operations of MLIR dialects that xDSL lacks, or prints differently from the pinned MLIR."""
