"""Work gets memory that no earlier work had."""

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
    assert len({heaps.run(freed) for _ in range(8)}) == 8


def test_what_the_work_raises_is_raised() -> None:
    def work() -> bytes:
        raise KeyError("what is wrong")

    with pytest.raises(KeyError, match="what is wrong"):
        OwnHeaps().run(work)


def test_a_thread_without_a_heap_of_its_own_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def always(_: OwnHeaps) -> int:
        return 7

    monkeypatch.setattr(OwnHeaps, "_heap", always)
    with pytest.raises(SharedHeap):
        OwnHeaps().run(freed)
