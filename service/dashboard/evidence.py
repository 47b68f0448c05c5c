"""Evidence of times and results as all pages show it."""

from dataclasses import dataclass, replace
from enum import StrEnum

from db.queries.results.headline import again_us
from db.schema.target import Problem
from db.schema.trial import Trial
from service.evidence import measuring_trial
from service.job_summary import WIDE_SPREAD, Basis
from tuner.session.evidence import NATIVE


class TimeEvidence(StrEnum):
    """Evidence of a time. Times of different evidence are never compared with each other."""

    MEASURED = "measured"
    EMULATED = "emulated"
    PREDICTED = "predicted"

    @property
    def words(self) -> str:
        """It in words."""
        return "measured, DPAS emulated" if self is TimeEvidence.EMULATED else self.value


@dataclass(frozen=True, slots=True)
class TimeFigure:
    """A time in microseconds with its spread or interval, its evidence, and its rate.

    `basis` is set for the reported time of a job; None for the time of a trial. `spread` is p10 to p90 of a single
    measurement as a part of its median, also beside the time of a later one; None for a prediction.
    """

    time_us: float
    low_us: float
    high_us: float
    evidence: TimeEvidence
    source: str
    gflops: float
    basis: Basis | None = None
    spread: float | None = None

    @property
    def label(self) -> str:
        """The evidence in a sentence fragment that always names the device or the model."""
        measured = {Basis.INTERLEAVED: "measured interleaved", Basis.SINGLE: "single measurement"}
        how = "measured" if self.basis is None else measured.get(self.basis, "measured")
        match self.evidence:
            case TimeEvidence.MEASURED:
                return f"{how} on {self.source}"
            case TimeEvidence.EMULATED:
                return f"{how} on {self.source} · DPAS emulated"
            case TimeEvidence.PREDICTED:
                return f"predicted ({self.source})"

    @property
    def has_spread(self) -> bool:
        """False for a re-measured time, of which only the median is kept."""
        return self.basis is not Basis.INTERLEAVED

    @property
    def spread_name(self) -> str:
        """Name of the interval from `low_us` to `high_us`."""
        return "interval" if self.evidence is TimeEvidence.PREDICTED else "p10 to p90"

    def spread_warning(self, of: str) -> str | None:
        """Return the warning that measured times of a kernel spread widely; None if they do not."""
        if self.evidence is not TimeEvidence.MEASURED or self.spread is None or self.spread <= WIDE_SPREAD:
            return None
        return f"Times of {of} spread by {self.spread:.0%}. Measure it again on a quiet machine"


def measured(median_us: float, low_us: float, high_us: float, label: str, device: str, flops: int) -> TimeFigure:
    """A measured time; any label but "native" means that built-ins were emulated."""
    kind = TimeEvidence.MEASURED if label == NATIVE else TimeEvidence.EMULATED
    spread = (high_us - low_us) / median_us
    return TimeFigure(median_us, low_us, high_us, kind, device, flops / median_us / 1e3, spread=spread)


def device_name(slug: str, by: str | None) -> str:
    """The device that a time is of, and who measured it, if that was not this job in this database."""
    return slug if by is None else f"{slug} by {by}"


def predicted(time_us: float, low_us: float, high_us: float, model: str, flops: int) -> TimeFigure:
    """A time that a model predicts."""
    return TimeFigure(time_us, low_us, high_us, TimeEvidence.PREDICTED, model, flops / time_us / 1e3)


_PROVED_BY = {
    "device": "on the device",
    "opencl_cpu": "on a CPU OpenCL device",
    "machine_code": "as machine code, without the GPU",
    "simulator": "in the simulator",
}


@dataclass(frozen=True, slots=True)
class ProofFigure:
    """Number of verified tiles of C, where they were run, and by which driver the kernel was `accepted`.

    `failed` states that the trial ended with a wrong result, which a missing or non-finite error cannot
    express. `refusal` is why machine code was compiled and not executed.
    """

    kind: str
    checked: int
    total: int
    max_error: float | None
    tolerance: float | None
    method: str | None = None
    failed: bool = False
    accepted: str | None = None
    refusal: str | None = None

    @property
    def wrong(self) -> bool:
        """True if the error exceeds the tolerance."""
        if self.max_error is None or self.tolerance is None:
            return self.failed
        return self.failed or not self.max_error <= self.tolerance

    @property
    def mark(self) -> str:
        """Mark for the verification: its kind, `wrong`, or `none`."""
        return "wrong" if self.wrong else self.kind

    @property
    def label(self) -> str:
        """Label for the verification: where, how many tiles, and whether the result is wrong."""
        if self.kind not in _PROVED_BY:
            return "wrong numbers" if self.wrong else "numbers not checked"
        tiles = f"{self.checked:,} of {self.total:,} tiles of C {_PROVED_BY[self.kind]}"
        return f"wrong numbers, found in {tiles}" if self.wrong else tiles

    @property
    def detail(self) -> str:
        """Return the largest error and its tolerance, the acceptance and the refusal, as far as they are known."""
        refused = None if self.refusal is None else f"machine code not executed: {self.refusal}"
        return "; ".join(part for part in (self._error, self.accepted, refused) if part)

    @property
    def _error(self) -> str:
        if self.max_error is None or self.tolerance is None:
            return ""
        if self.wrong:
            above = "above the tolerance" if self.max_error > self.tolerance else "tolerance"
            return f"largest error {self.max_error:.3g}, {above} {self.tolerance:.3g}"
        whole = "; all of C agreed in sums with random signs (Freivalds)" if self.method == "freivalds" else ""
        return f"largest error {self.max_error:.3g}, tolerance {self.tolerance:.3g}{whole}"


def headline_figure(trial: Trial, device: str, problem: Problem) -> TimeFigure | None:
    """Return the same with the headline time of the trial: re-measured where its job did that. The job is loaded."""
    figure = trial_figure(trial, device, problem)
    if figure is None or figure.evidence is TimeEvidence.PREDICTED:
        return figure
    us = again_us(trial) if trial.measurement is not None else None
    return replace(figure, basis=Basis.SINGLE) if us is None else remeasured(figure, us)


def remeasured(figure: TimeFigure, us: float) -> TimeFigure:
    """Return the figure with the time that was measured interleaved."""
    rate = figure.gflops * figure.time_us / us
    return replace(figure, time_us=us, low_us=us, high_us=us, gflops=rate, basis=Basis.INTERLEAVED)


def trial_figure(trial: Trial, device: str, problem: Problem) -> TimeFigure | None:
    """Return the measured time of a trial's configuration (in any job), or its prediction."""
    flops, by = problem.flops, measuring_trial(trial)
    if by is not None and (m := by.measurement) is not None:
        other = None if by is trial else "another job"
        name = device_name(device, other if by.origin is None else by.origin)
        return measured(m.median_us, m.p10_us, m.p90_us, m.label, name, flops)
    if (p := trial.prediction) is not None:
        return predicted(p.time_us, p.low_us, p.high_us, p.model_version, flops)
    return None
