"""Kernel signatures: the arguments of the source, and the parameters of the binary for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Field(StrEnum):
    """The part of an argument that one parameter carries: the pointer of a memref, or a number that it reads."""

    VALUE = "value"
    POINTER = "pointer"
    OFFSET = "offset"
    SIZE = "size"
    STRIDE = "stride"


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """One argument as the source has it. `shape` is None for a scalar; an extent of None is given at the launch.

    `element` is the element's or scalar's type as MLIR spells it ("f16", "index"), `strides` in elements.
    """

    name: str
    element: str
    shape: tuple[int | None, ...] | None = None
    strides: tuple[int | None, ...] | None = None

    @property
    def is_scalar(self) -> bool:
        """True for a number, False for memory."""
        return self.shape is None


@dataclass(frozen=True, slots=True, order=True)
class Parameter:
    """One parameter of the binary: a field of the argument with that index; `axis` of a size or stride."""

    argument: int
    field: Field
    axis: int = 0


@dataclass(frozen=True, slots=True)
class Term:
    """A number times what some parameters carry."""

    factor: int
    of: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class Assumption:
    """A precondition of a kernel that it cannot check: a sum of terms is within bounds and a multiple of a number.

    Without terms it is a value that the kernel computes from more than its arguments.
    """

    what: str
    terms: tuple[Term, ...]
    multiple: int = 1
    least: int | None = None
    most: int | None = None

    def holds(self, value: int) -> bool:
        """Return True if a launch in which the terms add up to `value` fulfils it."""
        return (
            value % self.multiple == 0
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
        )

    def in_words(self, arguments: Sequence[KernelArgument]) -> str:
        """Return the assumption as text, with launch values in elements as numpy and MLIR count them."""
        rules = [] if self.least is None else [f"at least {self.least}"]
        rules += [] if self.most is None else [f"at most {self.most}"]
        rules += [] if self.multiple == 1 else [f"a multiple of {self.multiple}"]
        value = (
            " + ".join(_term(term, arguments) for term in self.terms).replace("+ -", "- ") or "computed by the kernel"
        )
        return f"{self.what} ({value}): {', '.join(rules)}"


def _term(term: Term, arguments: Sequence[KernelArgument]) -> str:
    names = [_name(parameter, arguments[parameter.argument].name) for parameter in term.of]
    return " * ".join(names if term.factor == 1 and names else [str(term.factor), *names])


def _name(parameter: Parameter, name: str) -> str:
    match parameter.field:
        case Field.SIZE:
            return f"{name}.shape[{parameter.axis}]"
        case Field.STRIDE:
            return f"{name}.strides[{parameter.axis}]"
        case Field.VALUE:
            return name
        case Field.POINTER | Field.OFFSET:
            return f"{name}.{parameter.field}"


@dataclass(frozen=True, slots=True)
class KernelSignature:
    """A kernel's name, arguments and parameters in order, and its work-group.

    `local_size` is in work-items, of which `subgroup_size` are a sub-group; `slm_bytes` is the shared local memory of a
    work-group. Where `counts_subgroups`, the source counts one thread for each sub-group, and so do blocks given to
    `simulate_module`. `assumes` is what a launch must fulfil.
    """

    name: str
    arguments: tuple[KernelArgument, ...]
    parameters: tuple[Parameter, ...]
    local_size: tuple[int, int, int] | None
    counts_subgroups: bool = False
    slm_bytes: int = 0
    assumes: tuple[Assumption, ...] | None = None
    subgroup_size: int = 16
