"""Machine code of Intel's compiler: a reader of its binaries and listings, and an interpreter of the instructions."""

from codegen.xe.machine.instruction import Instruction, Listing
from codegen.xe.machine.listing import parse_listing
from codegen.xe.machine.refusal import MachineCodeRefused
from codegen.xe.machine.zebin import Zebin, read_zebin

__all__ = ["Instruction", "Listing", "MachineCodeRefused", "Zebin", "parse_listing", "read_zebin"]
