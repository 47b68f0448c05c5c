"""The K loop of a listing."""

from codegen.xe.machine.instruction import Instruction, Listing
from codegen.xe.machine.k_loop import find_k_loop
from codegen.xe.machine.messages import AddressModel, MemoryMessage
from codegen.xe.machine.operands import Register, RegisterFile


def is_dpas(i: Instruction) -> bool:
    """Return whether an instruction multiplies matrices."""
    return i.opcode in ("dpas", "dpasw")


def is_void(i: Instruction) -> bool:
    """Return whether a dpas multiplies nothing: on Xe-HPG a sequence begins with one of a single register."""
    if not is_dpas(i) or not isinstance(i.destination, Register):
        return False
    accumulator, *factors = (source for source in i.sources if isinstance(source, Register))
    return accumulator.file is RegisterFile.NULL and all(f.number == i.destination.number for f in factors)


def k_loop(listing: Listing) -> range | None:
    """Return the instructions of the K loop, or of the code that it was unrolled to, by number; None without DPAS."""
    code = listing.instructions
    region = find_k_loop([i.targets for i in code], [is_dpas(i) for i in code], map(_loads, code))
    return None if region is None else region.part


def _loads(i: Instruction) -> bool:
    m = i.message
    return isinstance(m, MemoryMessage) and m.access.is_load and m.model is not AddressModel.BINDING_TABLE
