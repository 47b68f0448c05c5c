"""Which values of a kernel differ between the lanes of a sub-group, and which private arrays hold them."""

from dataclasses import dataclass

from codegen.emulate.refusal import not_emulated
from codegen.simulate.block_shape import block_shape
from codegen.simulate.builtins import unmangled
from codegen.simulate.dpas import DPAS_NAME
from codegen.simulate.ir import Function, Instruction, Operand

_UNIFORM_CALLS = frozenset(("get_group_id", "get_num_groups", "get_local_size", "get_sub_group_id"))


@dataclass(frozen=True, slots=True)
class Lanes:
    """`varying` are local names of values that differ between lanes; `element_bytes` of each private pointer."""

    varying: frozenset[str]
    element_bytes: dict[str, int]

    def differs(self, operand: Operand) -> bool:
        """True if the operand is a value that differs between lanes."""
        return operand.local in self.varying


def instructions(function: Function) -> list[Instruction]:
    """All instructions, in program order."""
    return [i for block in function.blocks for i in (*block.phis, *block.body)]


def analyse(function: Function) -> Lanes:
    """What differs between lanes: what comes from private memory or DPAS, and all that depends on it.

    Raises:
        CompileFailed: a call that is not known, a branch or an address that differs between lanes, or private
            memory used with elements of two sizes.
    """
    element_bytes = _private_elements(function)
    varying: set[str] = set()
    while True:
        more = {i.result for i in instructions(function) if i.result and _differs(i, varying, element_bytes)}
        if more <= varying:
            break
        varying |= more
    lanes = Lanes(frozenset(varying), element_bytes)
    for i in instructions(function):
        _refuse_differing_paths(i, lanes)
    return lanes


def _differs(i: Instruction, varying: set[str], private: dict[str, int]) -> bool:
    if i.opcode == "call":
        name = unmangled(i.detail)
        if name in _UNIFORM_CALLS:
            return False
        if DPAS_NAME.fullmatch(name) is None:
            raise not_emulated(f"function {i.detail}", i.text)
        return True
    if i.opcode == "load" and i.operands[0].local in private:
        return True
    return any(o.local in varying for o in i.operands)


def _refuse_differing_paths(i: Instruction, lanes: Lanes) -> None:
    addresses = {"load": i.operands, "store": i.operands[1:], "getelementptr": i.operands}
    if i.opcode in ("br", "switch") and any(lanes.differs(o) for o in i.operands):
        raise not_emulated("a branch that differs between lanes", i.text)
    if any(lanes.differs(o) for o in addresses.get(i.opcode, ())):
        raise not_emulated("an address that differs between lanes", i.text)
    if i.opcode == "store" and lanes.differs(i.operands[0]) and i.operands[1].local not in lanes.element_bytes:
        raise not_emulated("a store of each lane to one place", i.text)


def _private_elements(function: Function) -> dict[str, int]:
    """Bytes of an element behind each private pointer: a private array is kept element after element."""
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
