"""Static files of pages: read once, sent compressed, cached by browsers while their content is unchanged."""

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from fastapi import Request, Response

STATIC_URL = "/static"
_FOLDER = Path(__file__).parent / "static"
_SUFFIXES = (".css", ".js", ".svg")
STATIC_FILES = {path.relative_to(_FOLDER).as_posix(): path for path in _FOLDER.rglob("*") if path.suffix in _SUFFIXES}

# Files that every page needs before it is painted, sent as one: each further request is a further wait.
STYLES = "dashboard.css"
_STYLES = tuple(f"styles/{name}.css" for name in ("tokens", "page", "parts", "kernel", "chart"))

AnyResponse = TypeVar("AnyResponse", bound=Response)

_LEAST_BYTES = 1000  # below this compression saves too little
_FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Asset:
    """A file in its encodings; `brotli` is None if it was not precompressed."""

    plain: bytes
    gzipped: bytes
    brotli: bytes | None
    etag: str
    media_type: str


@cache
def asset(name: str) -> Asset:
    """Return the file of a name in `STATIC_FILES`, or the styles of every page."""
    paths = [STATIC_FILES[part] for part in (_STYLES if name == STYLES else (name,))]
    plain, beside = b"".join(path.read_bytes() for path in paths), paths[0].with_name(f"{Path(name).name}.br")
    return Asset(
        plain=plain,
        gzipped=gzip.compress(plain, mtime=0),
        brotli=beside.read_bytes() if beside.exists() else None,
        etag=f'"{hashlib.sha256(plain).hexdigest()[:16]}"',
        media_type=mimetypes.guess_type(name)[0] or "application/octet-stream",
    )


@cache
def asset_url(name: str) -> str:
    """Return the URL of a file; it changes with the content, so that browsers never show an old one."""
    return f"{STATIC_URL}/{name}?v={asset(name).etag.strip(chr(34))}"


def asset_answer(request: Request, name: str) -> Response:
    """Return the file in an encoding that the browser accepts, or 304."""
    found = asset(name)
    known = request.query_params.get("v") == found.etag.strip('"')
    headers = {
        "Cache-Control": _FOREVER if known else "no-cache",
        "ETag": found.etag,
        "Vary": "Accept-Encoding",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    if found.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    taken = request.headers.get("accept-encoding", "")
    if found.brotli is not None and "br" in taken:
        return Response(found.brotli, headers=headers | {"Content-Encoding": "br"}, media_type=found.media_type)
    if "gzip" in taken:
        return Response(found.gzipped, headers=headers | {"Content-Encoding": "gzip"}, media_type=found.media_type)
    return Response(found.plain, headers=headers, media_type=found.media_type)


def compressed(request: Request, answer: AnyResponse) -> AnyResponse:
    """Return the response with the best compression that the browser accepts. Pages contain no secrets
    besides user input.
    """
    body = bytes(answer.body)
    answer.headers["Vary"] = "Accept-Encoding"
    if len(body) >= _LEAST_BYTES and "gzip" in request.headers.get("accept-encoding", ""):
        answer.body = gzip.compress(body, 5, mtime=0)
        answer.headers["Content-Encoding"] = "gzip"
        answer.headers["Content-Length"] = str(len(answer.body))
    return answer
