"""API contract and generated files of the client; written by `python -m service.openapi --write`."""

import argparse
import sys
from http import HTTPStatus
from pathlib import Path
from typing import Any

import yaml
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from service.client_code import MODELS_FOLDER, SYNC_FILES, model_texts, sync_text
from service.code_samples import add_samples
from service.errors import Problem
from service.http.responses import OF_BODIES

CONTRACT_FILE = Path(__file__).resolve().parents[1] / "openapi.yaml"
RECORD_FILE = CONTRACT_FILE.parent / "docs/record.schema.json"
_KEY = {
    "type": "http",
    "scheme": "bearer",
    "description": "An API key (`xetune keys create`). Not needed on loopback until the first key is created.",
}
_REF = "#/components/schemas/{model}"


def contract(app: FastAPI) -> dict[str, object]:
    """Return the app's contract; all errors are problem+json."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
        problem = Problem.model_json_schema(ref_template=_REF)
        schemas = schema["components"]["schemas"]
        schemas.update(problem.pop("$defs"))
        schemas[Problem.__name__] = problem
        schema["components"]["schemas"] = dict(sorted(schemas.items()))
        schema["components"]["responses"] = _share_problems(schema["paths"])
        schema["components"]["securitySchemes"] = {"key": _KEY}
        schema["security"] = [{"key": []}]
        add_samples(schema["paths"])
        app.openapi_schema = schema
    return app.openapi_schema


def _share_problems(paths: dict[str, dict[str, dict[str, Any]]]) -> dict[str, object]:
    """Return the error responses by name, each stated once; operations with a body get those of every body."""
    shared: dict[str, object] = {}
    for operation in (operation for operations in paths.values() for operation in operations.values()):
        answers: dict[str, Any] = operation["responses"]
        if "requestBody" in operation:
            answers |= {str(status): answer for status, answer in OF_BODIES.items()}
        for status, answer in answers.items():
            name = HTTPStatus(int(status)).name.title().replace("_", "")
            if int(status) >= 400 and shared.setdefault(name, answer) == answer:
                answers[status] = {"$ref": f"#/components/responses/{name}"}
        operation["responses"] = dict(sorted(answers.items()))
    return dict(sorted(shared.items()))


def contract_text(app: FastAPI) -> str:
    """Return the contract as YAML."""
    return yaml.safe_dump(contract(app), sort_keys=False, allow_unicode=True, width=120)


def main(arguments: list[str] | None = None) -> int:
    """Write openapi.yaml and the generated files of the client, or check that they are current."""
    # Imported here: the app itself imports this module.
    from service.api.records.json_schema import record_schema_text
    from service.app import create_app
    from service.settings import Settings

    parser = argparse.ArgumentParser(description="Write the API contract and the client, or check them.")
    parser.add_argument("--write", action="store_true", help="write the files instead of checking them")
    write: bool = parser.parse_args(arguments).write
    app = create_app(Settings(scheduler=False))
    stale = False
    texts = {CONTRACT_FILE: contract_text(app), **model_texts(contract(app))}
    texts[RECORD_FILE] = record_schema_text()
    texts |= {file: sync_text(source.read_text()) for file, source in SYNC_FILES.items()}
    for file in set(MODELS_FOLDER.glob("*.py")) - texts.keys():
        if write:
            file.unlink()
        else:
            print(f"{file.name} is of no feature; run: python -m service.openapi --write", file=sys.stderr)
            stale = True
    for file, text in texts.items():
        if write:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            print(f"{file.name} is not current; run: python -m service.openapi --write", file=sys.stderr)
            stale = True
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
