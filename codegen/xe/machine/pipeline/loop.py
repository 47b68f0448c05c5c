"""The K loop of a listing."""

from codegen.xe.machine.instruction import Instruction, Listing
from codegen.xe.machine.messages import AddressModel, MemoryMessage


def is_dpas(i: Instruction) -> bool:
    """Return whether an instruction multiplies matrices."""
    return i.opcode in ("dpas", "dpasw")


def k_loop(listing: Listing) -> range | None:
    """Return the instructions of the innermost loop with the most DPAS, by number; None without DPAS.

    Where K is short, the compiler unrolls it completely: then from the first message that loads to the last DPAS. A
    loop extends from its first instruction to the last branch there.
    """
    last: dict[int, int] = {}
    for number, i in enumerate(listing.instructions):
        for target in i.targets:
            if target <= number:
                last[target] = number
    loops = [range(first, end + 1) for first, end in last.items()]
    with_dpas = [loop for loop in loops if _count(listing, loop)]
    innermost = [loop for loop in with_dpas if not any(_is_within(other, loop) for other in with_dpas)]
    return max(innermost, key=lambda loop: _count(listing, loop), default=_stretch(listing))


def _stretch(listing: Listing) -> range | None:
    numbers = [number for number, i in enumerate(listing.instructions) if is_dpas(i)]
    if not numbers:
        return None
    loads = (number for number, i in enumerate(listing.instructions) if _loads(i))
    return range(min(next(loads, numbers[0]), numbers[0]), numbers[-1] + 1)


def _loads(i: Instruction) -> bool:
    m = i.message
    return isinstance(m, MemoryMessage) and m.access.is_load and m.model is not AddressModel.BINDING_TABLE


def _count(listing: Listing, loop: range) -> int:
    return sum(is_dpas(i) for i in listing.instructions[loop.start : loop.stop])


def _is_within(inner: range, outer: range) -> bool:
    return inner != outer and inner.start >= outer.start and inner.stop <= outer.stop
