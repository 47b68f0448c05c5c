"""Arguments of a simulated kernel: its parameters, the variables of its module, and the memory behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.simulate.llvm_ir.ir import (
    Function,
    Operand,
)
from codegen.simulate.memory.address_space import (
    SHARED_SPACE,
    buffer_pointer,
    shared_pointer,
)
from codegen.simulate.memory.shared import SharedVariable
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.values import (
    Array,
)

Value = Array | int | float


@dataclass(frozen=True, slots=True)
class Bound:
    """Buffers as bytes, parameters as values, variables as pointers, and the layout of shared memory."""

    buffers: tuple[Array, ...]
    parameters: Mapping[str, Array]
    globals: Mapping[str, int]
    shared: tuple[SharedVariable, ...]


def bind_arguments(function: Function, args: Sequence[Value]) -> Bound:
    """Bind one argument to each parameter of the kernel, in order.

    Raises:
        SimulationRefused: too many, too few, or not of the parameter's type.
    """
    types = ", ".join(f"{p.type} %{p.local}" for p in function.parameters)
    if len(args) != len(function.parameters):
        raise SimulationRefused("", f"expected {len(function.parameters)} arguments for ({types}), got {len(args)}")
    binder = _Binder()
    parameters = {p.local: binder.value(p, arg) for p, arg in zip(function.parameters, args, strict=True)}
    for variable in function.globals:
        if variable.space == SHARED_SPACE:
            pointer = binder.shared(variable.name, variable.nbytes, variable.alignment)
        else:
            content = np.full(variable.nbytes, 255, np.uint8)
            if variable.content is not None:
                content[:] = np.frombuffer(variable.content, np.uint8)
            content.flags.writeable = False
            pointer = binder.buffer(content)
        binder.globals[variable.name] = pointer
    return Bound(tuple(binder.buffers), parameters, binder.globals, tuple(binder.variables))


class _Binder:
    """Binder of arguments: allocates each piece of memory."""

    def __init__(self) -> None:
        self.buffers: list[Array] = []
        self.variables: list[SharedVariable] = []
        self.globals: dict[str, int] = {}
        self._known: dict[tuple[int, int, bool], int] = {}

    def value(self, parameter: Operand, arg: Value) -> Array:
        """Return an argument as the value of its parameter."""
        type_, where = parameter.type, f"%{parameter.local}"
        if type_.element == "ptr" and type_.space == SHARED_SPACE:
            if isinstance(arg, bool) or not isinstance(arg, int | np.integer) or arg < 0:
                raise SimulationRefused(where, f"expected the bytes of shared memory for {type_}, got {arg!r}")
            return np.array([[self.shared(where, int(arg), 64)]], np.int64)
        if isinstance(arg, np.ndarray) and arg.ndim:
            if type_.element not in ("ptr", "i64"):
                raise SimulationRefused(where, f"expected a number for {type_}, got an array of {arg.dtype}")
            return np.array([[self.buffer(_bytes_of(where, arg))]], np.int64)
        if type_.element == "ptr" or type_.count:
            raise SimulationRefused(where, f"expected an array for {type_}, got {arg!r}")
        return _scalar(parameter, arg)

    def buffer(self, content: Array) -> int:
        """Return the pointer to memory; the same for the same memory."""
        key = (content.__array_interface__["data"][0], content.size, content.flags.writeable)
        if not content.size or key not in self._known:
            self.buffers.append(content)
            self._known[key] = buffer_pointer(len(self.buffers) - 1)
        return self._known[key]

    def shared(self, name: str, nbytes: int, alignment: int) -> int:
        """Return the pointer to a new variable of shared memory."""
        end = max((v.start + v.nbytes for v in self.variables), default=0)
        start = -(-end // alignment) * alignment
        self.variables.append(SharedVariable(name, start, nbytes))
        return shared_pointer(len(self.variables) - 1, start)


def _bytes_of(where: str, arg: Array) -> Array:
    if not arg.flags.c_contiguous:
        raise SimulationRefused(where, "buffers must be contiguous")
    if arg.dtype.hasobject:
        raise SimulationRefused(where, f"expected an array of numbers, got one of {arg.dtype}")
    return arg.reshape(-1).view(np.uint8)


def _scalar(parameter: Operand, arg: Value) -> Array:
    type_, where = parameter.type, f"%{parameter.local}"
    number = arg.item() if isinstance(arg, np.generic | np.ndarray) else arg
    if type_.element in ("half", "float", "double"):
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise SimulationRefused(where, f"expected a number for {type_}, got {arg!r}")
        return np.array([[number]], np.float64).astype(type_.dtype)
    if not isinstance(number, int):
        raise SimulationRefused(where, f"expected an integer for {type_}, got {arg!r}")
    if type_.element == "i1":
        return np.array([[bool(number)]])
    bits = type_.dtype.itemsize * 8
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise SimulationRefused(where, f"{number} does not fit in {type_}")
    return np.array([[number & ((1 << bits) - 1)]], np.uint64).astype(type_.dtype)
