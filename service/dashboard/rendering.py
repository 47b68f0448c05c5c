"""Templates to responses: escaping on, the filters that put units to numbers, and the headers of every page."""

import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from service.dashboard import units

STATIC_URL = "/static"
STATIC_FILES = {path.name: path for path in (Path(__file__).parent / "static").iterdir()}

# Nothing but our own files: no inline script or style, no other host, no frame around the page.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}

_FILTERS: tuple[Callable[..., object], ...] = (
    units.count,
    units.duration,
    units.exact,
    units.exact_us,
    units.rate,
    units.relative,
    units.seconds,
    units.size,
    units.utc,
    units.words,
)


def page(template: str, values: Mapping[str, object], status: int = 200) -> HTMLResponse:
    """The page that a template makes of these values and the current moment."""
    text = _environment().get_template(template).render({"now": datetime.now(UTC), **values})
    return HTMLResponse(text, status_code=status, headers=_HEADERS)


def message_page(heading: str, message: str, status: int) -> HTMLResponse:
    """A page that says one thing, such as that nothing is there."""
    return page("message.html", {"heading": heading, "message": message}, status)


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
    environment.globals["asset"] = _asset
    return environment


@cache
def _asset(name: str) -> str:
    """The address of a file of ours; it changes with the content, so that browsers never show an old one."""
    digest = hashlib.sha256(STATIC_FILES[name].read_bytes()).hexdigest()
    return f"{STATIC_URL}/{name}?v={digest[:12]}"
