"""Child process in Python that runs functions and may crash or hang without harm to its parent.

It does not depend on the program's main module, which is not imported again.
"""

import gc
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType

from hal.errors import DeviceCrashed, DeviceFailed, DeviceTimedOut, HalError

_BOOT = (
    "import gc, sys; gc.disable(); sys.path[:] = sys.argv[3:]; "
    "from hal.late_methods import compile_methods_when_called; compile_methods_when_called(); "
    "from hal.process.child import serve; serve(int(sys.argv[1]), int(sys.argv[2]))"
)
_GRACE_S = 1.0
_LAST_CHARACTERS = 400  # of what it printed


@dataclass(frozen=True, slots=True)
class Interpreter:
    """Start of a child's Python: the command, and variables that are added to the environment."""

    command: tuple[str, ...] = (sys.executable,)
    variables: Mapping[str, str] = field(default_factory=dict[str, str])


class Child:
    """One child process with one request at a time. Not thread-safe; it ends when this process does.

    Arguments and results are pickled; functions are sent by name. The child's output is kept for the message
    when it crashes.

    Raises:
        DeviceFailed: the interpreter cannot be started.
    """

    def __init__(self, interpreter: Interpreter | None = None) -> None:
        started_by = interpreter or Interpreter()
        self._connection, theirs = Pipe()
        self._printed = TemporaryFile()  # noqa: SIM115 - lives as long as the child
        path = [entry or str(Path.cwd()) for entry in sys.path]
        try:
            with theirs:
                self._process = subprocess.Popen(
                    [*started_by.command, "-P", "-c", _BOOT, str(theirs.fileno()), str(os.getpid()), *path],
                    env={**os.environ, **started_by.variables},
                    stdin=subprocess.DEVNULL,
                    stdout=self._printed,
                    stderr=self._printed,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
        except OSError as error:
            self._connection.close()
            self._printed.close()
            raise DeviceFailed(f"the device process cannot be started: {error}") from error

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def call(self, timeout_s: float, function: Callable[..., object], *arguments: object) -> object:
        """Run `function(*arguments)` in the child and return its result.

        Raises:
            DeviceTimedOut: no answer within `timeout_s`; the child is killed.
            DeviceCrashed: the child ended without an answer.
            HalError, ValueError: raised by the function.
        """
        self.send(function, *arguments)
        return self.receive(timeout_s)

    def send(self, function: Callable[..., object], *arguments: object) -> None:
        """Send the child a request; `receive` returns its answer.

        Raises:
            DeviceCrashed: the child has ended.
        """
        try:
            self._connection.send((function, arguments))
        except (BrokenPipeError, ConnectionResetError):
            raise self._crashed() from None

    def receive(self, timeout_s: float) -> object:
        """Return the answer to the last request; raises as `call` does. A child that does not answer is killed."""
        answered = False
        try:
            if not self._connection.poll(timeout_s):
                raise DeviceTimedOut(f"no answer from the device process within {timeout_s:g} s; it was ended")
            failed, answer = self._connection.recv()
            answered = True
        except (EOFError, OSError):  # OSError: it died within an answer
            raise self._crashed() from None
        finally:  # Ctrl-C too: a late answer must not be read as the next one
            if not answered:
                self.kill()
        if failed:
            raise answer
        return answer

    @property
    def pid(self) -> int:
        """Process id, which is also the id of the child's process group."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """True if the child can still answer."""
        return self._process.poll() is None

    def hang_up(self) -> None:
        """Let the child end; `close` waits for it."""
        self._connection.close()

    def close(self) -> None:
        """Let the child end, or kill it."""
        self.hang_up()
        if not self._ends():
            self.kill()
        self._printed.close()

    def kill(self) -> None:
        """End the child's process group: SIGTERM first, then SIGKILL."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            if self.alive:
                os.killpg(self.pid, sign)
                self._ends()

    def _ends(self) -> bool:
        """Return whether the child ends within the grace time; `Popen.wait` would notice up to 50 ms late."""
        if self.alive:
            try:
                watched = os.pidfd_open(self.pid)
            except OSError:  # an older kernel, no descriptor left, or it has just ended
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(_GRACE_S)
                return not self.alive
            try:
                poll = select.poll()
                poll.register(watched, select.POLLIN)
                poll.poll(_GRACE_S * 1000)
            finally:
                os.close(watched)
        return not self.alive

    def _crashed(self) -> DeviceCrashed:
        if not self._ends():
            self.kill()
            return DeviceCrashed("the device process closed its connection and did not end; it was killed")
        code = self._process.returncode
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        said = self._last_words()
        return DeviceCrashed(f"the device process {how}" + (f"; it printed: {said}" if said else ""))

    def _last_words(self) -> str:
        self._printed.seek(0)
        lines = self._printed.read().decode("utf-8", "replace").splitlines()
        return " | ".join(line.strip() for line in lines[-4:] if line.strip())[-_LAST_CHARACTERS:]


def serve(fd: int, parent: int) -> None:
    """Serve requests in the child until the connection closes, and end it without exit handlers.

    Those of the SYCL runtime were seen to spin for ever (`urLoaderTearDown`), and nobody ends a child whose parent was
    killed.

    Errors of this room and ValueError go back as answers; any other is a bug, and ends the process with its
    traceback printed. Garbage is collected from the first answer on: imports leave little, and searches for it took a
    sixth of the processor time of a process that asks a driver.
    """
    # Ctrl-C in a terminal must not end a measurement halfway: the parent decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    connection = Connection(fd)
    while True:
        try:
            function, arguments = connection.recv()
        except EOFError:
            os._exit(0)
        try:
            answer = (False, function(*arguments))
        except (HalError, ValueError) as error:
            answer = (True, error)
        connection.send(answer)
        gc.enable()


def _end_with(parent: int) -> None:
    """End this process group when the process `parent` ends, even while a kernel hangs.

    PR_SET_PDEATHSIG is not enough: it fires when the thread that started this process ends.
    """
    with suppress(ProcessLookupError):
        watched = os.pidfd_open(parent)
        if os.getppid() == parent:
            select.select([watched], [], [])
    os.killpg(os.getpgid(0), signal.SIGKILL)
