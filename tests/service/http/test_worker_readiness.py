"""A worker answers whether it is alive and ready, and lists the faults that make it unready."""

import httpx
import pytest

from hal.probe.findings import Finding, State
from service.http.worker_readiness import answering
from service.settings import InvalidSettings

FULL = Finding("disk", "/data", State.FAULT, "0.0 GB free", "free 2 GB: a job stores its kernels there")
HOST = "127.0.0.1"


def test_readiness_follows_the_faults() -> None:
    faults: list[Finding] = []
    with answering(HOST, 0, lambda: faults) as port:
        address = f"http://{HOST}:{port}"
        answer = httpx.get(f"{address}/readyz")
        assert (answer.status_code, answer.json()) == (200, {"status": "ready", "findings": []})
        faults.append(FULL)
        answer = httpx.get(f"{address}/readyz")
        assert answer.status_code == 503
        assert answer.json() == {
            "status": "unready",
            "findings": [
                {
                    "check": "disk",
                    "subject": "/data",
                    "state": "fault",
                    "found": "0.0 GB free",
                    "remedy": "free 2 GB: a job stores its kernels there",
                }
            ],
        }
        assert httpx.get(f"{address}/healthz").json() == {"status": "ok"}
        assert httpx.get(f"{address}/v1/jobs").status_code == 404
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{address}/healthz")


def test_nothing_listens_without_a_port() -> None:
    with answering(HOST, None, list) as port:
        assert port is None


def test_a_port_in_use_is_told_before_the_worker_starts() -> None:
    with answering(HOST, 0, list) as port:
        taken = answering(HOST, port, list)
        with pytest.raises(InvalidSettings, match=rf"nothing can listen on {HOST}:{port}, .*XETUNE_WORKER_PORT"):
            taken.__enter__()
