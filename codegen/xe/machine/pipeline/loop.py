"""The K loop of a listing."""

from codegen.xe.machine.instruction import Instruction, Listing
from codegen.xe.machine.k_loop import find_k_loop
from codegen.xe.machine.messages import AddressModel, MemoryMessage


def is_dpas(i: Instruction) -> bool:
    """Return whether an instruction multiplies matrices."""
    return i.opcode in ("dpas", "dpasw")


def k_loop(listing: Listing) -> range | None:
    """Return the instructions of the K loop, or of the code that it was unrolled to, by number; None without DPAS."""
    code = listing.instructions
    region = find_k_loop([i.targets for i in code], [is_dpas(i) for i in code], map(_loads, code))
    return None if region is None else region.part


def _loads(i: Instruction) -> bool:
    m = i.message
    return isinstance(m, MemoryMessage) and m.access.is_load and m.model is not AddressModel.BINDING_TABLE
