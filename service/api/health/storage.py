"""Check that the folder of artifacts can be written."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from codegen.artifact.files import make_private

_CHECKED_AGAIN_S = 5.0


class StorageCheck:
    """Writes a file to a folder, at most every few seconds however often it is asked. Thread-safe."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder, self._clock = folder, clock
        self._lock = threading.Lock()
        self._again_at, self._found = -1.0, None

    def fault(self) -> str | None:
        """Return why the folder cannot be written and what to do; None if it can."""
        with self._lock:
            if self._clock() >= self._again_at:
                self._found = self._look()
                self._again_at = self._clock() + _CHECKED_AGAIN_S
            return self._found

    def _look(self) -> str | None:
        probe = self._folder / f".ready-{token_hex(8)}"
        try:
            make_private(self._folder)
            probe.write_bytes(b"ready")
        except OSError as error:
            return f"{self._folder} cannot be written: {error.strerror}; change its permissions or free some space"
        finally:
            with suppress(OSError):
                probe.unlink(missing_ok=True)
        return None
