"""Templates to responses: escaping on, the filters that put units to numbers, and the headers of every page."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from service.api.keys.callers import COOKIE
from service.dashboard import forms, units
from service.dashboard.assets import asset_url, compressed
from service.text.short_ids import short_ids


# Nothing but our own files: no inline script or style, no other host, no frame around the page.
class Entry(NamedTuple):
    """A link of the bar; `section` is what a page names to have its link marked."""

    section: str
    title: str
    href: str


NAVIGATION = (
    Entry("overview", "Overview", "/"),
    Entry("jobs", "Jobs", "/jobs"),
    Entry("problems", "Problems", "/problems"),
    Entry("kernels", "Kernels", "/kernels"),
    Entry("compare", "Compare", "/compare"),
    Entry("xray", "X-ray", "/xray"),
    Entry("shapes", "Shapes", "/shapes"),
    Entry("devices", "Devices", "/devices"),
    Entry("fleet", "Fleet", "/fleet"),
    Entry("schedules", "Schedules", "/schedules"),
    Entry("records", "Records", "/records"),
    Entry("explore", "Explore", "/explore"),
)


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}

_FILTERS: tuple[Callable[..., object], ...] = (
    forms.epilogue_line,
    forms.quantization_line,
    forms.hundredths,
    forms.whole_problems,
    short_ids,
    units.count,
    units.cron_words,
    units.duration,
    units.exact,
    units.exact_us,
    units.factor,
    units.least,
    units.rate,
    units.relative,
    units.seconds,
    units.size,
    units.unbroken,
    units.utc,
    units.words,
)


def page(
    request: Request,
    template: str,
    values: Mapping[str, object],
    section: str | None = None,
    status: int = 200,
    policy: str = POLICY,
) -> HTMLResponse:
    """The page, or part of one, that a template makes of these values and the current moment.

    `section` is the link of the bar on top that it belongs to, `policy` is its content security policy.
    """
    common = {
        "now": datetime.now(UTC),
        "navigation": NAVIGATION,
        "section": section,
        "signed_in": COOKIE in request.cookies,
    }
    text = _environment().get_template(template).render({**common, **values})
    headers = {"Content-Security-Policy": policy, **_HEADERS}
    return compressed(request, HTMLResponse(text, status_code=status, headers=headers))


def rendered(template: str, values: Mapping[str, object]) -> str:
    """The text that a template makes of these values alone."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for filter_ in _FILTERS:
        environment.filters[filter_.__name__] = filter_
    environment.globals["asset"] = asset_url
    return environment
