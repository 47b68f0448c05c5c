"""Traces for an OpenTelemetry collector: requests and the jobs that they queued, if enabled."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import UUID

from opentelemetry import trace
from opentelemetry.trace import SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from db.session import Database
from service.settings import InvalidSettings, Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from structlog.typing import EventDict

    from tuner.session.trial import Trial

_CONTEXT = TraceContextTextMapPropagator()
_HEADER = "traceparent"
_FAILED = 500
_tracer = trace.get_tracer("xetune")


def configure_traces(settings: Settings, role: str) -> None:
    """Send the spans of this process to the collector of the settings, if any.

    Raises:
        InvalidSettings: the exporter is not installed.
    """
    if settings.traces is None:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise InvalidSettings(
            "cannot start: XETUNE_TRACES is set, but what sends traces is not installed; "
            "run `pip install 'xetune[traces]'` or unset the variable"
        ) from error
    provider = TracerProvider(resource=Resource.create({"service.name": f"xetune-{role}"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.traces)))
    trace.set_tracer_provider(provider)


def add_trace_id(_logger: object, _name: str, event: "EventDict") -> "EventDict":
    """Log processor that adds the trace id."""
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = trace.format_trace_id(context.trace_id)
    return event


class Traced:
    """ASGI middleware: a span for each request, in the trace of its traceparent header."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Imported here: a command that queues a job has spans without requests.
        from starlette.datastructures import Headers

        above = _CONTEXT.extract({_HEADER: Headers(scope=scope).get(_HEADER, "")})
        with _tracer.start_as_current_span(scope["method"], above, SpanKind.SERVER) as span:

            async def traced_send(message: "Message") -> None:
                if message["type"] == "http.response.start":
                    template = getattr(scope.get("route"), "path", "none")
                    span.update_name(f"{scope['method']} {template}")
                    span.set_attributes(
                        {
                            "http.request.method": scope["method"],
                            "http.route": template,
                            "http.response.status_code": message["status"],
                            "xetune.request_id": scope.get("state", {}).get("request_id", ""),
                        }
                    )
                    if message["status"] >= _FAILED:
                        span.set_status(trace.StatusCode.ERROR)
                await send(message)

            await self._app(scope, receive, traced_send)


@contextmanager
def job_span(database: Database, job_id: UUID, attempt: int) -> Generator[None]:
    """Open a span for a run of a job, in the trace of the request that queued it.

    Raises:
        DatabaseError: the database does not answer.
    """
    if not _is_on():
        yield
        return
    # Imported here: most programs that trace run no job.
    from db.queries import jobs

    with database.read() as session:
        above = _CONTEXT.extract({_HEADER: jobs.trace_of(session, job_id) or ""})
    attributes = {"xetune.job": str(job_id), "xetune.attempt": attempt}
    with _tracer.start_as_current_span("job", above, SpanKind.CONSUMER, attributes):
        yield


def trace_here() -> str | None:
    """Return the current span in the form passed to other machines; None without one."""
    carrier: dict[str, str] = {}
    _CONTEXT.inject(carrier)
    return carrier.get(_HEADER)


@contextmanager
def work_span(name: str, above: str | None, host: str) -> Generator[None]:
    """Open a span for work of a machine for a job whose coordinator is elsewhere; `above` is its parent, from
    `trace_here`.
    """
    if not _is_on() or above is None:
        yield
        return
    with _tracer.start_as_current_span(
        name, _CONTEXT.extract({_HEADER: above}), SpanKind.CONSUMER, {"xetune.host": host}
    ):
        yield


def note_trial(trial: "Trial") -> None:
    """Record spans of a trial that ended just now and of its phases, one after the other up to now."""
    outcome = trial.outcome
    if outcome is None or not _is_on():
        return
    parts = {"compile": outcome.compile_s, "verify": outcome.verify_s, "measure": outcome.measure_s}
    end = time.time_ns()
    at = end - round(sum(parts.values()) * 1e9)
    attributes = {"xetune.trial": trial.number, "xetune.outcome": outcome.status.value}
    whole = _tracer.start_span("trial", start_time=at, attributes=attributes)
    inside = trace.set_span_in_context(whole)
    for name, seconds in parts.items():
        if seconds > 0:
            span = _tracer.start_span(name, inside, start_time=at)
            at += round(seconds * 1e9)
            span.end(at)
    whole.end(end)


def _is_on() -> bool:
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
