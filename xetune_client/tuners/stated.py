"""Facts that the files of a tuner do not have, and files that are not what they should be."""

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from xetune_client import models

JsonObject = dict[str, object]


class InvalidEntry(ValueError):
    """A file or record does not have the form of its tuner."""


@dataclass(frozen=True, slots=True)
class Stated:
    """The device of results, versions that they depend on, and where they come from."""

    device: models.RecordDevice
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    origin: str | None = None


def read_object(path: Path) -> JsonObject:
    """Read a JSON object.

    Raises:
        InvalidEntry: the file is none.
        OSError: it cannot be read.
    """
    try:
        found: object = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InvalidEntry(f"{path}: expected JSON: {error}") from error
    if not isinstance(found, dict):
        raise InvalidEntry(f"{path}: expected a JSON object, got {type(found).__name__}")
    return cast("JsonObject", found)


def write_object(path: Path, content: Mapping[str, object], indent: int | None = None) -> None:
    """Write a JSON object; readers see the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".xetune-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=indent)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
