"""How a kernel uses its private arrays."""

from codegen.emulate.refusal import not_emulated
from codegen.simulator.block_shape import block_shape
from codegen.simulator.ir import Function, Instruction
from codegen.simulator.mangling import unmangled

_BLOCK_ARGUMENTS = 6  # surface and coordinates, then where the block is in private memory


def instructions(function: Function) -> list[Instruction]:
    """All instructions, in program order."""
    return [i for block in function.blocks for i in (*block.phis, *block.body)]


def element_bytes(function: Function) -> dict[str, int]:
    """Bytes of an element behind each private pointer: a private array is kept element after element.

    Raises:
        CompileFailed: elements of two sizes in one array, or a pointer that is more than the place of a load,
            store or block message.
    """
    root: dict[str, str] = {}
    sizes: dict[str, int] = {}

    def access(pointer: str, nbytes: int, i: Instruction) -> None:
        if pointer in root and sizes.setdefault(root[pointer], nbytes) != nbytes:
            raise not_emulated("private memory with elements of two sizes", i.text)

    for i in instructions(function):
        if i.opcode == "alloca":
            root[i.result] = i.result
        elif i.opcode == "getelementptr" and i.operands[0].local in root:
            root[i.result] = root[i.operands[0].local]
        elif i.opcode == "load":
            access(i.operands[0].local, i.type.dtype.itemsize, i)
        elif i.opcode == "store":
            access(i.operands[1].local, i.operands[0].type.dtype.itemsize, i)
        elif i.opcode == "call" and (shape := block_shape(unmangled(i.detail))) and shape.action != "prefetch":
            access(i.operands[5].local, 4 if shape.layout == "transform" else shape.nbytes, i)
        elif any(o.local in root for o in i.operands):
            raise not_emulated("a private pointer used otherwise than for its memory", i.text)
    return {pointer: sizes.get(array, 1) for pointer, array in root.items()}


def stays_in_memory(function: Function) -> frozenset[str]:
    """Loads whose private memory only one earlier instruction of the same block writes: it can stay there.

    The memory is written again only where the load runs again too.
    """
    roots: dict[str, str] = {}
    written: dict[str, list[tuple[str, int]]] = {}
    loaded: list[tuple[str, str, str, int]] = []
    for block in function.blocks:
        for at, i in enumerate(block.body):
            if i.opcode == "alloca":
                roots[i.result] = i.result
            elif i.opcode == "getelementptr" and i.operands[0].local in roots:
                roots[i.result] = roots[i.operands[0].local]
            elif i.opcode == "store" or (i.opcode == "call" and len(i.operands) == _BLOCK_ARGUMENTS):
                pointer = i.operands[-1].local
                written.setdefault(roots.get(pointer, ""), []).append((block.label, at))
            elif i.opcode == "load":
                loaded.append((i.result, roots.get(i.operands[0].local, ""), block.label, at))
    return frozenset(
        result
        for result, root, label, at in loaded
        if len(writes := written.get(root, [])) == 1 and writes[0][0] == label and writes[0][1] < at
    )
