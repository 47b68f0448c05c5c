"""Content-addressed buffers: those that a machine already has are not sent again."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np

from hal import Buffer


def hash_of(buffer: Buffer) -> str:
    """Return a hash that is equal for equal memory of one type and shape."""
    digest = hashlib.sha256(f"{buffer.dtype.str} {buffer.shape}".encode())
    digest.update(np.ascontiguousarray(buffer).view(np.uint8).data)
    return digest.hexdigest()


class Kept:
    """LRU cache of buffers, of at most `most_bytes` in total. Thread-safe."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._held: OrderedDict[str, Buffer] = OrderedDict()

    def take(self, hashes: Sequence[str], sent: Mapping[str, Buffer]) -> tuple[Buffer, ...] | tuple[str, ...]:
        """Return the buffers of these hashes, or the hashes that are missing. `sent` buffers are stored."""
        with self._lock:
            for name, buffer in sent.items():
                self._held[name] = buffer
            missing = tuple(dict.fromkeys(name for name in hashes if name not in self._held))
            if missing:
                return missing
            for name in hashes:
                self._held.move_to_end(name)
            found = tuple(self._held[name] for name in hashes)
            while len(self._held) > len(set(hashes)) and sum(b.nbytes for b in self._held.values()) > self._most_bytes:
                self._held.popitem(last=False)
            return found
