"""Start of a compile worker; importing this module imports no compiler."""

import os
import signal
import sys
import threading

from hal.late_methods import compile_methods_when_called

_PARENT_CHECK_S = 1.0


def start_worker() -> None:
    """Prepare a new process, which was started with SIGTERM blocked, before it imports the compiler for its first
    task.
    """
    parent = os.getppid()
    compile_methods_when_called()
    # An aborting compiler prints its stack; the parent reports the signal instead.
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, sys.stderr.fileno() if sys.stderr is not None else 2)
    from codegen.xe.spirv import start_emitter  # LLVM, which the parent does without

    start_emitter()
    threading.Thread(target=_end_with, args=(parent,), name="end", daemon=True).start()  # after the fork


def _end_with(parent: int) -> None:
    """End this process at a SIGTERM that comes from its parent, and if the parent is gone.

    One that goes to the group of both, as of `timeout`, or to all processes of a job, as of Slurm, is the parent's to
    handle: it lets the present trial end, whose kernel would otherwise have failed to compile.
    """
    while os.getppid() == parent:
        received = signal.sigtimedwait({signal.SIGTERM}, _PARENT_CHECK_S)
        if received is not None and received.si_pid == parent:
            break
    os._exit(signal.SIGTERM)
