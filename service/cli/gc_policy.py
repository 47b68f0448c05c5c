"""Garbage collection policy of a command: none until it has allocated more than imports do, and none at its end.

Imports allocate some hundred thousand objects that stay: looking for garbage among them took a fifth of the processor
time of a command that lists, and as much again when the interpreter ended.
"""

import atexit
import gc

_IMPORTED = 500_000  # objects


def collect_after_imports() -> None:
    """Delay the first collection of this process, and leave out those after its last; others are as usual."""
    usual = gc.get_threshold()

    def restore(phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            gc.callbacks.remove(restore)
            gc.set_threshold(*usual)

    gc.set_threshold(_IMPORTED, *usual[1:])
    gc.callbacks.append(restore)
    atexit.register(gc.freeze)  # after handlers registered later; the interpreter then finds no object to look at
