"""Hostile words in every place of an address, and hostile texts of kernels: no fault, and the service goes on."""

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_from_bytes

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st

from service.app import create_app
from service.settings import Settings
from tests.db.databases import BACKENDS
from tests.service.api.compile.test_compile import KERNEL
from tests.service.contract import contract
from tests.service.http.test_limits import client_of
from tests.service.rest import Clock, invented_devices, post_job
from tests.tuner.exchange.lines import JOB, results, text_of

WORST = ("a\0b", "9" * 40, "0001-01-01T00:00:00+14:00", "٣")
HOSTILE = (
    *WORST,
    *("", " ", "\0", "-1", "0", "1e400", "nan", "inf", str(2**31), str(2**63), str(-(2**63) - 1), "0x10", "1_0"),
    *("true", "null", "[]", "{}", "%", "_", "*", "'; DROP TABLE job; --", "' OR 1=1", "../../etc/passwd", "{{7*7}}"),
    *("\u202e", "\u200b", "é" * 300, "x" * 5_000, "\r\nSet-Cookie: a=b", "<script>", "auto", "b580", JOB),
    *("9999-12-31T23:59:59-14:00", "2026-02-30T00:00:00Z", "f16", "00000000-0000-0000-0000-000000000000"),
)
BYTES = (b"\xff\xfe", b"\xed\xa0\x80", b"\xf4\x90\x80\x80")  # no UTF-8; half of a surrogate pair; beyond Unicode


@dataclass(frozen=True)
class Place:
    """A parameter of a GET route; `path` has every other path parameter filled in, `query` what the route needs."""

    path: str
    name: str
    where: str
    query: str

    def address(self, value: bytes) -> str:
        """The address with that value in this place."""
        said = quote_from_bytes(value, safe="")
        if self.where == "path":
            return f"{self.path.replace('{' + self.name + '}', said)}?{self.query}"
        return f"{self.path}?{self.query}&{quote_from_bytes(self.name.encode())}={said}"


@pytest.fixture(params=BACKENDS)
def attacked(request: pytest.FixtureRequest, settings: Settings, clock: Clock) -> Generator[TestClient]:
    """A client of a service with results, on either database; without a limit of the rate."""
    if request.param == "postgresql":
        settings = settings.model_copy(update={"database_url": request.getfixturevalue("postgres_url")})
    app: FastAPI = create_app(settings.model_copy(update={"rate_per_s": 0}), invented_devices, clock)
    client = TestClient(app, headers={"Accept": "application/json"})
    assert client.post("/v1/imports", content=text_of(results())).status_code == 200
    client.post(f"/v1/jobs/{post_job(client)}/cancel")
    yield client
    app.state.context.database.close()


def places() -> Iterator[Place]:
    """Every parameter of every GET route of the contract."""
    for path, operations in contract()["paths"].items():
        said = operations.get("get", {}).get("parameters", [])
        filled = {p["name"]: _example(p) for p in said if p["in"] == "path"} | {"job_id": JOB}
        needed = "&".join(f"{p['name']}={_example(p)}" for p in said if p["in"] == "query" and p.get("required"))
        for parameter in said:
            name, where = parameter["name"], parameter["in"]
            if where == "header":
                continue
            open_path = path
            for other, value in filled.items():
                if (where, other) != ("path", name):
                    open_path = open_path.replace("{" + other + "}", value)
            yield Place(open_path, name, where, needed)


def _example(parameter: Any) -> str:
    found = parameter["schema"].get("examples") or parameter.get("examples") or [parameter.get("example", "x")]
    return str(found[0] if isinstance(found, list) else next(iter(found.values()))["value"])


def check(client: TestClient, place: Place, value: bytes) -> None:
    """Ask, and see that the answer is one that the contract has."""
    answer = client.get(place.address(value))
    assert answer.status_code < 500, (place, value, answer.text)
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json", (place, value)
        assert answer.json()["rule"]


def test_no_parameter_of_a_get_route_breaks_the_service(attacked: TestClient) -> None:
    found = list(places())
    assert len(found) > 90
    worst = (*(word.encode() for word in WORST), *BYTES)
    for number, place in enumerate(found):
        check(attacked, place, worst[number % len(worst)])


