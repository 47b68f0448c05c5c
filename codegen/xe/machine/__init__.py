"""Machine code of Intel's compiler: a reader of its binaries and listings, and an interpreter of the instructions."""

from typing import TYPE_CHECKING

from hal.late import late_exports

if TYPE_CHECKING:
    from codegen.xe.machine.instruction import Instruction, Listing
    from codegen.xe.machine.listing import parse_listing
    from codegen.xe.machine.refusal import MachineCodeRefused
    from codegen.xe.machine.zebin import Zebin, read_zebin

__all__ = ["Instruction", "Listing", "MachineCodeRefused", "Zebin", "parse_listing", "read_zebin"]

# Imported when it is first asked for: facts of messages are needed where no machine code is read.
_LATE = {
    "Instruction": "codegen.xe.machine.instruction",
    "Listing": "codegen.xe.machine.instruction",
    "MachineCodeRefused": "codegen.xe.machine.refusal",
    "Zebin": "codegen.xe.machine.zebin",
    "parse_listing": "codegen.xe.machine.listing",
    "read_zebin": "codegen.xe.machine.zebin",
}

__getattr__ = late_exports(globals(), _LATE)
