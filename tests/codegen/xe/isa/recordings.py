"""What Intel's offline compiler wrote, kept beside this file; see recorded/README.md."""

from pathlib import Path

from codegen.xe.isa.ocloc import Disassembly

RECORDED = Path(__file__).parent / "recorded"


def recorded(name: str) -> Disassembly:
    """The disassembly of a kernel called gemm."""
    return Disassembly((RECORDED / f"{name}.ze_info").read_text(), {"gemm": (RECORDED / f"{name}.asm").read_text()})
