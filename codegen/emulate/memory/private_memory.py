"""Analysis of a kernel's private arrays.

A private array is kept in granules, each with the 16 lanes beside one another: the largest pieces that no access and
no pointer lies across.
"""

from math import gcd

from codegen.emulate.refusal import not_emulated
from codegen.simulate.functions.block_shape import block_shape
from codegen.simulate.llvm_ir.ir import (
    Function,
    Instruction,
)
from codegen.simulate.llvm_ir.mangling import unmangled

_BLOCK_ARGUMENTS = 6  # surface and coordinates, then where the block is in private memory
_POINTING = frozenset(("getelementptr", "phi", "select"))  # what makes a pointer of others
MOVES_OF_BYTES = ("llvm.memset.", "llvm.memcpy.", "llvm.memmove.")
_TAKE_ANY = ("llvm.lifetime.start", "llvm.lifetime.end")


def instructions(function: Function) -> list[Instruction]:
    """Yield all instructions, in program order."""
    return [i for block in function.blocks for i in (*block.phis, *block.body)]


def granule_bytes(function: Function) -> dict[str, int]:
    """Return the granule of each private pointer, in bytes.

    Raises:
        CompileFailed: a pointer that is more than the place of a load, store or block message.
    """
    arrays = _arrays(function)
    sizes: dict[str, int] = {}

    def access(pointer: str, nbytes: int) -> None:
        if pointer in arrays:
            sizes[arrays[pointer]] = gcd(sizes.get(arrays[pointer], 0), nbytes)

    for i in instructions(function):
        if i.opcode == "getelementptr" and i.result in arrays:
            for factor in _offset_factors(i):
                access(i.result, factor)
        elif i.opcode == "load":
            access(i.operands[0].local, i.type.dtype.itemsize)
        elif i.opcode == "store" and i.operands[0].local not in arrays:
            access(i.operands[1].local, i.operands[0].type.dtype.itemsize)
        elif i.opcode == "call" and (shape := block_shape(unmangled(i.detail))) and shape.action != "prefetch":
            access(i.operands[5].local, message_bytes(shape.layout, shape.nbytes))
        elif i.detail.startswith(MOVES_OF_BYTES):
            length = 0 if i.operands[2].local else int(i.operands[2].constant[0] or 0)
            for pointer in i.operands[:2]:
                access(pointer.local, length)
        elif i.result in arrays or i.detail.startswith(_TAKE_ANY):
            continue
        elif any(o.local in arrays for o in i.operands):
            raise not_emulated("a private pointer used otherwise than for its memory", i.text)
    return {pointer: sizes.get(array, 1) for pointer, array in arrays.items()}


def _arrays(function: Function) -> dict[str, str]:
    """Return the array that each private pointer points into; arrays that one pointer may point into are merged."""
    found = {i.result: i.result for i in instructions(function) if i.opcode == "alloca"}
    changed = True
    while changed:
        changed = False
        for i in instructions(function):
            if i.opcode not in _POINTING:
                continue
            pointers = [name for name in (i.result, *(o.local for o in i.operands)) if name in found]
            one = min((found[name] for name in pointers), default="")
            others = {found[name] for name in pointers} - {one}
            if pointers and (others or i.result not in found):
                found = {name: one if array in others else array for name, array in found.items()} | {i.result: one}
                changed = True
    return found


def message_bytes(layout: str, nbytes: int) -> int:
    """Return the bytes of a block message for each lane that lie side by side."""
    return 4 if layout == "transform" else nbytes


def steps_of(i: Instruction) -> tuple[int, ...]:
    """Return the bytes that each index of a getelementptr counts."""
    return (i.pointee.stride, *(i.pointee.scalar.stride for _ in i.operands[2:]))


def _offset_factors(i: Instruction) -> list[int]:
    """Return numbers whose common divisors divide a getelementptr offset: its constant part and the other steps."""
    pairs = list(zip(i.operands[1:], steps_of(i), strict=True))
    fixed = sum(int(o.constant[0] or 0) * step for o, step in pairs if o.is_constant)
    return [abs(fixed), *(step for o, step in pairs if not o.is_constant)]


def stays_in_memory(function: Function) -> frozenset[str]:
    """Return loads whose private memory has one earlier writer in the same block: the value can stay in memory.

    The memory is written again only where the load runs again too.
    """
    arrays = _arrays(function)
    written: dict[str, list[tuple[str, int]]] = {}
    loaded: list[tuple[str, str, str, int]] = []
    for block in function.blocks:
        for at, i in enumerate(block.body):
            if i.opcode == "store" or (i.opcode == "call" and len(i.operands) == _BLOCK_ARGUMENTS):
                written.setdefault(arrays.get(i.operands[-1].local, ""), []).append((block.label, at))
            elif i.opcode == "call" and i.detail.startswith(MOVES_OF_BYTES):
                written.setdefault(arrays.get(i.operands[0].local, ""), []).append((block.label, at))
            elif i.opcode == "load":
                loaded.append((i.result, arrays.get(i.operands[0].local, ""), block.label, at))
    return frozenset(
        result
        for result, root, label, at in loaded
        if root and len(writes := written.get(root, [])) == 1 and writes[0][0] == label and writes[0][1] < at
    )
