"""Read shapes from a file, a preset, or a line of text."""

from pathlib import Path

from tuner.errors import InvalidShapes
from tuner.shapes.fields import Base
from tuner.shapes.grammar import parse_text
from tuner.shapes.presets import is_preset, preset_shapes
from tuner.shapes.shape import Shape, merged
from tuner.shapes.tables import parse_csv, parse_json

_MOST_BYTES = 2**20
_PARSERS = {".csv": parse_csv, ".json": parse_json}


def read_shapes(source: str, base: Base) -> tuple[Shape, ...]:
    """Return the shapes of a preset, a file (.csv, .json, any other: text), or a text with `=` or sizes such
    as 8x16x32.

    Raises:
        InvalidShapes: nothing of that name exists, or it is not a list of shapes; names the place.
    """
    path = Path(source)
    if is_preset(source) and not path.is_file():
        shapes, where = preset_shapes(source, base), ""
    elif path.is_file():
        shapes, where = _of_file(path, base), f"{source}: "
    elif "=" in source or "x" in source.lower().partition(" ")[0].lstrip("0123456789")[:1]:
        shapes, where = parse_text(source, base), ""
    else:
        raise InvalidShapes(
            source,
            "expected a file, a preset that `xetune shapes presets` lists, or text such as 'm=1,16 n=4096 k=4096'",
        )
    if not shapes:
        raise InvalidShapes(where.removesuffix(": "), "expected at least one shape, got none")
    return merged(shapes)


def _of_file(path: Path, base: Base) -> list[Shape]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InvalidShapes(str(path), f"expected at most {_MOST_BYTES} bytes")
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidShapes(str(path), f"expected UTF-8 text: {error.reason} at byte {error.start}") from error
    try:
        return _PARSERS.get(path.suffix.lower(), parse_text)(text, base)
    except InvalidShapes as error:
        raise InvalidShapes(f"{path}{', ' if error.where else ''}{error.where}", error.message) from error
