"""The client has every operation of the contract, with and without an event loop; and it speaks TLS."""

import http.server
import re
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import httpx
import pytest

from tests.service.contract import contract
from xetune_client import Client, ClientError, NotReached, Retries, models

ID = UUID("01970a3c-0000-7000-8000-000000000000")
SHA = "0" * 64
ONCE = Retries(attempts=1)


def _none() -> Any:
    """A body: what is in it is not looked at."""
    return models.KeyList.model_construct()


OPERATIONS: dict[str, Callable[[Client], object]] = {
    "list_devices": lambda c: c.devices(),
    "read_device": lambda c: c.device("b580"),
    "read_accuracy": lambda c: c.accuracy("b580"),
    "read_fleet_over_time": lambda c: c.fleet(period=models.PeriodLength.DAY, periods=7),
    "release_device": lambda c: c.release_device("b580"),
    "create_job": lambda c: c.create_job(_none()),
    "list_jobs": lambda c: c.jobs(),
    "read_job": lambda c: c.job(ID),
    "list_trials": lambda c: c.trials(ID),
    "stream_events": lambda c: next(c.events(ID)),
    "cancel_job": lambda c: c.cancel(ID),
    "retry_job": lambda c: c.retry(ID),
    "look_up_kernel": lambda c: c.lookup(_none()),
    "look_up_kernels": lambda c: c.lookup_batch(_none()),
    "find_kernel": lambda c: c.find(512, 384, 1024, dtype="bf16"),
    "list_kernels": lambda c: c.kernels(device="b580"),
    "read_kernel": lambda c: c.kernel(ID),
    "read_artifact": lambda c: c.artifact(SHA),
    "head_artifact": lambda c: c.artifact_size(SHA),
    "read_kernel_file": lambda c: c.kernel_file(ID, "kernel.spv"),
    "head_kernel_file": lambda c: c.kernel_file_size(ID, "kernel.spv"),
    "list_binaries": lambda c: c.binaries(ID, driver="26.27"),
    "build_binary": lambda c: c.build_binary(ID),
    "withdraw_kernel": lambda c: c.withdraw_kernel(ID, "wrong"),
    "restore_kernel": lambda c: c.restore_kernel(ID),
    "rebuild_binaries": lambda c: c.rebuild_binaries(most=5),
    "list_host_code": lambda c: c.host_codes(ID),
    "read_host_code": lambda c: c.host_code(ID, models.Language.SYCL),
    "compile_kernels": lambda c: c.compile(_none()),
    "explain_configuration": lambda c: c.explain(_none()),
    "xray_uploaded_file": lambda c: c.xray(b"file", name="a.whl"),
    "xray_stored_kernel": lambda c: c.xray_kernel(ID),
    "create_schedule": lambda c: c.create_schedule(_none()),
    "list_schedules": lambda c: c.schedules(),
    "read_schedule": lambda c: c.schedule(ID),
    "replace_schedule": lambda c: c.replace_schedule(ID, _none()),
    "pause_schedule": lambda c: c.pause_schedule(ID),
    "resume_schedule": lambda c: c.resume_schedule(ID),
    "run_schedule": lambda c: c.run_schedule(ID),
    "list_next_times": lambda c: c.next_times(ID),
    "list_fires": lambda c: c.fires(ID),
    "delete_schedule": lambda c: c.delete_schedule(ID),
    "create_shape_set": lambda c: c.create_shape_set(_none()),
    "list_shape_sets": lambda c: c.shape_sets(),
    "read_shape_set": lambda c: c.shape_set(ID),
    "cancel_shape_set": lambda c: c.cancel_shape_set(ID),
    "delete_shape_set": lambda c: c.delete_shape_set(ID),
    "list_presets": lambda c: c.presets(),
    "import_results": lambda c: c.import_results(b"{}"),
    "export_results": lambda c: c.export_results(),
    "list_recordings": lambda c: c.recordings(),
    "read_recording": lambda c: c.recording(ID),
    "store_records": lambda c: c.store_records(_none()),
    "list_records": lambda c: c.records(tuner="triton"),
    "look_up_record": lambda c: c.find_record("triton", "matmul", {"M": 512}, "b60", versions={"triton": "3.9.0"}),
    "read_record": lambda c: c.record(ID),
    "read_record_schema": lambda c: c.record_schema(),
    "delete_record": lambda c: c.delete_record(ID),
    "create_key": lambda c: c.create_key(_none()),
    "list_keys": lambda c: c.keys(),
    "revoke_key": lambda c: c.revoke_key(ID),
    "list_audit_events": lambda c: c.audit(),
    "read_metrics": lambda c: c.metrics(),
    "read_health": lambda c: c.health(),
    "read_readiness": lambda c: c.readiness(),
}


