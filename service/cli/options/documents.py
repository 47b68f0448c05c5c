"""JSON files that options name."""

import json
from pathlib import Path

from service.errors import BadRequest
from tuner.exchange.documents import strict_object


def read_json(option: str, path: Path, what: str) -> dict[str, object]:
    """Read the JSON of a file; its reader checks whether it is an object.

    Raises:
        BadRequest: the file is not JSON, or has a field twice; names the option and the file.
    """
    try:
        return json.loads(path.read_bytes(), object_pairs_hook=strict_object)
    except (ValueError, RecursionError) as error:  # not JSON, not text, a number that is too long, or too deep
        raise BadRequest(f"{option} {path}: expected {what} as JSON: {error}") from error
