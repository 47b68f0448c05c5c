"""Garbage of compilations goes between them, and what was loaded is not looked at again."""

import gc
import subprocess
import sys

PROGRAM = """
import gc, weakref
from codegen.workers.gc_policy import collect_between

class Node:
    pass

def compilation():
    node = Node()
    node.itself = node
    return weakref.ref(node)

left = []
for number in range(17):
    collect_between()
    if number == 1:
        assert gc.get_freeze_count() > 0 and not gc.isenabled()
        frozen, kept = gc.get_freeze_count(), [[] for _ in range(1_000)]
    if number == 7:
        assert gc.get_freeze_count() <= frozen
    if number == 8:
        assert gc.get_freeze_count() > frozen + len(kept) // 2
    left.append(compilation())
print([number for number, node in enumerate(left) if node() is not None])
"""


def test_every_eighth_compilation_collects_what_those_before_left() -> None:
    assert gc.isenabled()
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[16]"
