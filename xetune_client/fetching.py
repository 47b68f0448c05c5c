"""Fetches a file whole: a connection that breaks goes on where it broke, and the hash is compared."""

import hashlib
import re
from dataclasses import dataclass, field

from xetune_client.errors import Damaged, NotReached
from xetune_client.retrying import Retries, converse
from xetune_client.steps import Conversation, Wait
from xetune_client.wire import Answer, Call, Request, part

_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)", re.ASCII)


@dataclass(slots=True)
class Fetched:
    """What of a file is here; it outlives a fetch that failed, so that another goes on."""

    data: bytearray = field(default_factory=bytearray)


def fetch(sha256: str, fetched: Fetched, retries: Retries) -> Conversation[bytes]:
    """The bytes of the artifact of that hash. What `fetched` holds already is not asked for again.

    Raises:
        Damaged: what came is another file.
        Refused, NotReached: as of any call.
    """
    failures = 0
    while True:
        begun = len(fetched.data)
        answer = yield from converse(Call(_request(sha256, begun), _as_it_is, in_parts=True), retries)
        if _take(fetched, answer):
            break
        failures = 0 if len(fetched.data) > begun else failures + 1
        if failures >= retries.attempts:
            raise NotReached(f"artifact {sha256}: the connection was lost {failures} times after {begun} bytes")
        yield Wait(retries.pause_s(failures + 1))
    data = bytes(fetched.data)
    if (got := hashlib.sha256(data).hexdigest()) != sha256:
        fetched.data.clear()
        raise Damaged(f"artifact {sha256}: {len(data)} bytes came whose SHA-256 is {got}; ask again")
    return data


def _request(sha256: str, begun: int) -> Request:
    plain = Request("GET", f"/v1/artifacts/{part(sha256)}", headers={"accept-encoding": "identity"})
    return plain if begun == 0 else plain.with_headers(range=f"bytes={begun}-", if_range=f'"{sha256}"')


def _take(fetched: Fetched, answer: Answer) -> bool:
    """Keep what came; whether that is all."""
    if answer.status == 416:
        return True  # nothing comes after what is here
    placed = _CONTENT_RANGE.fullmatch(answer.headers.get("content-range", "")) if answer.status == 206 else None
    first = 0 if placed is None else int(placed[1])
    if first > len(fetched.data):
        raise Damaged(f"expected the bytes from {len(fetched.data)} on, got those from {first} on")
    fetched.data[first:] = answer.body
    return answer.is_whole


def _as_it_is(answer: Answer) -> Answer:
    return answer
