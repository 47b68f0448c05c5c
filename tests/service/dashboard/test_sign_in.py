"""Pages ask for a key, a cookie keeps it, and no other site can use it."""

from html import unescape

from fastapi.testclient import TestClient

from service.api.keys import service
from service.api.keys.caller import COMMAND_LINE
from service.api.keys.callers import COOKIE
from service.http.context import Context
from tests.service.api.keys.test_keys import make_key
from tests.service.rest import BODY

OURS = {"Sec-Fetch-Site": "same-origin"}
SIGNED_OUT = 'id="sign-out" hidden'


def sign_in(client: TestClient, key: str, where: str = "/", **headers: str) -> str:
    """Send the form; says where it leads, or what it answers."""
    fields = {"key": key, "next": where}
    answer = client.post(
        "/session", data=fields, headers=OURS | {"Accept": "text/html"} | headers, follow_redirects=False
    )
    return answer.headers.get("location", f"{answer.status_code} {answer.text}")


def test_a_page_without_a_key_is_the_form_that_asks_for_it(client: TestClient, context: Context) -> None:
    assert SIGNED_OUT in client.get("/").text
    key = make_key(context, "tune")
    answer = client.get("/jobs/nope?page=2")
    assert (answer.status_code, answer.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert 'value="/jobs/nope?page=2"' in answer.text
    assert sign_in(client, "xetune_wrong").startswith("401")
    assert COOKIE not in client.cookies
    assert sign_in(client, key, "/jobs/nope?page=2") == "/jobs/nope?page=2"
    assert client.get("/jobs/nope").status_code == 404
    assert SIGNED_OUT not in client.get("/").text
    assert client.post("/v1/jobs", json=BODY, headers=OURS).status_code == 202
    client.post("/session/end", headers=OURS)
    assert client.get("/").status_code == 401


def test_a_script_signs_in_without_leaving_its_page(client: TestClient, context: Context) -> None:
    headers = OURS | {"Accept": "application/json"}
    key = make_key(context, "tune")
    wrong = client.post("/session", data={"key": "hello"}, headers=headers)
    assert (wrong.status_code, wrong.headers["content-type"]) == (401, "application/problem+json")
    assert wrong.json()["detail"] == "that is not an API key; one looks like xetune_PREFIX_SECRET"
    assert client.post("/session", data={"key": key}, headers=headers).status_code == 204
    assert client.get("/").status_code == 200


def test_the_form_alone_can_be_loaded_again(client: TestClient, context: Context) -> None:
    make_key(context, "tune")
    page = client.get("/session")
    assert page.status_code == 200
    assert 'name="next" value="/"' in page.text


def test_commands_show_a_key_where_one_is_wanted(client: TestClient, context: Context) -> None:
    job = client.post("/v1/jobs", json=BODY).json()["id"]
    told = '-H "Authorization: Bearer $XETUNE_API_KEY"'
    assert all(told not in unescape(client.get(path).text) for path in ("/", f"/jobs/{job}"))
    sign_in(client, make_key(context, "tune"))
    assert all(told in unescape(client.get(path).text) for path in ("/", f"/jobs/{job}"))


def test_scripts_other_sites_and_plain_connections_do_not_get_the_cookie(client: TestClient, context: Context) -> None:
    key = make_key(context)
    form = {"key": key}
    plain = client.post("/session", data=form, headers=OURS, follow_redirects=False).headers["set-cookie"]
    assert all(part in plain for part in ("HttpOnly", "SameSite=strict"))
    encrypted = TestClient(client.app, base_url="https://testserver")
    assert "Secure" in encrypted.post("/session", data=form, headers=OURS, follow_redirects=False).headers["set-cookie"]


def test_the_cookie_changes_nothing_unless_a_page_of_ours_asks(client: TestClient, context: Context) -> None:
    key = make_key(context)
    sign_in(client, key)
    for headers, status in (
        ({}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://testserver"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Origin": "http://testserver"}, 202),
        (OURS | {"Origin": "http://testserver"}, 200),  # the same job
    ):
        assert client.post("/v1/jobs", json=BODY, headers=headers).status_code == status, headers
        assert client.get("/v1/jobs", headers=headers).status_code == 200
        if status == 403:
            for path in ("/session", "/session/end"):
                assert client.post(path, data={"key": key}, headers=headers).status_code == 403, headers


def test_a_browser_without_scripts_is_refused_by_a_page_and_a_program_by_json(client: TestClient) -> None:
    for headers, kind in (
        ({"Accept": "text/html,application/xhtml+xml"}, "text/html; charset=utf-8"),
        ({"Accept": "application/json"}, "application/problem+json"),
    ):
        told = client.post("/session", data={"key": "x"}, headers=headers | {"Origin": "https://elsewhere.example"})
        assert (told.status_code, told.headers["content-type"]) == (403, kind)


def test_signing_in_leads_nowhere_else(client: TestClient, context: Context) -> None:
    key = make_key(context)
    for where in ("//evil.example", "https://evil.example", "/\\evil.example", "x", "", "/\r\nX: y", "//["):
        assert sign_in(client, key, where) == "/", where
    assert sign_in(client, key, "/jobs/1?page=2") == "/jobs/1?page=2"


def test_a_revoked_key_in_a_cookie_is_the_form_again_and_a_weak_one_a_page_that_says_so(
    client: TestClient, context: Context
) -> None:
    sign_in(client, make_key(context, "read"))
    refused = client.post("/v1/jobs", json=BODY, headers=OURS)
    assert (refused.status_code, refused.json()["rule"]) == (403, "scope")
    with context.database.write() as session:
        service.revoke(session, service.find(session, "me"), context.now(), COMMAND_LINE)
    again = unescape(client.get("/jobs", headers={"Accept": "text/html"}).text)
    assert "the API key 'me' was revoked; ask for another" in again
    assert 'name="next" value="/jobs"' in again
    client.cookies.clear()
    assert "Authorization" not in client.get("/jobs").text  # who has no key is told by the form alone


def test_what_was_wrong_is_shown_as_text(client: TestClient, context: Context) -> None:
    make_key(context)
    html = client.get('/jobs/x?"><script>alert(1)</script>').text
    assert "<script>alert" not in html
    assert client.post("/session", content=b"key=%00&" + b"a=b&" * 99, headers=OURS).status_code == 401
    assert client.post("/session", content=b"\xff\xfe", headers=OURS).status_code == 401
