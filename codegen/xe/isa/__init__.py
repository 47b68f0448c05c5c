"""Native GPU code: Intel's offline compiler, and a report on the instructions that it generates."""

from codegen.xe.isa.loops import (
    KLoop,
    Sends,
)
from codegen.xe.isa.native import (
    Compiled,
    NativeCode,
    check_native,
    check_scoreboard,
    compile_kernel,
    compile_native,
    pipeline_json,
    report_json,
    with_isa,
)
from codegen.xe.isa.ocloc import Ocloc
from codegen.xe.isa.report import IsaReport

__all__ = [
    "Compiled",
    "IsaReport",
    "KLoop",
    "NativeCode",
    "Ocloc",
    "Sends",
    "check_native",
    "check_scoreboard",
    "compile_kernel",
    "compile_native",
    "pipeline_json",
    "report_json",
    "with_isa",
]
