"""Of MLIR's dialects what xDSL lacks, or writes differently from the pinned MLIR."""
