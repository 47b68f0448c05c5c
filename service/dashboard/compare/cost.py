"""Cost of the difference between two kernels, as far as their evidence allows."""

from dataclasses import dataclass

from service.dashboard.evidence import TimeEvidence, TimeFigure
from service.dashboard.units import duration, rate

_SAID = {
    TimeEvidence.MEASURED: "measured on a device",
    TimeEvidence.EMULATED: "measured with DPAS emulated",
    TimeEvidence.PREDICTED: "predicted",
}


@dataclass(frozen=True, slots=True)
class Cost:
    """Ratio of the second's time to the first's, None if they are not comparable; `text` describes it."""

    factor: float | None
    text: str
    notes: tuple[str, ...] = ()


def cost(left: TimeFigure | None, right: TimeFigure | None, same_problem: bool) -> Cost:
    """Compare times of the same evidence; for others state why they are not comparable."""
    if left is None or right is None:
        which = "Neither has" if left is right else f"{'A' if left is None else 'B'} has no"
        return Cost(None, f"{which} {'a ' if left is right else ''}time, so nothing can be said of the cost.")
    if left.evidence is not right.evidence:
        said = f"A's time is {_SAID[left.evidence]}, B's is {_SAID[right.evidence]}"
        return Cost(None, f"{said}: neither is a measure of the other, so no difference is given.")
    if not same_problem:
        rates = f"A reaches {rate(left.gflops)} and B {rate(right.gflops)}, both {_SAID[left.evidence]}"
        return Cost(None, f"They solve different problems, so their times are not compared. {rates}.")
    factor, apart = right.time_us / left.time_us, right.time_us - left.time_us
    if apart == 0:
        text = f"Both take {duration(left.time_us)}, {_SAID[left.evidence]}."
    else:
        faster, slower = ("A", "B") if apart > 0 else ("B", "A")
        times = max(factor, 1 / factor)
        said = f"{duration(abs(apart), min(left.time_us, right.time_us))} less, both {_SAID[left.evidence]}"
        text = f"{faster} is {times:,.2f} times as fast as {slower}: {said}."
    return Cost(factor, text, tuple(_notes(left, right)))


def _notes(left: TimeFigure, right: TimeFigure) -> list[str]:
    notes: list[str] = []
    if left.has_spread and right.has_spread and left.low_us <= right.high_us and right.low_us <= left.high_us:
        words = "intervals" if left.evidence is TimeEvidence.PREDICTED else "spreads (p10 to p90)"
        notes.append(f"Their {words} overlap: the order may be chance.")
    if left.source != right.source:
        predicted = left.evidence is TimeEvidence.PREDICTED
        notes.append(f"{'Predicted by' if predicted else 'Measured on'} {left.source} and {right.source}.")
    return notes
