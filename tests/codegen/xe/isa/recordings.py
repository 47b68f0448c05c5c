"""Recorded output of Intel's offline compiler; see recorded/README.md."""

from pathlib import Path

from codegen.xe.isa.ocloc import Disassembly

RECORDED = Path(__file__).parent / "recorded"


def recorded(name: str) -> Disassembly:
    """Return the disassembly of the kernel `gemm` of a recording."""
    return Disassembly((RECORDED / f"{name}.ze_info").read_text(), {"gemm": (RECORDED / f"{name}.asm").read_text()})
