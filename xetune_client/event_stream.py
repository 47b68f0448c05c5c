"""Incremental parser of server-sent events. Source: HTML, section 9.2.6, "Interpreting an event stream"."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event; `id` is None if it does not set one."""

    name: str
    data: str
    id: str | None


class EventReader:
    """Parser of chunks into complete events; a partial event at the end is dropped."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""
        self._fields: dict[str, list[str]] = {}

    def feed(self, data: bytes) -> Iterator[StreamEvent]:
        """Yield the events that end within these bytes."""
        text = self._rest + self._decode.decode(data)
        # A line may end in CR LF, whose LF may be in the next chunk.
        held = text.endswith("\r")
        lines = (text[:-1] if held else text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._rest = lines.pop() + ("\r" if held else "")
        for line in lines:
            if line:
                self._keep(line)
            elif (event := self._end()) is not None:
                yield event

    def _keep(self, line: str) -> None:
        name, _, value = line.partition(":")
        self._fields.setdefault(name, []).append(value.removeprefix(" "))

    def _end(self) -> StreamEvent | None:
        fields, self._fields = self._fields, {}
        if "data" not in fields:
            return None
        return StreamEvent(
            fields.get("event", ["message"])[-1], "\n".join(fields["data"]), fields.get("id", [None])[-1]
        )
