"""Each operation of the contract has samples that send what it takes."""

import json
import re
import shlex
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx
import pytest
import yaml
from fastapi.testclient import TestClient

from service.openapi import code_samples
from service.openapi.contract import CONTRACT_FILE
from xetune_client import client as client_module
from xetune_client.server import server

PATHS: dict[str, dict[str, dict[str, Any]]] = yaml.load(CONTRACT_FILE.read_text(), yaml.CSafeLoader)["paths"]
OPERATIONS = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, operations in PATHS.items()
    for method, operation in operations.items()
}
SLOW = {"compile_kernels", "rebuild_binaries"}


def is_of(path: str, template: str) -> bool:
    return re.fullmatch(re.sub(r"\\\{[^}]+\\\}", "[^/]+", re.escape(template)), path) is not None


def curl(operation: dict[str, Any]) -> tuple[str, str, str | None, str | None]:
    """Return method, URL, content type and body of the sample of curl."""
    words = iter(shlex.split(operation["x-codeSamples"][0]["source"]))
    method, url, kind, body = "GET", "", None, None
    for word in words:
        match word:
            case "curl" | "-sS" | "\n":
                pass
            case "--head":
                method = "HEAD"
            case "-X":
                method = next(words)
            case "-H":
                kind = next(words).removeprefix("Content-Type: ")
            case "-d" | "--data-binary":
                body = next(words)
            case _:
                url = word
    return method, url, kind, body


def test_every_operation_has_both_samples_and_its_body_an_example() -> None:
    for name, (_, _, operation) in OPERATIONS.items():
        assert [sample["label"] for sample in operation["x-codeSamples"]] == ["curl", "Python"], name
        for kind, content in operation.get("requestBody", {}).get("content", {}).items():
            assert "example" in content or "examples" in content, (name, kind)


def test_samples_of_curl_are_accepted(client: TestClient) -> None:
    for name, (method, template, operation) in OPERATIONS.items():
        sent, url, kind, body = curl(operation)
        parts = urlsplit(url)
        assert (sent, is_of(parts.path, template)) == (method, True), name
        if name in SLOW or (body or "").startswith("@") or name == "stream_events":
            continue
        headers = {} if kind is None else {"Content-Type": kind}
        answer = client.request(method, url.removeprefix(code_samples.SERVER), headers=headers, content=body)
        assert answer.status_code not in (400, 405, 415, 422, 500), (name, answer.text)
        if answer.status_code == 404:
            assert "{" in template or name in ("find_kernel", "look_up_record"), name  # the ids are made up
        if name in code_samples.BODIES:
            assert json.loads(body or "") == code_samples.BODIES[name]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[httpx.Request]:
    """Requests that samples in Python send; the service is not there."""
    requests: list[httpx.Request] = []

    def note(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(400, json={"title": "x", "status": 400, "detail": "only noted"})

    made = client_module.Client.__init__

    def init(self: client_module.Client, url: str) -> None:
        assert server(url, None, 1.0, None)
        made(self, url, transport=httpx.MockTransport(note))

    monkeypatch.setattr(client_module.Client, "__init__", init)
    monkeypatch.chdir(tmp_path)
    for name in ("results.jsonl", "kernels.whl"):
        Path(name).write_text("{}\n")
    return requests


def test_samples_in_python_send_the_operation(sent: list[httpx.Request]) -> None:
    for name, (method, template, operation) in OPERATIONS.items():
        sent.clear()
        with pytest.raises(Exception, match="only noted"):
            exec(compile(operation["x-codeSamples"][1]["source"], name, "exec"), {"print": StringIO().write})
        (request,) = sent
        assert (request.method, is_of(unquote(request.url.path), template)) == (method, True), name
        if name in code_samples.BODIES:
            body = json.loads(request.content)
            stated = code_samples.BODIES[name]
            assert isinstance(stated, dict)
            assert body.keys() >= stated.keys(), name
