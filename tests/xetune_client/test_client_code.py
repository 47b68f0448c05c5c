"""The generated files of the client are up to date."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from service.openapi.client_code import MODELS_FOLDER, SYNC_FILES, model_texts, sync_text
from tests.service.contract import contract
from xetune_client import models


def test_the_models_are_current() -> None:
    written = {file: file.read_text() for file in MODELS_FOLDER.glob("*.py")}
    assert written == model_texts(contract()), "run: python -m service.openapi --write"


@pytest.mark.parametrize("file", SYNC_FILES, ids=lambda file: file.name)
def test_the_synchronous_client_is_generated(file: Path) -> None:
    assert file.read_text() == sync_text(SYNC_FILES[file].read_text()), "run: python -m service.openapi --write"


def test_the_models_ask_for_what_the_contract_asks_for() -> None:
    schemas: dict[str, dict[str, Any]] = contract()["components"]["schemas"]
    for name, schema in schemas.items():
        model = getattr(models, name)
        if "enum" in schema:
            assert [member.value for member in model] == schema["enum"]
        else:
            own = model.model_json_schema(ref_template="#/components/schemas/{model}")
            assert set(own.get("required", ())) == set(schema.get("required", ())), name
            assert {k: _kind(v) for k, v in own.get("properties", {}).items()} == {
                k: _kind(v) for k, v in schema.get("properties", {}).items()
            }, name


def _kind(schema: dict[str, Any]) -> object:
    """Return the type of a schema, without its texts."""
    if "anyOf" in schema:
        return sorted({json.dumps(_kind(part)) for part in schema["anyOf"]})
    if "const" in schema or "enum" in schema:
        return [schema["const"]] if "const" in schema else schema["enum"]
    parts = [_kind(part) for part in schema.get("prefixItems", [schema["items"]] if "items" in schema else [])]
    return [schema.get("$ref"), schema.get("type"), schema.get("format"), parts]


def test_the_client_imports_nothing_of_the_service() -> None:
    rooms = ("hal", "codegen", "tuner", "db", "service", "numpy", "sqlalchemy", "fastapi")
    said = f"import sys, xetune_client; print([name for name in {rooms!r} if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
