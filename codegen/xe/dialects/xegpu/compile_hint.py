"""`xegpu.compile_hint`, which files for Intel's former C++ implementation place around the multiplies of loops."""

from xdsl.irdl import IRDLOperation, irdl_op_definition, traits_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect


@irdl_op_definition
class CompileHintOp(IRDLOperation):
    """A scheduling fence of that implementation; no effect on values."""

    name = "xegpu.compile_hint"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()
