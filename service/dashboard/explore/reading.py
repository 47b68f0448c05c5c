"""Trials of a view of /explore, and its available choices."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy.orm import Session

from service.dashboard.evidence import TimeEvidence
from service.dashboard.explore.choice import View, settled
from service.dashboard.problems.charts import ordered, parameters
from service.dashboard.problems.fields import Value
from service.dashboard.problems.samples import Failure, Pair, Sample, read_job, read_pair

MOST_PARTS = 6
_MOST_VALUES = 40

Dot = Sample | Failure


@dataclass(frozen=True, slots=True)
class Choices:
    """Available axes, colours, facets, and filters: values by parameter."""

    axes: tuple[str, ...]
    parameters: tuple[str, ...]
    values: tuple[tuple[str, tuple[Value, ...]], ...]


def read_scope(session: Session, view: View) -> Pair:
    """Return the trials of the view.

    Raises:
        NotFound: there is no such job, or no job tuned such a problem there.
    """
    return read_job(session, view.job) if view.job else read_pair(session, view.problem, view.device)


@lru_cache(maxsize=4)
def choices(pair: Pair) -> Choices:
    """Return the choices for these trials: the parameters that explain most first, then others that vary."""
    values: dict[str, set[Value]] = {}
    for dot in (*pair.samples, *pair.failures):
        for name, value in dot.fields.items():
            values.setdefault(name, set()).add(value)
    varied = [name for name, taken in values.items() if len(taken) > 1]
    names = tuple(dict.fromkeys([*parameters(pair), *varied]))
    told = tuple((name, ordered(values[name])[:_MOST_VALUES]) for name in names)
    return Choices(("time", "rate", "trial", *names), names, told)


def settle(pair: Pair, view: View) -> View:
    """Return the view with invalid choices replaced."""
    found = choices(pair)
    return settled(view, found.axes, found.parameters)


def chosen(pair: Pair, view: View) -> list[Dot]:
    """Return the trials that pass the filters, fastest first, then those without a time by number."""
    timed = sorted(pair.samples, key=lambda sample: sample.time_us)
    return [dot for dot in (*timed, *pair.failures) if _wanted(dot, view)]


def parts_of(dots: Sequence[Dot], name: str) -> list[Value]:
    """Return the values of the facet parameter: those with the most trials, at most six, in order."""
    counts = Counter(dot.fields[name] for dot in dots if name in dot.fields)
    return list(ordered(value for value, _ in counts.most_common(MOST_PARTS)))


def groups_of(dots: Iterable[Dot], name: str, most: int) -> list[tuple[str, frozenset[Value]]]:
    """Return the values of a parameter in at most `most` named groups, in order.

    Many numbers form ranges with about equal numbers of trials; of many texts the rarest form one group.
    """
    counts = Counter(dot.fields[name] for dot in dots if name in dot.fields)
    values = ordered(counts)
    if len(values) <= most:
        return [(str(value), frozenset([value])) for value in values]
    if all(isinstance(value, int) for value in values):
        return _ranges(values, counts, most)
    usual = [value for value, _ in counts.most_common(most - 1)]
    rare = frozenset(counts) - frozenset(usual)
    return [*((str(value), frozenset([value])) for value in ordered(usual)), ("others", rare)]


def _ranges(values: Sequence[Value], counts: Counter[Value], most: int) -> list[tuple[str, frozenset[Value]]]:
    found: list[list[Value]] = []
    total, seen = counts.total(), 0
    for value in values:
        if not found or seen >= total * len(found) / most:
            found.append([])
        found[-1].append(value)
        seen += counts[value]
    return [(f"{g[0]} to {g[-1]}" if len(g) > 1 else str(g[0]), frozenset(g)) for g in found]


def _wanted(dot: Dot, view: View) -> bool:
    if view.evidence and not (isinstance(dot, Sample) and dot.evidence == view.evidence):
        return False
    if view.outcome and status_of(dot) != view.outcome:
        return False
    return all(str(dot.fields.get(name)) == value for name, value in view.where)


def status_of(dot: Dot) -> str:
    """Return the status of a trial."""
    if isinstance(dot, Failure):
        return dot.status
    return "predicted" if dot.evidence is TimeEvidence.PREDICTED else "measured"
