"""The API contract, read once."""

from functools import cache
from typing import Any

import yaml

from service.openapi.contract import CONTRACT_FILE


@cache
def contract() -> dict[str, Any]:
    """Return the contract of the file, which is the app's by `tests/service/test_app.py`."""
    return yaml.load(CONTRACT_FILE.read_text(), yaml.CSafeLoader)
