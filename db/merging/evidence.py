"""Which of two rows that differ is believed: by evidence, then by date."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from db.models import Device, Job, Trial

_TIMES = {"measured": 2, "predicted": 1}
_PROOFS = {"device": 3, "opencl_cpu": 2, "simulator": 1, "none": 0}


class Rank(NamedTuple):
    """How far a row is believed, the first difference decides; each with the words that say so."""

    first: tuple[int, str]
    second: tuple[int, str]
    date: datetime


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
    """The side of more evidence, else the newer one, else what is here."""
    for mine, other in ((here.first, there.first), (here.second, there.second)):
        if mine[0] != other[0]:
            kept, better, worse = ("here", mine, other) if mine[0] > other[0] else ("there", other, mine)
            return Decision(what, kept, f"{better[1]} over {worse[1]}")
    if here.date == there.date:
        return Decision(what, "here", "equal in evidence and date")
    kept, newer, older = ("here", here, there) if here.date > there.date else ("there", there, here)
    return Decision(what, kept, f"{newer.date.isoformat()} over {older.date.isoformat()}")


def of_trial(trial: Trial) -> Rank:
    """A trial that ended: measured over predicted over no time, then how its numbers were proven, then when."""
    date = trial.measurement.measured_at if trial.measurement is not None else trial.ended_at
    assert date is not None  # it ended
    proof = f"numbers proven on {trial.proof_kind}" if trial.proof_kind != "none" else "numbers that are not proven"
    return Rank((_TIMES.get(trial.status, 0), trial.status), (_PROOFS[trial.proof_kind], proof), date)


def of_job(job: Job, trials: list[Trial]) -> Rank:
    """A job that is over: by its measured trials, then by its predicted ones, then by its end."""
    counts = [sum(trial.status == status for trial in trials) for status in ("measured", "predicted")]
    said = [f"{count} {status} trials" for count, status in zip(counts, ("measured", "predicted"), strict=True)]
    assert job.finished_at is not None
    return Rank((counts[0], said[0]), (counts[1], said[1]), job.finished_at)


def of_device(device: Device) -> Rank:
    """The facts of a device: by how many were asked of the hardware, then by how many are known."""
    provenance = device.spec.get("provenance")
    known = [str(each) for each in provenance.values()] if isinstance(provenance, dict) else []  # pyright: ignore
    probed = sum(each.startswith("probed") for each in known)
    return Rank((probed, f"{probed} probed facts"), (len(known), f"{len(known)} known facts"), device.created_at)