def asked_for() -> dict[str, tuple[str, re.Pattern[str]]]:
    """Method and path of every operation of the contract."""
    paths: dict[str, dict[str, dict[str, Any]]] = contract()["paths"]
    return {
        operation["operationId"]: (method.upper(), re.compile(re.sub(r"\{\w+\}", "[^/]+", path)))
        for path, operations in paths.items()
        for method, operation in operations.items()
    }


def test_every_operation_of_the_contract_has_a_method_that_asks_for_it() -> None:
    contracted = asked_for()
    assert OPERATIONS.keys() == contracted.keys()
    for name, ask in OPERATIONS.items():
        sent: list[httpx.Request] = []

        def keep(request: httpx.Request, sent: list[httpx.Request] = sent) -> httpx.Response:
            sent.append(request)
            return httpx.Response(400)

        with (
            Client("http://x", "", retries=ONCE, transport=httpx.MockTransport(keep)) as client,
            pytest.raises(ClientError),
        ):
            ask(client)
        method, path = contracted[name]
        assert (sent[0].method, path.fullmatch(sent[0].url.path) is not None) == (method, True), (name, sent[0].url)


@pytest.mark.parametrize("given", ["../jobs", "../../v1/keys?x=1", "a/b", "x#y", "%2e%2e", ".", "..", ""])
def test_a_text_for_an_id_names_no_other_path(given: str) -> None:
    paths: list[bytes] = []

    def keep(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.raw_path)
        return httpx.Response(400)

    text = cast("UUID", given)
    asks: tuple[Callable[[Client], object], ...] = (
        lambda c: c.kernel(text), lambda c: c.job(text), lambda c: c.delete_schedule(text),
        lambda c: c.artifact(given), lambda c: next(c.events(text)), lambda c: c.kernel_file(ID, given),
    )  # fmt: skip
    with Client("http://x", "", retries=ONCE, transport=httpx.MockTransport(keep)) as client:
        for ask in asks:
            with pytest.raises(ClientError):
                ask(client)
    assert all(re.fullmatch(rb"/v1/[a-z]+/[^/?#]+(/(events|trials|artifacts/[^/?#]+))?(\?.*)?", path) for path in paths)
    assert not any(path.endswith((b"/.", b"/..", b"/")) or b"/../" in path for path in paths)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate that nobody signed but itself, and its key."""
    made = tmp_path / "own.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    out = ["-keyout", str(made), "-out", str(tmp_path / "cert.pem")]
    subprocess.run(["openssl", "req", *kind, *out, *subject], check=True, capture_output=True)
    made.write_text(made.read_text() + (tmp_path / "cert.pem").read_text())
    return made


class _Alive(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"status": "ok", "version": "0"}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        del format, args


@pytest.fixture
def over_tls(certificate: Path) -> Iterator[str]:
    """The address of a server that shows the certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Alive)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_a_certificate_of_ones_own_is_refused_until_it_is_trusted(
    over_tls: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with Client(over_tls, "", retries=ONCE) as client, pytest.raises(NotReached, match=r"self.signed certificate"):
        client.health()
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with Client(over_tls, "", retries=ONCE) as client:
        assert client.health().model_dump()["status"] == "ok"
