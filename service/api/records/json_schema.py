"""The JSON Schema of a record, served and in docs/record.schema.json."""

import json

from db.values import JsonObject
from service.api.records.schemas import RECORD_EXAMPLE, RecordBody

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def record_schema() -> JsonObject:
    """Return the schema of an element of `records` in a request."""
    return {
        "$schema": _DIALECT,
        "$id": "urn:xetune:record",
        **RecordBody.model_json_schema(),
        "examples": [RECORD_EXAMPLE],
    }


def record_schema_text() -> str:
    """Return the schema as the text of a file."""
    return json.dumps(record_schema(), indent=2, ensure_ascii=False) + "\n"
