"""Selection of a job's trials in one chart, which filters the other charts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from service.dashboard.charts.document import TIME, TRIAL
from service.dashboard.problems.fields import Value
from service.dashboard.problems.samples import Failure, Pair, Sample

MOST_CONDITIONS = 16
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Condition:
    """A field and what it may be: a range of numbers, both ends inclusive, or one of some values as text."""

    field: str
    low: float | None = None
    high: float | None = None
    values: tuple[str, ...] = ()

    def holds(self, value: Value | float | None) -> bool:
        """Return whether a field's value is so; an absent one is not."""
        if value is None:
            return False
        if self.low is not None and self.high is not None:
            return isinstance(value, int | float) and self.low <= value <= self.high
        return str(value) in self.values


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions that selected trials all meet; without any, every trial is selected."""

    conditions: tuple[Condition, ...] = ()

    def of(self, pair: Pair) -> Pair:
        """Return the selected trials among those of a job."""
        if not self.conditions:
            return pair
        samples = tuple(s for s in pair.samples if self._holds(s, s.time_us))
        failures = tuple(f for f in pair.failures if self._holds(f, None))
        return replace(pair, samples=samples, failures=failures)

    def numbers(self, pair: Pair) -> set[int] | None:
        """Return the numbers of the selected trials; None if that is every trial."""
        if not self.conditions:
            return None
        chosen = self.of(pair)
        return {trial.number for trial in (*chosen.samples, *chosen.failures)}

    def _holds(self, trial: Sample | Failure, time_us: float | None) -> bool:
        known = {TRIAL: trial.number, TIME: time_us}
        return all(c.holds(known[c.field] if c.field in known else trial.fields.get(c.field)) for c in self.conditions)


def understand(words: Sequence[str]) -> Selection:
    """Parse conditions of a URL, `time=100..250` or `block m=64|128`; what cannot be read is left out."""
    found = (_condition(word[:_LONGEST]) for word in words[:MOST_CONDITIONS])
    return Selection(tuple(condition for condition in found if condition is not None))


def _condition(word: str) -> Condition | None:
    field, equals, text = word.partition("=")
    if not field or not equals:
        return None
    low, dots, high = text.partition("..")
    if not dots:
        return Condition(field, values=tuple(text.split("|")))
    try:
        return Condition(field, float(low), float(high))
    except ValueError:
        return None
