"""Blocks of matrices in memory: where a block of a memref or of memory at an address lies."""

import numpy as np

from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)
from tests.oracle.elements import Element
from tests.oracle.frame import Frame
from tests.oracle.memory import (
    View,
    row_major,
)
from tests.oracle.refusal import KernelFault
from tests.oracle.values import (
    BlockOf,
    Value,
)


def block_of(
    frame: Frame, base: Value, element: Element, offsets: Ints, sizes: Ints = (), strides: Ints = ()
) -> BlockOf:
    """The block at offsets of a memref, or of memory at an address. Sizes and strides may be the memref's.

    Raises:
        KernelFault: there is no memory at the address.
    """
    if isinstance(base, View):
        buffer, start = base.buffer, base.start
        sizes, strides = sizes or base.shape, strides or base.strides
    elif isinstance(base, np.ndarray):
        buffer, start = frame.group.memory.find(int(base))
        strides = strides or row_major(sizes)
    else:
        raise KernelFault("", f"expected a memref or an address, got {base}")
    if not len(sizes) == len(strides) == len(offsets):
        raise KernelFault(
            "",
            f"expected offsets, sizes and strides of one length, got {format_ints(offsets)}, "
            f"{format_ints(sizes)} and {format_ints(strides)}",
        )
    return BlockOf(buffer, element, start, sizes, strides, offsets)
