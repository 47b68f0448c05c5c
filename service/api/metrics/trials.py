"""Totals over all trials, kept up to date without counting those again that cannot change."""

from collections.abc import Iterator
from itertools import islice

from db.queries import metrics
from db.queries.metrics import TrialTotals
from db.schema import Trial
from db.session import Database

_RECENT = 10_000  # ids that a transaction under way may still fill
_STEP = 50_000
_ASKED = 500


class TrialTally:
    """Counts trials by id: those far behind the newest once, those that had not ended then until they have.

    Not thread-safe. Of n trials the first count takes time of the order of n, each further one of what came since.
    """

    def __init__(self, database: Database, recent: int = _RECENT, step: int = _STEP) -> None:
        self._database, self._recent, self._step = database, recent, step
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._counted, self._upto, self._open = TrialTotals(), 0, set[int]()

    def refresh(self) -> TrialTotals:
        """Totals of all trials that have ended by now.

        Raises:
            DatabaseError: it does not answer.
        """
        with self._database.read() as session:
            last = metrics.last_trial(session)
        if last < self._upto:  # another database took the place of this one
            self._begin_anew()
        while last - self._upto > self._recent + self._step:
            self._count_to(self._upto + self._step)
        self._count_ended()
        now = TrialTotals()
        now.add(self._counted)
        with self._database.read() as session:
            now.add(metrics.trials_of(session, Trial.id > self._upto))
        return now

    def _count_to(self, upto: int) -> None:
        with self._database.read() as session:
            # Pending ones first: what ends between the two queries is counted when it is looked at again.
            pending = metrics.pending_trials(session, self._upto, upto)
            chosen = (Trial.id > self._upto) & (Trial.id <= upto) & Trial.id.not_in(pending)
            found = metrics.trials_of(session, chosen)
        self._counted.add(found)
        self._open.update(pending)
        self._upto = upto

    def _count_ended(self) -> None:
        for ids in _batches(self._open):
            with self._database.read() as session:
                ended = set(ids) - metrics.still_pending(session, ids)
                found = metrics.trials_of(session, Trial.id.in_(ended))
            self._counted.add(found)
            self._open -= ended


def _batches(ids: set[int]) -> Iterator[list[int]]:
    all_ids = iter(sorted(ids))
    while batch := list(islice(all_ids, _ASKED)):
        yield batch
