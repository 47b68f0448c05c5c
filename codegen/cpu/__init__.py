"""The deep-tiled matmul on x86 CPUs: a loop nest around a batch-reduce micro-kernel, as LLVM IR and object code."""
