"""Values of a kernel's locals for all sub-groups that run together, viewed by the active ones."""

from collections.abc import Mapping

import numpy as np

from codegen.simulate.llvm_ir.ir import (
    Instruction,
    Operand,
    Type,
)
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.subgroups import SubGroups
from codegen.simulate.values import (
    Array,
    constant,
    undefined,
)


class Frame:
    """Locals by name. `at` selects the active ones: reads return their values, writes leave others unchanged."""

    def __init__(self, parameters: Mapping[str, Array], globals_: Mapping[str, int], subgroups: SubGroups) -> None:
        self.at = subgroups
        self._count = len(subgroups)
        self._values = dict(parameters)
        self._globals = globals_
        self._constants: dict[int, Array] = {}

    def read(self, operand: Operand) -> Array:
        """Return the value of an operand: [entries or 1, lanes or 1, elements]."""
        if not operand.local:
            value = self._constants.get(id(operand))
            if value is None:
                value = self._constants[id(operand)] = self._constant(operand)
            return value
        return self.read_local(operand.local)

    def read_local(self, name: str) -> Array:
        """Return the value of a local."""
        value = self._values.get(name)
        if value is None:
            raise SimulationRefused(f"%{name}", "a value is used where it is not defined")
        rows, lane = self.at.rows, self.at.lane
        if rows is None:
            return value
        if lane is None or value.shape[1] == 1:
            return value if value.shape[0] == 1 else value[rows]
        return (value[0, lane] if value.shape[0] == 1 else value[rows, lane])[:, None]

    def write(self, i: Instruction, value: Array) -> None:
        """Set the result of an instruction."""
        self.write_local(i.result, i.type, value)

    def write_local(self, name: str, type_: Type, value: Array) -> None:
        """Set a local."""
        rows, lane = self.at.rows, self.at.lane
        if rows is None:
            self._values[name] = value
            return
        old = self._values.get(name)
        if old is None:
            old = undefined(type_, (1, 1))
        lanes = max(old.shape[1], value.shape[1]) if lane is None else self.at.size
        full = np.broadcast_to(old, (self._count, lanes, *old.shape[2:])).copy()
        if lane is None:
            full[rows] = value
        else:
            full[rows, lane] = np.broadcast_to(value, (len(rows), 1, *value.shape[2:]))[:, 0]
        self._values[name] = full

    def _constant(self, operand: Operand) -> Array:
        if not operand.symbol:
            return constant(operand)
        if operand.symbol not in self._globals:
            raise SimulationRefused(f"@{operand.symbol}", "the module has no variable of this name")
        address = self._globals[operand.symbol] + int(operand.constant[0] or 0)
        return np.array([[address]], np.int64).astype(operand.type.dtype)
