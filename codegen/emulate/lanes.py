"""Which values of a kernel differ between the lanes of a sub-group, and which private arrays hold them."""

from dataclasses import dataclass

from codegen.emulate.private_memory import element_bytes, instructions
from codegen.emulate.refusal import not_emulated
from codegen.simulator.dpas import DPAS_NAME
from codegen.simulator.ir import Function, Instruction, Operand
from codegen.simulator.mangling import unmangled

UNIFORM_CALLS = frozenset(("get_group_id", "get_num_groups", "get_local_size", "get_sub_group_id"))
# One work-item runs a sub-group here: these would run once, not once for each lane.
_EACH_LANE_OF_ITS_OWN = frozenset(("atomicrmw", "cmpxchg", "extractvalue", "fence"))


@dataclass(frozen=True, slots=True)
class Lanes:
    """`varying` are local names of values that differ between lanes; `element_bytes` of each private pointer."""

    varying: frozenset[str]
    element_bytes: dict[str, int]

    def differs(self, operand: Operand) -> bool:
        """True if the operand is a value that differs between lanes."""
        return operand.local in self.varying


def analyse(function: Function) -> Lanes:
    """What differs between lanes: what comes from private memory or DPAS, and all that depends on it.

    Raises:
        CompileFailed: a call that is not known, a branch or an address that differs between lanes, or private
            memory used with elements of two sizes.
    """
    for i in instructions(function):
        _refuse_what_only_a_gpu_runs(i)
    private = element_bytes(function)
    varying: set[str] = set()
    while True:
        more = {i.result for i in instructions(function) if i.result and _differs(i, varying, private)}
        if more <= varying:
            break
        varying |= more
    lanes = Lanes(frozenset(varying), private)
    for i in instructions(function):
        _refuse_differing_paths(i, lanes)
    return lanes


def _differs(i: Instruction, varying: set[str], private: dict[str, int]) -> bool:
    if i.opcode == "call":
        name = unmangled(i.detail)
        if name in UNIFORM_CALLS:
            return False
        if DPAS_NAME.fullmatch(name) is None:
            raise not_emulated(f"function {i.detail}", i.text)
        return True
    if i.opcode == "load" and i.operands[0].local in private:
        return True
    return any(o.local in varying for o in i.operands)


def _refuse_what_only_a_gpu_runs(i: Instruction) -> None:
    if i.opcode in _EACH_LANE_OF_ITS_OWN:
        raise not_emulated(f"instruction {i.opcode}", i.text)
    if any(o.symbol for o in i.operands):
        raise not_emulated("a variable of the module", i.text)
    if i.opcode == "call" and DPAS_NAME.fullmatch(unmangled(i.detail)) and i.type.element != "float":
        raise not_emulated(f"an accumulator of {i.type}", i.text)


def _refuse_differing_paths(i: Instruction, lanes: Lanes) -> None:
    addresses = {"load": i.operands, "store": i.operands[1:], "getelementptr": i.operands}
    if i.opcode in ("br", "switch") and any(lanes.differs(o) for o in i.operands):
        raise not_emulated("a branch that differs between lanes", i.text)
    if any(lanes.differs(o) for o in addresses.get(i.opcode, ())):
        raise not_emulated("an address that differs between lanes", i.text)
    if i.opcode == "store" and lanes.differs(i.operands[0]) and i.operands[1].local not in lanes.element_bytes:
        raise not_emulated("a store of each lane to one place", i.text)
