"""What a kernel takes: the arguments of its source, and the parameters that its binary has for them."""

from dataclasses import dataclass
from enum import StrEnum


class Field(StrEnum):
    """What one parameter carries of an argument. Of a memref: its pointer, and numbers that the kernel reads."""

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
        """Whether it is a number, not memory."""
        return self.shape is None


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of the binary: a field of the argument with that index; `axis` of a size or stride."""

    argument: int
    field: Field
    axis: int = 0


@dataclass(frozen=True, slots=True)
class KernelSignature:
    """A kernel's name, arguments and parameters in order, and its work-group.

    `local_size` is in work-items, `slm_bytes` the shared local memory of a work-group. Where `counts_subgroups`,
    the source counts one thread for each sub-group, and so do blocks given to `simulate`.
    """

    name: str
    arguments: tuple[KernelArgument, ...]
    parameters: tuple[Parameter, ...]
    local_size: tuple[int, int, int] | None
    counts_subgroups: bool = False
    slm_bytes: int = 0
