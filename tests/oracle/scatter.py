"""Loads from and stores to elements that lie anywhere."""

from dataclasses import replace

import numpy as np

from tests.oracle.elements import (
    Array,
    Element,
)
from tests.oracle.frame import Frame
from tests.oracle.memory import (
    Buffer,
    View,
)
from tests.oracle.refusal import KernelFault
from tests.oracle.values import (
    Scattered,
    Value,
)


def elements_at(base: Value, offsets: Array, element: Element, *, checked: bool) -> Scattered:
    """The elements at offsets, in elements, from a memref or an address.

    Those outside a memref do not exist if that is `checked`; otherwise, and from an address, all do.
    """
    if isinstance(base, View):
        start = base.buffer.address + base.start
        bounds = (start, start + base.span * element.nbytes) if checked else None
    elif isinstance(base, np.ndarray):
        start, bounds = int(base), None
    else:
        raise KernelFault("", f"expected a memref or an address, got {base}")
    addresses = np.full(offsets.shape, start, np.int64)
    return Scattered(element, addresses, np.ones(offsets.shape, np.bool_), bounds).moved(offsets.astype(np.int64))


def chunks(scattered: Scattered, size: int) -> Scattered:
    """The elements of chunks, in a last dimension."""
    steps = np.arange(size, dtype=np.int64) * scattered.element.nbytes
    addresses = scattered.addresses[..., None] + steps
    return replace(scattered, addresses=addresses, inside=np.broadcast_to(scattered.inside[..., None], addresses.shape))


def read(frame: Frame, scattered: Scattered, padding: Array) -> Array:
    """The elements; padding for those that do not exist."""
    values = np.full(scattered.addresses.shape, padding, scattered.element.register)
    if scattered.inside.any():
        buffer, starts = _find(frame, scattered)
        values[scattered.inside] = buffer.read(scattered.element, starts)
    return values


def write(frame: Frame, scattered: Scattered, values: Array) -> None:
    """Replace the elements that exist; of several at one place the last stays."""
    if scattered.inside.any():
        buffer, starts = _find(frame, scattered)
        buffer.write(scattered.element, starts, values[scattered.inside])


def _find(frame: Frame, scattered: Scattered) -> tuple[Buffer, Array]:
    """The buffer that the elements lie in, and where."""
    addresses = scattered.addresses[scattered.inside]
    buffer, _ = frame.group.memory.find(int(addresses[0]))
    return buffer, addresses - buffer.address