@pytest.mark.slow
def test_no_hostile_word_in_any_parameter_breaks_the_service(attacked: TestClient) -> None:
    for place in places():
        for value in (*(word.encode() for word in HOSTILE), *BYTES):
            check(attacked, place, value)


@pytest.mark.slow
def test_no_drawn_value_in_any_parameter_breaks_the_service(attacked: TestClient) -> None:
    found = list(places())
    words = st.one_of(
        st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.binary(max_size=30),
        st.integers().map(lambda number: str(number).encode()),
        st.floats().map(lambda number: str(number).encode()),
        st.datetimes(timezones=st.timezones()).map(lambda moment: moment.isoformat().encode()),
        st.uuids().map(lambda id: str(id).encode()),
    )

    @settings(max_examples=4_000)
    @given(st.sampled_from(found), words)
    def ask(place: Place, value: bytes) -> None:
        check(attacked, place, value)

    ask()


TOKENS = tuple(dict.fromkeys(re.findall(r"[%@!#]?[\w.]+|\S|\s", KERNEL)))
ODD = (
    *("vector<0xf32>", "memref<?x?xf16>", "!xetile.tile<1x1xi1>", "tuple<>", "dense<[[1],[2,3]]>", "index", "i65536"),
    *("affine_map<(d0) -> (d0 floordiv 0)>", "#a", "@kernels", "%sum", "^bb0", "loc(unknown)", "builtin.module", '"'),
    *("9" * 5_000, "-1", "0x7ff8000000000000 : f64", "{", "}", "(", ")", "<", ">", "\0", "\u202e", "//", "\x1b[31m"),
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A real text of kernels of which a few words were taken out, doubled, swapped or put in."""
    words = re.findall(r"[%@!#]?[\w.]+|\S|\s", KERNEL)
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(words) - 2))
        match draw(st.sampled_from(("out", "twice", "swap", "other", "odd", "tail"))):
            case "out":
                del words[place]
            case "twice":
                words.insert(place, words[place])
            case "swap":
                words[place], words[place + 1] = words[place + 1], words[place]
            case "other":
                words[place] = draw(st.sampled_from(TOKENS))
            case "odd":
                words[place] = draw(st.sampled_from(ODD))
            case _:
                words = [*words[:place], *words[: draw(st.integers(0, len(words) - 1))], " ", " "]
    return "".join(words)


def _nested(opened: str, depth: int, middle: str, closed: str) -> str:
    return opened * depth + middle + closed * depth


nested = st.builds(
    _nested,
    st.sampled_from(("gpu.module @m {", "[", "tuple<", '"a.b"() ({', "module {", "!xetile.tile<", "(")),
    st.integers(1, 4_000),
    st.sampled_from(("", "f32", KERNEL[:200])),
    st.sampled_from(("}", "]", ">", "}) : () -> ()", "")),
)
SOURCES = st.one_of(mutated(), nested, st.binary(min_size=1, max_size=400).map(lambda data: data.decode("latin-1")))


def compile_drawn(client: TestClient, count: int) -> dict[str, int]:
    """Send that many drawn texts; gives how often each rule refused, "made" for those that were compiled."""
    outcomes: dict[str, int] = {}

    @settings(max_examples=count)
    @given(SOURCES)
    def send(source: str) -> None:
        answer = client.post("/v1/compile", json={"source": source, "device": "b580"})
        assert answer.status_code in (200, 400, 409), (source, answer.text)
        outcome = "made" if answer.status_code == 200 else answer.json()["rule"]
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        assert client.get("/healthz").status_code == 200

    send()
    return outcomes


@pytest.fixture
def compiling(settings: Settings, clock: Clock) -> TestClient:
    """A client of a service that compiles for 20 s at most."""
    return client_of(
        settings,
        clock,
        rate_per_s=0,
        compile_wall_s=20.0,
        compile_cpu_s=15,
        max_body_bytes=2**20,
        max_source_bytes=2**20,
    )


@pytest.mark.slow
def test_no_text_of_many_breaks_the_service(compiling: TestClient, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = compile_drawn(compiling, 80)
    with capsys.disabled():
        print("texts of kernels:", dict(sorted(outcomes.items())))
    assert "compile-failed" in outcomes
