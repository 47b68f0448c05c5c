"""Execution of a set of shapes: portions of its jobs where they gain most, then each kernel on each shape.

A portion is one run of a job by a worker: claimed, its lease extended, returned to the queue. Results are
stored with each trial, so that a set that was interrupted or killed continues where it stopped.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from db.queries import shape_sets
from hal import DeviceSpec
from service.api.shapes.comparing import compare
from service.api.shapes.lease import leased
from service.api.shapes.searching import search
from service.api.shapes.state import (
    JobRunner,
    SetState,
    read_set,
)
from service.jobs.tuning import Tuning
from service.jobs.worker import Worker
from service.row_mapping import spec_from_json
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class SetProgress:
    """Progress of a run: `done` of `total` trials while it searches, of shapes while it compares."""

    doing: str
    done: int
    total: int


class SetRunner:
    """Runner of one set. `run` blocks; `stop` may be called from a signal handler: all results are stored.

    If not `alone`, it shares its process with threads that run jobs.
    """

    def __init__(
        self,
        tuning: Tuning,
        settings: Settings,
        set_id: UUID,
        on_progress: Callable[[SetProgress], None] = lambda _: None,
        *,
        alone: bool = True,
    ) -> None:
        self._tuning, self._set_id, self._on_progress = tuning, set_id, on_progress
        self._lease_s = settings.lease_s
        self._stopped = threading.Event()
        self._jobs = JobRunner(tuning, lambda task: Worker(tuning.database, settings, task, alone=alone))

    def stop(self) -> None:
        """End after the current trial."""
        self._stopped.set()
        self._jobs.stop()

    def run(self) -> bool:
        """Run until the set is over; return False if it was stopped before.

        Raises:
            NotFound: there is no such set.
            Conflict: another process runs it, or a job of it.
            CodegenError, HalError, TunerError, StorageError, DatabaseError: the set cannot go on.
        """
        wanted = read_set(self._tuning, self._set_id)
        if wanted.status != "active":
            return True
        with leased(self._tuning.database, self._set_id, self._lease_s, self.stop):
            return self._run(spec_from_json(wanted.device.spec))

    def _run(self, asked: DeviceSpec) -> bool:
        with self._tuning.opened(asked, self._stopped.is_set, f"set of shapes {self._set_id}") as opened:
            if opened is None:
                return False
            listed, device = opened
            with self._tuning.compilers() as pool:
                state = SetState(self._tuning, self._set_id, listed.spec, device, pool, self._jobs, self._stopped)
                try:
                    search(state, lambda done: self._tell("searching", done, state.trials_budget))
                    compare(state, lambda done: self._tell("comparing", done, len(state.members)))
                finally:
                    state.note_spent()
        if self._stopped.is_set():
            return False
        with self._tuning.database.write() as session:
            shape_sets.finish(session, self._set_id, "succeeded")
        return True

    def _tell(self, doing: str, done: int, total: int) -> None:
        self._on_progress(SetProgress(doing, done, total))
