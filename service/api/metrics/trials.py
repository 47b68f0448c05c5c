"""Totals over all trials, updated without recounting those that cannot change."""

from collections.abc import Iterator
from itertools import islice

from db.queries import metrics
from db.queries.metrics import TrialTotals
from db.schema.trial import Trial
from db.session import Database

_RECENT = 10_000  # ids that a running transaction may still insert
_STEP = 50_000
_ASKED = 500


class TrialTally:
    """Trial counts by id: trials far behind the newest are counted once, pending ones again until they end.

    Not thread-safe. The first count takes O(n) time for n trials, each later one is proportional to the new
    trials.
    """

    def __init__(self, database: Database, recent: int = _RECENT, step: int = _STEP) -> None:
        self._database, self._recent, self._step = database, recent, step
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._counted, self._upto, self._open = TrialTotals(), 0, set[int]()

    def refresh(self) -> TrialTotals:
        """Return totals of all trials that have ended.

        Raises:
            DatabaseError: it does not answer.
        """
        with self._database.read() as session:
            last = metrics.last_trial(session)
        if last < self._upto:  # the database was replaced by another one
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
            # Pending ones first: a trial that ends between the two queries is counted at the next refresh.
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
