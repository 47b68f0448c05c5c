"""Divergence analysis: values of a kernel that differ between the lanes of a sub-group, and where lanes diverge."""

from dataclasses import dataclass

from codegen.emulate.calls import differs as call_differs
from codegen.emulate.control.regions import Flow, Region
from codegen.emulate.memory.private_memory import granule_bytes
from codegen.simulate.llvm_ir.ir import (
    Block,
    Function,
    Instruction,
    Operand,
)


@dataclass(frozen=True, slots=True)
class Lanes:
    """`varying` are local names of values that differ between lanes; `granules` of each private pointer, in bytes.

    `crossing` are values of regions that other blocks use: each lane keeps what it computed last.
    """

    varying: frozenset[str]
    granules: dict[str, int]
    regions: tuple[Region, ...]
    crossing: frozenset[str]

    def differs(self, operand: Operand) -> bool:
        """True if the operand is a value that differs between lanes."""
        return operand.local in self.varying

    def region_of(self, label: str) -> Region | None:
        """The region that a block is in."""
        return next((region for region in self.regions if label in region.blocks), None)

    def region_after(self, label: str) -> Region | None:
        """The region whose source a block is."""
        return next((region for region in self.regions if region.source == label), None)


def analyse(function: Function) -> Lanes:
    """Analyse divergence: lane numbers, values from private memory or DPAS, and all that depends on them.

    Raises:
        CompileFailed: a call that is not known, or a private pointer used otherwise than for its memory.
    """
    private, flow = granule_bytes(function), Flow(function)
    varying: set[str] = set()
    regions: tuple[Region, ...] = ()
    crossing: frozenset[str] = frozenset()
    while True:
        before = len(varying)
        varying |= crossing
        for block in function.blocks:
            phis = (phi for phi in block.phis if phi.result not in private)
            varying.update(phi.result for phi in phis if _phi_differs(phi, block, varying, regions))
            varying.update(i.result for i in block.body if i.result and _differs(i, varying, private))
        parting = {b.label for b in function.blocks if any(o.local in varying for o in b.body[-1].operands)}
        new = flow.regions(parting)
        if new == regions and len(varying) == before:
            return Lanes(frozenset(varying), private, regions, crossing)
        regions = new
        crossing = _crossing(function, regions) - private.keys() if regions else crossing


def _differs(i: Instruction, varying: set[str], private: dict[str, int]) -> bool:
    if i.opcode == "call":
        return call_differs(i, varying)
    if i.opcode == "atomicrmw":
        return True  # executed lane by lane
    if i.opcode == "load" and i.operands[0].local in private:
        return True
    return i.result not in private and any(o.local in varying for o in i.operands)


def _phi_differs(phi: Instruction, block: Block, varying: set[str], regions: tuple[Region, ...]) -> bool:
    """Return whether a phi differs, also because diverged lanes reconverge from blocks with different values."""
    if any(o.local in varying for o in phi.operands):
        return True
    if any(block.label in region.blocks for region in regions):
        return True
    return any(len(set(from_region(phi, region))) > 1 for region in regions if region.exit == block.label)


def from_region(phi: Instruction, region: Region) -> list[Operand]:
    """Return the values of a phi of lanes that leave a region."""
    inside = {region.source, *region.blocks}
    return [o for o, label in zip(phi.operands, phi.labels, strict=True) if label in inside]


def _crossing(function: Function, regions: tuple[Region, ...]) -> frozenset[str]:
    inside = {label for region in regions for label in region.blocks}
    home = {i.result: block.label for block in function.blocks for i in (*block.phis, *block.body) if i.result}
    used = [
        (o.local, phi_from)
        for block in function.blocks
        for phi in block.phis
        for o, phi_from in zip(phi.operands, phi.labels, strict=True)
    ]
    used += [(o.local, block.label) for block in function.blocks for i in block.body for o in i.operands]
    # A phi uses its operands at the end of the predecessor: within one block they do not cross regions.
    return frozenset(name for name, label in used if home.get(name) in inside and home[name] != label)
