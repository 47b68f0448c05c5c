"""Start of a compile worker; importing this module imports no compiler."""

import os
import signal
import sys
import threading

from hal.late_methods import compile_methods_when_called


def start_worker() -> None:
    """Prepare a new process, before it imports the compiler for its first task."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    compile_methods_when_called()
    # An aborting compiler prints its stack; the parent reports the signal instead.
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, sys.stderr.fileno() if sys.stderr is not None else 2)
    from codegen.xe.spirv import start_emitter  # LLVM, which the parent does without

    start_emitter()
    threading.Thread(target=_end_when_told_by, args=(os.getppid(),), name="end", daemon=True).start()  # after the fork


def _end_when_told_by(parent: int) -> None:
    """End this process at a SIGTERM that comes from its parent.

    One that goes to the group of both, as of `timeout`, or to all processes of a job, as of Slurm, is the parent's to
    handle: it lets the present trial end, whose kernel would otherwise have failed to compile.
    """
    while signal.sigwaitinfo({signal.SIGTERM}).si_pid != parent:
        pass
    os._exit(signal.SIGTERM)
