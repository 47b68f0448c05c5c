"""Parameters of the page: length and number of periods, device."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from service.api.fleet.schemas import MOST_PERIODS, FleetQuery, PeriodLength
from service.dashboard.problem_filter import misread, number, unread, word

LENGTHS = tuple(PeriodLength)


@dataclass(frozen=True, slots=True)
class Choice:
    """The parameters as parsed; `unread` lists invalid ones as sentences."""

    asked: FleetQuery
    unread: tuple[str, ...]

    def address(self, path: str = "/fleet") -> str:
        """Return the URL of the page, or of a chart, with these parameters."""
        given = self.asked.model_dump(mode="json", exclude_defaults=True)
        return f"{path}?{urlencode(given)}" if given else path


def understand(of: Mapping[str, str]) -> Choice:
    """Parse the query of a URL."""
    wrong = list(misread(of, "period", LENGTHS))
    count = number(of, "periods")
    if of.get("periods") and not (count and count <= MOST_PERIODS):
        wrong.append(unread("periods", of["periods"], f"a whole number from 1 to {MOST_PERIODS}"))
    given: dict[str, object] = {"device": word(of, "device") or None}
    if of.get("period") in LENGTHS:
        given["period"] = of["period"]
    if count and count <= MOST_PERIODS:
        given["periods"] = count
    return Choice(FleetQuery.model_validate(given), tuple(wrong))
