"""Record a command in a terminal and render it as an SVG that plays once and keeps its last frame.

Run: python -m docs.site.record docs/pictures/tune.svg xetune tune 512 384 1024 --dtype f16 --device cpu --trials 20
"""

import fcntl
import os
import pty
import re
import struct
import sys
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path

COLUMNS, ROWS = 88, 30
LONGEST_PAUSE_S = 0.8
STEP_S = 0.25
_PROMPT = "$ "
_CLOCK = re.compile(r"\d+:\d\d:\d\d")
_SEQUENCE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")
_COLOURS = {31: "#f28b82", 32: "#81c995", 33: "#fdd663", 34: "#8ab4f8", 35: "#d7aefb", 36: "#78d9ec"}
_INK, _DIM, _GROUND = "#e4e7eb", "#7b8794", "#16202b"
_WIDTH, _HEIGHT, _SIZE = 8.1, 18, 13.5


@dataclass(frozen=True, slots=True)
class Style:
    """Colour and weight of a character."""

    colour: str = _INK
    bold: bool = False

    def after(self, codes: str) -> "Style":
        """The style after a sequence of graphic codes."""
        numbers = [int(code or 0) for code in codes.split(";")]
        if numbers[:2] == [38, 5]:
            return replace(self, colour=_of_256(numbers[2]))
        style = self
        for number in numbers:
            if number == 0:
                style = Style()
            elif number == 1:
                style = replace(style, bold=True)
            elif number == 2:
                style = replace(style, colour=_DIM)
            elif number in _COLOURS or number - 60 in _COLOURS:
                style = replace(style, colour=_COLOURS.get(number) or _COLOURS[number - 60])
        return style


Line = tuple[tuple[str, Style], ...]


@dataclass
class Screen:
    """Lines of a terminal that knows line ends, erased lines and graphic codes."""

    lines: list[list[tuple[str, Style]]] = field(default_factory=lambda: [[]])
    column: int = 0
    style: Style = field(default_factory=Style)

    def write(self, text: str) -> None:
        """Show output of the command."""
        place = 0
        for found in _SEQUENCE.finditer(text):
            self._plain(text[place : found.start()])
            place = found.end()
            if found[2] == "m":
                self.style = self.style.after(found[1])
            elif found[2] == "K":
                self.lines[-1] = [] if found[1] == "2" else self.lines[-1][: self.column]
        self._plain(text[place:])

    def _plain(self, text: str) -> None:
        for letter in text:
            if letter == "\n":
                self.lines.append([])
                self.column = 0
            elif letter == "\r":
                self.column = 0
            else:
                line = self.lines[-1]
                line.extend([(" ", Style())] * (self.column - len(line)))
                line[self.column : self.column + 1] = [(letter, self.style)]
                self.column += 1

    def shown(self) -> tuple[Line, ...]:
        """The last lines, as many as the picture has."""
        return tuple(tuple(line) for line in self.lines[-ROWS:])


def record(command: list[str]) -> list[tuple[float, tuple[Line, ...]]]:
    """Run a command in a terminal; return its frames with seconds, long pauses shortened.

    Raises:
        RuntimeError: the command failed.
    """
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(command[0], command, os.environ | {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS)})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    screen = Screen()
    screen.write(_PROMPT + " ".join(command) + "\n")
    frames, now, last = [(0.0, screen.shown())], 0.0, time.monotonic()
    for output in _output(terminal):
        read = time.monotonic()
        now, last = now + min(read - last, LONGEST_PAUSE_S), read
        screen.write(output)
        frames.append((now, screen.shown()))
    _, status = os.waitpid(child, 0)
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with status {os.waitstatus_to_exitcode(status)}")
    return frames


def _output(terminal: int) -> Iterator[str]:
    rest = b""
    while True:
        try:
            data = rest + os.read(terminal, 65536)
        except OSError:  # the command has ended
            return
        whole = (
            data.rfind(b"\x1b") if b"\x1b" in data[-12:] and not data.endswith((b"m", b"K", b"h", b"l")) else len(data)
        )
        text = data[:whole].decode(errors="ignore")
        rest = data[whole:]
        yield text


def thinned(frames: list[tuple[float, tuple[Line, ...]]]) -> list[tuple[float, tuple[Line, ...]]]:
    """Frames at least a step apart, and the last one."""
    kept = frames[:1]
    for frame in frames[1:-1]:
        if frame[0] - kept[-1][0] >= STEP_S and frame[1] != kept[-1][1]:
            kept.append(frame)
    return [*kept, frames[-1]]


