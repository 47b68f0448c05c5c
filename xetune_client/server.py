"""Address and API key of a service, from arguments or the environment."""

import os
import re
from collections.abc import Generator
from dataclasses import dataclass, field

import httpx

from xetune_client.errors import Misused
from xetune_client.retrying import Retries

DEFAULT_URL = "http://127.0.0.1:8752"
_PASSWORD = re.compile(r"[^/\s]*@")
_HOST = re.compile(r"(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[0-9a-f:]+\]|[\w-]+(?=:))(?::\d{1,5})?/?", re.I)
KEY_VARIABLE, SERVER_VARIABLE = "XETUNE_API_KEY", "XETUNE_SERVER"


class _Bearer(httpx.Auth):
    """Adds the key to each request; the key is in no attribute that repr shows."""

    def __init__(self, key: str) -> None:
        self.__key = key

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        request.headers["Authorization"] = f"Bearer {self.__key}"
        yield request


@dataclass(frozen=True, slots=True)
class Server:
    """Address, authentication, timeout and retries."""

    url: httpx.URL
    auth: httpx.Auth | None = field(repr=False)
    timeout_s: float
    retries: Retries

    def settings(self) -> dict[str, object]:
        """Return the arguments of an httpx client."""
        return {
            "base_url": self.url,
            "auth": self.auth,
            "timeout": httpx.Timeout(self.timeout_s),
            "headers": {"accept": "application/json, */*;q=0.5", "user-agent": "xetune-client"},
        }


def server(url: str | None, api_key: str | None, timeout_s: float, retries: Retries | None) -> Server:
    """Return the service at `url`, or XETUNE_SERVER, or on this machine; the key defaults to XETUNE_API_KEY.

    Raises:
        Misused: the URL or the key is invalid.
    """
    told = url or os.environ.get(SERVER_VARIABLE) or DEFAULT_URL
    key = os.environ.get(KEY_VARIABLE) if api_key is None else api_key
    return Server(address(told), _Bearer(_checked(key)) if key else None, timeout_s, retries or Retries())


def address(text: str) -> httpx.URL:
    """Parse the URL of a service, with or without a trailing /v1.

    Raises:
        Misused: not such a URL; the message suggests one if possible, and never shows a password.
    """
    expected, shown = f"expected the URL of a service, such as {DEFAULT_URL}", repr(_PASSWORD.sub("***@", text))
    try:
        url = httpx.URL(text.strip())
    except httpx.InvalidURL as error:
        raise Misused(f"{expected}, got one that cannot be read: {error}") from error
    if url.userinfo:
        raise Misused(f"{expected}, got one with a user or password; an API key goes into {KEY_VARIABLE}")
    if url.scheme not in ("http", "https") or not url.host or url.query or url.fragment:
        raise Misused(f"{expected}, got {shown}{_meant(text.strip())}")
    path = url.path.rstrip("/")
    return url.copy_with(path=path.removesuffix("/v1") or "/")


def _meant(text: str) -> str:
    """Return a suggestion for a text without a scheme."""
    return f": did you mean http://{text}?" if _HOST.fullmatch(text) else ""


def check_open(client: httpx.Client | httpx.AsyncClient) -> None:
    """Raise Misused if the client was closed.

    Raises:
        Misused: the client was closed.
    """
    if client.is_closed:
        raise Misused("the client is closed: nothing can be sent with it any more; make another")


def _checked(key: str) -> str:
    if not key.isascii() or not key.isprintable() or " " in key:
        raise Misused(f"the API key has invalid characters; {KEY_VARIABLE} must contain only the key")
    return key
