"""Event streams, of which so many go on at a time."""

from typing import Any

from sse_starlette.sse import EventSourceResponse
from starlette.types import Receive, Scope, Send

from service.http.limits.slots import Slots


class CountedStream(EventSourceResponse):
    """An event stream that takes a slot as long as it is sent, however it ends; without one its answer is TooMany."""

    def __init__(self, slots: Slots, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._slots = slots

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._slots.one():
            await super().__call__(scope, receive, send)
