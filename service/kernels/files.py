"""Answers with the bytes of an artifact, which never change: ETag, 304, one range. Source: RFC 9110."""

import re
from collections.abc import Mapping

from fastapi import Response

from db.models import Artifact
from service.artifacts import ArtifactStore, StorageError
from service.errors import RangeInvalid, Unavailable


def answer(artifact: Artifact, store: ArtifactStore, request_headers: Mapping[str, str]) -> Response:
    """All bytes, those asked for, or 304 when the client has them.

    Raises:
        RangeInvalid: no byte is in the range asked for.
        Unavailable: the file is gone or damaged.
    """
    etag = f'"{artifact.sha256}"'
    headers = {
        "ETag": etag,
        "Cache-Control": "private, max-age=31536000, immutable",
        "Accept-Ranges": "bytes",
        "Content-Disposition": f'attachment; filename="{artifact.name}"',
    }
    if _names(request_headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=headers)
    try:
        data = store.get(artifact.sha256)
    except StorageError as error:
        raise Unavailable(str(error), rule="artifact-files") from error
    wanted = request_headers.get("range")
    if wanted is not None and request_headers.get("if-range", etag) == etag:
        part = _part(wanted, len(data))
        if part is not None:
            first, last = part
            headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
            return Response(data[first : last + 1], 206, headers, artifact.media_type)
    return Response(data, 200, headers, artifact.media_type)


def _names(if_none_match: str | None, etag: str) -> bool:
    given = [tag.strip().removeprefix("W/") for tag in (if_none_match or "").split(",")]
    return etag in given or given == ["*"]


def _part(header: str, size: int) -> tuple[int, int] | None:
    """First and last byte; None for what RFC 9110 lets a server ignore: other units, several ranges, nonsense."""
    spelled = re.fullmatch(r"bytes=\s*(\d{0,18})-(\d{0,18})\s*", header, re.ASCII)
    if spelled is None or spelled[1] == spelled[2] == "":
        return None
    if spelled[1] == "":
        first, last = max(size - int(spelled[2]), 0), size - 1
    else:
        first, last = int(spelled[1]), min(int(spelled[2] or size), size - 1)
        if spelled[2] and int(spelled[2]) < first:
            return None
    if first >= size:
        raise RangeInvalid(f"no byte of {size} is in {header!r}", size)
    return first, last
