"""API contract: openapi.yaml of the application."""

from http import HTTPStatus
from pathlib import Path
from typing import Any

import yaml
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from service.errors import Problem
from service.http.responses import OF_BODIES
from service.openapi.code_samples import add_samples

CONTRACT_FILE = Path(__file__).resolve().parents[2] / "openapi.yaml"
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
