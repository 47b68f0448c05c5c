"""Partial download of a file."""

import re
from dataclasses import dataclass, field

from xetune_client.errors import Damaged
from xetune_client.wire import Answer, Request, part

_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)", re.ASCII)


@dataclass(slots=True)
class Fetched:
    """Bytes received so far; kept after a failed download, so that the next one resumes."""

    data: bytearray = field(default_factory=bytearray)

    def request(self, sha256: str) -> Request:
        """Return the request for the missing bytes."""
        plain = Request("GET", f"/v1/artifacts/{part(sha256)}", headers={"accept-encoding": "identity"})
        if not self.data:
            return plain
        return plain.with_headers(range=f"bytes={len(self.data)}-", if_range=f'"{sha256}"')

    def take(self, answer: Answer) -> bool:
        """Store the bytes of an answer; return True if the file is complete.

        Raises:
            Damaged: there is a gap between the stored and the received bytes.
        """
        if answer.status == 416:
            return True  # no bytes follow the stored ones
        placed = _CONTENT_RANGE.fullmatch(answer.headers.get("content-range", "")) if answer.status == 206 else None
        first = 0 if placed is None else int(placed[1])
        if first > len(self.data):
            raise Damaged(f"expected the bytes from {len(self.data)} on, got those from {first} on")
        self.data[first:] = answer.body
        return answer.is_whole
