"""Start of a compile worker; importing this module imports no compiler."""

import os
import sys

from hal.late_methods import compile_methods_when_called


def start_worker() -> None:
    """Prepare a new process, before it imports the compiler for its first task."""
    compile_methods_when_called()
    # An aborting compiler prints its stack; the parent reports the signal instead.
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, sys.stderr.fileno() if sys.stderr is not None else 2)
    from codegen.xe.spirv import start_emitter  # LLVM, which the parent does without

    start_emitter()
