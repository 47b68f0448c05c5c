"""What a time and a result rest on, in the words and marks that every page uses for it."""

from dataclasses import dataclass
from enum import StrEnum

from service.job_time import Basis
from tuner.session.evidence import NATIVE


class TimeEvidence(StrEnum):
    """Where a time comes from. The three are never compared with each other."""

    MEASURED = "measured"
    EMULATED = "emulated"
    PREDICTED = "predicted"

    @property
    def words(self) -> str:
        """It in words."""
        return "measured, DPAS emulated" if self is TimeEvidence.EMULATED else self.value


@dataclass(frozen=True, slots=True)
class TimeFigure:
    """A time in microseconds with its spread or interval, its evidence, and the rate it means.

    `basis` is told of a time that stands for a job; None is the time of a trial.
    """

    time_us: float
    low_us: float
    high_us: float
    evidence: TimeEvidence
    source: str
    gflops: float
    basis: Basis | None = None

    @property
    def label(self) -> str:
        """The evidence in a sentence fragment that always names the device or the model."""
        measured = {Basis.IN_TURNS: "measured interleaved", Basis.SINGLE: "single measurement"}
        how = "measured" if self.basis is None else measured.get(self.basis, "measured")
        match self.evidence:
            case TimeEvidence.MEASURED:
                return f"{how} on {self.source}"
            case TimeEvidence.EMULATED:
                return f"{how} on {self.source} · DPAS emulated"
            case TimeEvidence.PREDICTED:
                return f"predicted ({self.source})"

    @property
    def spread_name(self) -> str:
        """What `low_us` and `high_us` are."""
        return "interval" if self.evidence is TimeEvidence.PREDICTED else "p10 to p90"


def measured(median_us: float, low_us: float, high_us: float, label: str, device: str, flops: int) -> TimeFigure:
    """A measured time; any label but "native" means that built-ins were emulated."""
    kind = TimeEvidence.MEASURED if label == NATIVE else TimeEvidence.EMULATED
    return TimeFigure(median_us, low_us, high_us, kind, device, flops / median_us / 1e3)


def device_name(slug: str, by: str | None) -> str:
    """The device that a time is of, and who measured it, if that was not this job in this database."""
    return slug if by is None else f"{slug} by {by}"


def predicted(time_us: float, low_us: float, high_us: float, model: str, flops: int) -> TimeFigure:
    """A time that a model predicts."""
    return TimeFigure(time_us, low_us, high_us, TimeEvidence.PREDICTED, model, flops / time_us / 1e3)


_PROVED_BY = {"device": "on the device", "opencl_cpu": "on a CPU OpenCL device", "simulator": "in the simulator"}


@dataclass(frozen=True, slots=True)
class ProofFigure:
    """How many tiles of C of how many were compared with the reference, and where they were run.

    `failed` says that the trial ended for wrong numbers, which an error that is no number, or is not kept, cannot tell.
    """

    kind: str
    checked: int
    total: int
    max_error: float | None
    tolerance: float | None
    method: str | None = None
    failed: bool = False

    @property
    def wrong(self) -> bool:
        """Whether the numbers are further from the reference than they may be."""
        if self.max_error is None or self.tolerance is None:
            return self.failed
        return self.failed or not self.max_error <= self.tolerance

    @property
    def mark(self) -> str:
        """The mark that is drawn for it: where numbers were proven, `wrong`, or `none`."""
        return "wrong" if self.wrong else self.kind

    @property
    def label(self) -> str:
        """Where and how much was compared, and whether it was wrong."""
        if self.kind not in _PROVED_BY:
            return "wrong numbers" if self.wrong else "numbers not checked"
        tiles = f"{self.checked:,} of {self.total:,} tiles of C {_PROVED_BY[self.kind]}"
        return f"wrong numbers, found in {tiles}" if self.wrong else tiles

    @property
    def detail(self) -> str:
        """The largest error and its bound, or nothing when they are not known."""
        if self.max_error is None or self.tolerance is None:
            return ""
        if self.wrong:
            above = "above the tolerance" if self.max_error > self.tolerance else "tolerance"
            return f"largest error {self.max_error:.3g}, {above} {self.tolerance:.3g}"
        whole = "; all of C agreed in sums with random signs (Freivalds)" if self.method == "freivalds" else ""
        return f"largest error {self.max_error:.3g}, tolerance {self.tolerance:.3g}{whole}"
