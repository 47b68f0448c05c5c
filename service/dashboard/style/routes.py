"""/style: every part in every state, for whoever makes a page; no other page leads here."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from service.api.keys.guard import READ
from service.dashboard.charts.answers import chart_answer
from service.dashboard.evidence import ProofFigure, TimeFigure, measured, predicted
from service.dashboard.problem_pages import PAGE
from service.dashboard.rendering import page
from service.dashboard.style.samples import SAMPLES
from service.errors import NotFound

router = APIRouter(prefix="/style", include_in_schema=False, default_response_class=HTMLResponse)

_FLOPS = 2 * 512 * 384 * 1024
_TIMES: tuple[TimeFigure, ...] = (
    measured(412.5, 401.2, 440.9, "native", "b580", _FLOPS),
    measured(1934.0, 1880.1, 2051.7, "DPAS emulated", "opencl-cpu-as-b580", _FLOPS),
    predicted(398.0, 301.0, 560.0, "xe-1", _FLOPS),
)
_PROOFS = (
    ProofFigure("device", 64, 64, 0.0011, 0.0124),
    ProofFigure("opencl_cpu", 64, 64, 0.0011, 0.0124),
    ProofFigure("simulator", 12, 64, 0.0011, 0.0124),
    ProofFigure("simulator", 12, 64, 3.1, 0.0124),
    ProofFigure("none", 0, 0, None, None),
)
_STATUSES = ("queued", "running", "cancelling", "succeeded", "failed", "cancelled", "measured", "rejected", "crashed")


@router.get("", dependencies=[PAGE, READ])
def read_style(request: Request) -> HTMLResponse:
    """Every part."""
    values = {"times": _TIMES, "proofs": _PROOFS, "statuses": _STATUSES, "charts": SAMPLES}
    return page(request, "style/style.html", values)


@router.get("/charts/{name}", dependencies=[PAGE, READ])
def read_sample(request: Request, name: str) -> Response:
    """A chart of invented numbers."""
    if name not in SAMPLES:
        raise NotFound(f"no sample chart is called {name!r}; there are {', '.join(SAMPLES)}")
    return chart_answer(request, SAMPLES[name])
