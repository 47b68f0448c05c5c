"""What a GPU really runs: Intel's offline compiler, and a report on the instructions that it makes."""

from codegen.isa.loops import KLoop, Sends
from codegen.isa.native import NativeCode, compile_kernel, compile_native, with_isa
from codegen.isa.ocloc import Ocloc
from codegen.isa.report import IsaReport

__all__ = [
    "IsaReport",
    "KLoop",
    "NativeCode",
    "Ocloc",
    "Sends",
    "compile_kernel",
    "compile_native",
    "with_isa",
]
