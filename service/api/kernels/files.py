"""Responses with the bytes of an artifact, which never change: ETag, 304, ranges. Source: RFC 9110, RFC 6266."""

import re
from collections.abc import Mapping
from urllib.parse import quote

from fastapi import Response

from db.schema.kernel import Artifact
from service.api.kernels.ranges import (
    multipart,
    parts_of,
)
from service.artifacts import ArtifactStore, StorageError
from service.errors import RangeInvalid, Unavailable

_PLAIN_NAME = re.compile(r"[A-Za-z0-9._-]+")


def answer(artifact: Artifact, store: ArtifactStore, request_headers: Mapping[str, str], *, head: bool) -> Response:
    """Return all bytes, the requested ranges, or 304 if the client has them; for HEAD only the headers.

    Raises:
        RangeInvalid: no byte is in the requested range.
        Unavailable: the file is missing or damaged.
    """
    etag = f'"{artifact.sha256}"'
    headers = {
        "ETag": etag,
        "Cache-Control": "private, max-age=31536000, immutable",
        "Accept-Ranges": "bytes",
        "Content-Disposition": _attachment(artifact.name),
    }
    if _names(request_headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=headers)
    try:
        data = store.get(artifact.sha256)
    except StorageError as error:
        raise Unavailable(str(error), rule="artifact-files") from error
    if head:
        return Response(None, 200, headers | {"Content-Length": str(len(data))}, artifact.media_type)
    wanted = request_headers.get("range")
    if wanted is not None and request_headers.get("if-range", etag) == etag:
        parts = parts_of(wanted, len(data))
        if parts is not None:
            if not parts:
                raise RangeInvalid(f"no byte of {len(data)} is in {wanted!r}", len(data))
            if len(parts) > 1:
                body, media_type = multipart(data, parts, artifact.media_type)
                return Response(body, 206, headers, media_type)
            headers["Content-Range"] = parts[0].content_range(len(data))
            return Response(data[parts[0].first : parts[0].last + 1], 206, headers, artifact.media_type)
    return Response(data, 200, headers, artifact.media_type)


def _names(if_none_match: str | None, etag: str) -> bool:
    given = [tag.strip().removeprefix("W/") for tag in (if_none_match or "").split(",")]
    return etag in given or given == ["*"]


def _attachment(name: str) -> str:
    """Return the Content-Disposition header of a file, whose name may hold any character if it was imported."""
    if _PLAIN_NAME.fullmatch(name):
        return f'attachment; filename="{name}"'
    return f"attachment; filename*=UTF-8''{quote(name, safe='')}"
