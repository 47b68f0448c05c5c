"""Native GPU code: Intel's offline compiler, and a report on the instructions that it generates."""

from typing import TYPE_CHECKING

from hal.late import late_exports

if TYPE_CHECKING:
    from codegen.xe.isa.loops import KLoop, Sends
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

# Imported when it is first asked for: whether the compiler is installed is told without the reader of its output.
_LATE = {
    "Compiled": "codegen.xe.isa.native",
    "IsaReport": "codegen.xe.isa.report",
    "KLoop": "codegen.xe.isa.loops",
    "NativeCode": "codegen.xe.isa.native",
    "Ocloc": "codegen.xe.isa.ocloc",
    "Sends": "codegen.xe.isa.loops",
    "check_native": "codegen.xe.isa.native",
    "check_scoreboard": "codegen.xe.isa.native",
    "compile_kernel": "codegen.xe.isa.native",
    "compile_native": "codegen.xe.isa.native",
    "pipeline_json": "codegen.xe.isa.native",
    "report_json": "codegen.xe.isa.native",
    "with_isa": "codegen.xe.isa.native",
}

__getattr__ = late_exports(globals(), _LATE)
