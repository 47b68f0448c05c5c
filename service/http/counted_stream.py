"""Event streams, of which a process has a limited number."""

from typing import Any

from sse_starlette.sse import EventSourceResponse
from starlette.types import Receive, Scope, Send

from service.http.limits import Slots


class CountedStream(EventSourceResponse):
    """An event stream that holds a slot until it ends; without a free slot the response is TooMany."""

    def __init__(self, slots: Slots, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._slots = slots

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._slots.one():
            await super().__call__(scope, receive, send)
