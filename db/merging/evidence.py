"""Which of two rows that differ is believed: by evidence, then by date."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from db.schema import (
    Device,
    Job,
    Trial,
)

_TIMES = {"measured": 2, "predicted": 1}
_PROOFS = {"device": 3, "opencl_cpu": 2, "simulator": 1, "none": 0}


_RAN, _IMPORTED = (1, "what ran there"), (0, "what was imported")
_WITH_KEY, _WITHOUT_KEY = (1, "a time with its result key"), (0, "a time without")
_ALIKE = (0, "")


class Rank(NamedTuple):
    """How far a row is believed, the first difference decides; each with the words that say so.

    Of equal evidence and date the side that `ran` it is believed, then the one that says more of it: `whole`.
    """

    first: tuple[int, str]
    second: tuple[int, str]
    date: datetime
    ran: tuple[int, str] = _ALIKE
    whole: tuple[int, str] = _ALIKE


@dataclass(frozen=True, slots=True)
class Decision:
    """What differed, which side was kept ("here", "there" or "both"), and why."""

    what: str
    kept: str
    because: str

    def __str__(self) -> str:
        kept = "both are kept" if self.kept == "both" else f"kept what is {self.kept}"
        return f"{self.what}: {kept}, {self.because}"


def decide(what: str, here: Rank, there: Rank) -> Decision:
    """The side of more evidence, else the newer one, else the one that ran it, else what is here."""
    by_evidence = (here.first, there.first), (here.second, there.second)
    if (found := _better(what, *by_evidence)) is not None:
        return found
    if here.date != there.date:
        kept, newer, older = ("here", here, there) if here.date > there.date else ("there", there, here)
        return Decision(what, kept, f"{newer.date.isoformat()} over {older.date.isoformat()}")
    found = _better(what, (here.ran, there.ran), (here.whole, there.whole))
    return found or Decision(what, "here", "equal in evidence and date")


def _better(what: str, *pairs: tuple[tuple[int, str], tuple[int, str]]) -> Decision | None:
    for mine, other in pairs:
        if mine[0] != other[0]:
            kept, better, worse = ("here", mine, other) if mine[0] > other[0] else ("there", other, mine)
            return Decision(what, kept, f"{better[1]} over {worse[1]}")
    return None


def of_trial(trial: Trial, job: Job) -> Rank:
    """A job's trial that ended: measured over predicted over no time, then how its numbers were proven, then when."""
    measured = trial.measurement
    date = measured.measured_at if measured is not None else trial.ended_at
    assert date is not None  # it ended
    proof = f"numbers proven on {trial.proof_kind}" if trial.proof_kind != "none" else "numbers that are not proven"
    has_key = measured is not None and measured.key is not None
    times = _TIMES.get(trial.status, 0), trial.status
    return Rank(times, (_PROOFS[trial.proof_kind], proof), date, _ran(job), _WITH_KEY if has_key else _WITHOUT_KEY)


def of_job(job: Job, trials: list[Trial]) -> Rank:
    """A job that is over: by its measured trials, then by its predicted ones, then by its end."""
    counts = [sum(trial.status == status for trial in trials) for status in ("measured", "predicted")]
    said = [f"{count} {status} trials" for count, status in zip(counts, ("measured", "predicted"), strict=True)]
    assert job.finished_at is not None
    return Rank((counts[0], said[0]), (counts[1], said[1]), job.finished_at, _ran(job))


def of_device(device: Device) -> Rank:
    """The facts of a device: by how many were asked of the hardware, then by how many are known."""
    provenance = device.spec.get("provenance")
    known = [str(each) for each in provenance.values()] if isinstance(provenance, dict) else []  # pyright: ignore
    probed = sum(each.startswith("probed") for each in known)
    return Rank((probed, f"{probed} probed facts"), (len(known), f"{len(known)} known facts"), device.created_at)


def _ran(job: Job) -> tuple[int, str]:
    return _RAN if job.imported is None else _IMPORTED
