"""A service that has loaded everything does not look through it again."""

import json
import subprocess
import sys

PROGRAM = """
import gc, json
import service.app
from service.lean import settle
gc.collect()
before = len(gc.get_objects())
settle()
print(json.dumps([before, len(gc.get_objects()), gc.get_freeze_count()]))
"""


def test_collections_of_garbage_leave_alone_what_was_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    before, after, frozen = json.loads(done.stdout)
    assert before > 100_000
    assert after < 1_000
    assert frozen >= before
