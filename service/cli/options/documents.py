"""JSON files that options name."""

import json
from pathlib import Path

from service.errors import BadRequest


def read_json(option: str, path: Path, what: str) -> dict[str, object]:
    """The JSON that a file holds; whether it is an object is for its reader to say.

    Raises:
        BadRequest: the file is no JSON; names the option and the file.
    """
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:  # no JSON, no text, a number that is too long, or too deep
        raise BadRequest(f"{option} {path}: expected {what} as JSON: {error}") from error
