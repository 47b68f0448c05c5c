"""One call of a built-in function, for all active sub-groups."""

from dataclasses import dataclass

from codegen.simulate.llvm_ir.ir import Instruction
from codegen.simulate.memory.address_space import Memory
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.subgroups import SubGroups
from codegen.simulate.values import Array


@dataclass(frozen=True, slots=True)
class Call:
    """Call and the state it may access. `subgroups` are the active ones."""

    instruction: Instruction
    operands: list[Array]
    subgroups: SubGroups
    memory: Memory

    @property
    def where(self) -> str:
        """Line of the call."""
        return self.instruction.text

    def refuse(self, message: str) -> SimulationRefused:
        """Return the refusal of this call."""
        return SimulationRefused(self.where, message)

    def check_whole(self) -> None:
        """Check that all lanes of the active sub-groups are converged.

        Raises:
            SimulationRefused: they have parted ways.
        """
        if self.subgroups.lane is not None:
            raise self.refuse("the lanes of a sub-group have diverged, and this call needs them all")

    def uniform(self, index: int) -> Array:
        """Return an operand that must be uniform: [sub-groups or 1, ...].

        Raises:
            SimulationRefused: it is not.
        """
        value = self.operands[index]
        if value.shape[1] > 1 and (value != value[:, :1]).any():
            raise self.refuse(f"argument {index} differs between the lanes of a sub-group")
        return value[:, 0]
