"""Process that works for another: a small one forks in place of a large one, whose forks take longer the more memory
it has, and a fork that may end works several times.
"""

import contextlib
import gc
import os
import socket
import struct
from collections.abc import Callable, Generator
from typing import NoReturn

from codegen.errors import CompileFailed

_LENGTH = struct.Struct("<Q")
_DONE, _FAILED = b"\0", b"\1"
_FIRST_FILE = 3  # after standard input, output and error


class ForkServerEnded(Exception):
    """The fork server is gone; the request was not executed."""


def do_nothing() -> None:
    """Do nothing, where a process prepares nothing or has nothing to do meanwhile."""


class ForkServer:
    """Fork of this process in its present state, which does work for each request; it ends with this process.

    It calls `prepare` before it waits for a request; where that raises, it ends. One thread may ask it.
    """

    def __init__(self, stage: str, work: Callable[[bytes], bytes], prepare: Callable[[], None] = do_nothing) -> None:
        here, there = socket.socketpair()
        self._stage, self._socket = stage, here
        self.pid = os.fork()
        if self.pid == 0:
            _serve(there, work, prepare)
        there.close()

    def run(self, data: bytes, meanwhile: Callable[[], None] = do_nothing) -> bytes:
        """Return the result of the work for some bytes; `meanwhile` is done here before the result is waited for.

        Raises:
            CompileFailed: the stage; the work raised.
            ForkServerEnded: there is no such process any more, or the work ended it.
        """
        with _may_have_ended():
            _send(self._socket, data)
        try:
            meanwhile()
        finally:
            with _may_have_ended():
                reply = _receive(self._socket)  # also where that failed: it is not the reply to another request
        if reply[:1] == _FAILED:
            raise CompileFailed(self._stage, reply[1:].decode())
        return reply[1:]

    def close(self) -> None:
        """End the process."""
        self._socket.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


@contextlib.contextmanager
def _may_have_ended() -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise ForkServerEnded(str(error)) from error


def _serve(asker: socket.socket, work: Callable[[bytes], bytes], prepare: Callable[[], None]) -> NoReturn:
    """Serve requests in the fork, which must not return to the caller's code; it ends when the client closes the
    socket.
    """
    try:
        _close_others(asker.fileno())
        gc.disable()  # a collection writes to shared memory, which copies it
        while True:
            prepare()
            data = _receive(asker)
            try:
                reply = _DONE + work(data)
            except CompileFailed as failed:
                reply = _FAILED + failed.message.encode()
            except (RuntimeError, OSError, MemoryError) as error:
                reply = _FAILED + str(error).encode()
            _send(asker, reply)
    finally:
        os._exit(0)


def _close_others(kept: int) -> None:
    """Close inherited files, whose ends other processes wait for."""
    os.closerange(_FIRST_FILE, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))


def _send(to: socket.socket, data: bytes) -> None:
    to.sendall(_LENGTH.pack(len(data)) + data)


def _receive(source: socket.socket) -> bytes:
    return _read(source, _LENGTH.unpack(_read(source, _LENGTH.size))[0])


def _read(source: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = source.recv(count - len(data))
        if not part:
            raise ConnectionError("the other end closed")
        data += part
    return bytes(data)
