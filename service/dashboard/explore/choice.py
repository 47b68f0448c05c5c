"""Choice of a reader of /explore, as stored in the URL."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from service.dashboard.evidence import TimeEvidence
from service.dashboard.jobs.history import FAILURES

EVIDENCES = tuple(kind.value for kind in TimeEvidence)
OUTCOME = "outcome"
"""The colour option that is not a parameter."""
MOST_CONDITIONS = 8
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class View:
    """Trials (of a job, or of a problem on a device), the two axes, colour, and filters.

    `colour` is a parameter or `outcome`; `parts` is the facet parameter; `where` has parameters and their
    required values, as text.
    """

    job: str
    problem: str
    device: str
    x: str
    y: str
    colour: str
    parts: str
    evidence: str
    outcome: str
    where: tuple[tuple[str, str], ...]

    @property
    def scoped(self) -> bool:
        """True if it selects any trials."""
        return bool(self.job or (self.problem and self.device))

    @property
    def filtered(self) -> bool:
        """True if it filters trials."""
        return bool(self.evidence or self.outcome or self.where)

    @property
    def scope(self) -> tuple[tuple[str, str], ...]:
        """The words of the address that name the trials."""
        return (("job", self.job),) if self.job else (("problem", self.problem), ("device", self.device))

    def chart(self, part: str) -> str:
        """Return the URL of the chart of a facet."""
        return "/explore/chart?" + urlencode([*self._words(), *([("part", part)] if self.parts else [])])

    def without(self, condition: tuple[str, str]) -> str:
        """Return the URL of the page without that condition."""
        return replace(self, where=tuple(each for each in self.where if each != condition)).href

    @property
    def all(self) -> str:
        """Return the URL of the page with the same axes and without filters."""
        return replace(self, evidence="", outcome="", where=()).href

    @property
    def href(self) -> str:
        """Return the URL of the page."""
        return "/explore?" + urlencode(list(self._words()))

    def _words(self) -> Iterator[tuple[str, str]]:
        yield from self.scope
        for name in ("x", "y", "colour", "parts", "evidence", "outcome"):
            if word := getattr(self, name):
                yield name, word
        for name, value in self.where:
            yield "where", f"{name}={value}"


def understand(of: QueryParams) -> View:
    """Parse the query of a URL; conditions that no trial can match are dropped."""
    evidence, outcome = _word(of, "evidence"), _word(of, "outcome")
    conditions = (word[:_LONGEST].partition("=") for word in of.getlist("where")[:MOST_CONDITIONS])
    return View(
        job=_word(of, "job"),
        problem=_word(of, "problem"),
        device=_word(of, "device"),
        x=_word(of, "x"),
        y=_word(of, "y"),
        colour=_word(of, "colour"),
        parts=_word(of, "parts"),
        evidence=evidence if evidence in EVIDENCES else "",
        outcome=outcome if outcome in ("measured", "predicted", *FAILURES) else "",
        where=tuple(dict.fromkeys((name, value) for name, equals, value in conditions if name and equals)),
    )


def settled(view: View, axes: Sequence[str], parameters: Sequence[str]) -> View:
    """Return the choice with invalid axes, colour and facets replaced by valid ones."""
    return replace(
        view,
        x=view.x if view.x in axes else axes[-1],
        y=view.y if view.y in axes else axes[0],
        colour=view.colour if view.colour in (OUTCOME, *parameters) else "",
        parts=view.parts if view.parts in parameters else "",
    )


def _word(of: QueryParams, name: str) -> str:
    return of.get(name, "")[:_LONGEST].replace("\0", "")  # PostgreSQL knows no NUL