def without_waits(frames: list[tuple[float, tuple[Line, ...]]]) -> list[tuple[float, tuple[Line, ...]]]:
    """Frames without those in which only a clock goes on for longer than a pause may take; later ones move up."""
    kept, cut, begin = frames[:1], 0.0, 0.0
    for number, (at, lines) in enumerate(frames[1:], start=1):
        before, earlier = frames[number - 1]
        if _still(lines) != _still(earlier):
            begin = at - cut
        elif at - cut - begin > LONGEST_PAUSE_S:
            cut += at - before
            continue
        kept.append((at - cut, lines))
    return kept if kept[-1][1] == frames[-1][1] else [*kept, (kept[-1][0] + STEP_S, frames[-1][1])]


def _still(lines: tuple[Line, ...]) -> list[str]:
    return [_CLOCK.sub("", "".join(letter for letter, _ in line)) for line in lines]


def render(frames: list[tuple[float, tuple[Line, ...]]], title: str) -> str:
    """Return an SVG: each line of text with the seconds during which it is shown."""
    rows = max(len(lines) for _, lines in frames)
    width, height = round(COLUMNS * _WIDTH + 28), rows * _HEIGHT + 50
    shown: dict[tuple[int, Line], list[tuple[float, float | None]]] = {}
    for number, (begin, lines) in enumerate(frames):
        end = frames[number + 1][0] if number + 1 < len(frames) else None
        for row, line in enumerate(lines):
            spans = shown.setdefault((row, line), [])
            if spans and spans[-1][1] == begin:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((begin, end))
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' role='img' "
        f"aria-labelledby='t' font-family='ui-monospace,DejaVu Sans Mono,Menlo,monospace' font-size='{_SIZE}'>",
        f"<title id='t'>{escape(title)}</title>",
        f"<rect width='{width}' height='{height}' rx='8' fill='{_GROUND}'/>",
        *(
            f"<circle cx='{18 + 18 * i}' cy='17' r='5' fill='{c}'/>"
            for i, c in enumerate(("#ff5f56", "#ffbd2e", "#27c93f"))
        ),
    ]
    for (row, line), spans in shown.items():
        if any(letter != " " for letter, _ in line):
            parts.append(_text(row, line, spans))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _text(row: int, line: Line, spans: list[tuple[float, float | None]]) -> str:
    last = spans[-1][1] is None
    sets: list[str] = []
    for begin, end in spans:
        if end is not None:
            sets.append(f"<set attributeName='visibility' to='visible' begin='{begin:.2f}s' dur='{end - begin:.2f}s'/>")
    if last and spans[-1][0] > 0:
        sets.insert(0, f"<set attributeName='visibility' to='hidden' begin='0s' dur='{spans[-1][0]:.2f}s'/>")
    runs: list[tuple[str, Style]] = []
    for letter, style in line:
        if runs and (runs[-1][1] == style or letter == " "):
            runs[-1] = (runs[-1][0] + letter, runs[-1][1])
        else:
            runs.append((letter, style))
    spelled = "".join(_run(text, style) for text, style in runs)
    hidden = "" if last else " visibility='hidden'"
    width = round(len(line) * _WIDTH, 1)
    return (
        f"<text x='14' y='{row * _HEIGHT + 46}' xml:space='preserve' fill='{_INK}' textLength='{width}'{hidden}>"
        f"{spelled}{''.join(sets)}</text>"
    )


def _run(text: str, style: Style) -> str:
    colour = f" fill='{style.colour}'" if style.colour != _INK else ""
    bold = " font-weight='bold'" if style.bold else ""
    return f"<tspan{colour}{bold}>{escape(text)}</tspan>" if colour or bold else escape(text)


def _of_256(number: int) -> str:
    if number >= 232:
        return f"#{8 + 10 * (number - 232):02x}" + f"{8 + 10 * (number - 232):02x}" * 2
    if number >= 16:
        levels = (0, 95, 135, 175, 215, 255)
        red, green, blue = levels[(number - 16) // 36], levels[(number - 16) // 6 % 6], levels[(number - 16) % 6]
        return f"#{red:02x}{green:02x}{blue:02x}"
    return _COLOURS.get(30 + number % 8, _INK)


if __name__ == "__main__":
    target, *words = sys.argv[1:]
    Path(target).write_text(render(without_waits(thinned(record(words))), f"Terminal: {' '.join(words)}"))
