"""The work of a thread gets memory that no earlier one had."""

import ctypes

import pytest

from codegen.workers.own_heaps import OwnHeaps, SharedHeap

_libc = ctypes.CDLL(None)
_libc.malloc.restype, _libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]


def freed() -> bytes:
    """Return the address of an object of 1,120 bytes that is created and freed."""
    address = _libc.malloc(1120)
    _libc.free(address)
    return b"%d" % address


def test_an_address_is_not_used_again() -> None:
    heaps = OwnHeaps()
    assert len({heaps.thread().submit(freed).result() for _ in range(8)}) == 8


def test_a_thread_without_a_heap_of_its_own_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def always(_: OwnHeaps) -> int:
        return 7

    monkeypatch.setattr(OwnHeaps, "_heap", always)
    with pytest.raises(SharedHeap):
        OwnHeaps().thread()
