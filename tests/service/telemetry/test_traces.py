"""A request, the job that it queues and the job's trials form one trace, also across processes."""

import logging
import sys
import threading
from collections.abc import Generator

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from db.queries.cluster import leases
from db.session import Database
from service.app import create_app
from service.jobs.job_runs import (
    JobEnd,
    JobRuns,
)
from service.settings import InvalidSettings, Settings
from service.telemetry import traces
from service.telemetry.traces import add_trace_id, configure_traces
from tests.faults.jobs import TRIALS, Place, queue
from tests.service.rest import Clock, invented_devices, post_job

THEIRS = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Generator[InMemorySpanExporter]:
    """Enable tracing and return the recorder of spans."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(traces, "_tracer", provider.get_tracer("test"))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    yield exporter
    provider.shutdown()


@pytest.fixture
def traced(settings: Settings, clock: Clock) -> Generator[FastAPI]:
    """A service that traces."""
    app = create_app(settings.model_copy(update={"traces": "http://collector"}), invented_devices, clock)
    yield app
    app.state.context.database.close()


def test_a_job_is_run_in_the_trace_of_its_request(spans: InMemorySpanExporter, traced: FastAPI) -> None:
    job_id = post_job(TestClient(traced, headers={"traceparent": f"00-{THEIRS}-b7ad6b7169203331-01"}))
    own: Database = traced.state.context.database
    with own.write() as session:
        job = leases.claim_next(session, "lab/1", 60.0)
    assert job is not None
    logged: dict[str, object] = {}

    def run(*_: object) -> JobEnd:
        logged.update(add_trace_id(None, "", {}))
        return JobEnd.SUCCEEDED

    JobRuns(own, "lab/1", 60.0).run(job, run, threading.Event(), "lab")
    ended = {span.name: span for span in spans.get_finished_spans()}
    assert {"POST /v1/jobs", "job"} <= ended.keys()  # the framework may have spans inside the request's
    request, ran = ended["POST /v1/jobs"], ended["job"]
    assert request.context is not None
    assert ran.parent is not None
    assert ran.attributes is not None
    assert ran.parent.span_id in {span.context.span_id for span in ended.values() if span.context is not None}
    assert trace.format_trace_id(request.context.trace_id) == THEIRS
    assert trace.format_trace_id(ran.parent.trace_id) == logged["trace_id"] == THEIRS
    assert ran.attributes["xetune.job"] == str(job_id)


def test_trials_and_their_parts_are_inside_the_job(
    spans: InMemorySpanExporter, database: Database, place: Place
) -> None:
    queue(database)
    assert place.run_jobs(database) == 1
    (job,) = [span for span in spans.get_finished_spans() if span.name == "job"]
    found = [span for span in spans.get_finished_spans() if span.name == "trial"]
    assert len(found) == TRIALS
    assert {span.parent.span_id for span in found if span.parent} == {job.context.span_id if job.context else 0}
    assert {"compile", "verify"} <= {span.name for span in spans.get_finished_spans()}


def test_without_what_sends_traces_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(InvalidSettings, match=r"xetune\[traces\]"):
        configure_traces(Settings(traces="http://localhost:4318/v1/traces"), "service")
    configure_traces(Settings(), "service")


def test_lines_outside_of_a_span_name_no_trace() -> None:
    assert add_trace_id(logging.getLogger(), "info", {"event": "x"}) == {"event": "x"}
