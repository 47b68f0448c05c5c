"""/metrics."""

from fastapi import Response
from fastapi.routing import APIRoute
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_1_0_0, generate_latest

from service.api.keys.guard import SCRAPE, guarded_router
from service.http.deps import ContextDep
from service.http.responses import Responses

router = guarded_router("", "health", APIRoute)
_TEXT: Responses = {
    200: {
        "description": "Prometheus' text format, version 1.0.0",
        "content": {"text/plain": {"schema": {"type": "string"}, "example": 'xetune_jobs{state="queued"} 3.0\n'}},
    }
}


@router.get("/metrics", response_class=Response, responses=_TEXT, dependencies=[SCRAPE])
def read_metrics(context: ContextDep) -> Response:
    """Return metrics of jobs, trials, workers and requests for Prometheus."""
    return Response(generate_latest(context.metrics.registry), media_type=CONTENT_TYPE_PLAIN_1_0_0)
