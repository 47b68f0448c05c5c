"""The reference of the REST interface, from its contract."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import yaml

from docs.site.scopes import scopes

Node = dict[str, Any]


def rest_reference(contract: Path) -> str:
    """Return a page with each operation of an OpenAPI document, and each schema."""
    document: Node = yaml.safe_load(contract.read_text())
    by_tag: dict[str, list[str]] = defaultdict(list)
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            tag = (operation.get("tags") or ["other"])[0]
            by_tag[tag].append(_operation(path, method, operation))
    parts = [
        "# REST",
        "Generated from `openapi.yaml`, the contract of the service. Errors are problem+json and name a rule "
        "([running the service](../service.md#malformed-requests)); authentication, limits and idempotent requests "
        "are described there too.",
    ]
    for tag in sorted(by_tag):
        parts += [f"## {tag.capitalize()}", *by_tag[tag]]
    parts += [
        "## Routes and scopes",
        "What each route requires of the key ([authentication](../service.md#authentication)), pages included; `none` "
        "is open to all. Without a key of that scope it answers 401 or 403, before it reads the body. An upload of "
        "results to `/v1/imports` needs `admin`. A test sends requests to all of them with no key, an unknown, an "
        "expired and a revoked one, and one of each scope.",
        scopes(),
        "## Schemas",
    ]
    parts += [_schema(name, schema) for name, schema in sorted(document["components"]["schemas"].items())]
    return "\n\n".join(parts) + "\n"


def _operation(path: str, method: str, operation: Node) -> str:
    lines = [f"### {method.upper()} {path}", "", _text(operation.get("description") or operation.get("summary", ""))]
    parameters = [each for each in operation.get("parameters", []) if "name" in each]
    if parameters:
        lines += ["", "| parameter | in | type | meaning |", "|---|---|---|---|"]
        for each in parameters:
            need = " (required)" if each.get("required") else ""
            cells = (_type(each.get("schema", {})), _text(each.get("description", "")) + need)
            lines.append(f"| `{each['name']}` | {each['in']} | {cells[0]} | {cells[1]} |")
    bodies = [
        f"`{kind}` {_type(content.get('schema', {}))}"
        for kind, content in operation.get("requestBody", {}).get("content", {}).items()
    ]
    if bodies:
        lines += ["", "Body: " + ", ".join(bodies)]
    answers = []
    for status, response in operation.get("responses", {}).items():
        kinds = {_type(content.get("schema", {})) for content in response.get("content", {}).values()}
        answers.append(f"{status} {', '.join(sorted(kinds - {'any'}))}".strip())
    lines += ["", "Responses: " + "; ".join(answers)]
    return "\n".join(lines)


def _schema(name: str, schema: Node) -> str:
    lines = [f"### {name}", ""]
    if schema.get("description"):
        lines += [_text(schema["description"]), ""]
    if "enum" in schema:
        lines.append(", ".join(f"`{value}`" for value in schema["enum"]))
    elif properties := schema.get("properties"):
        required = set(schema.get("required", []))
        lines += ["| field | type | meaning |", "|---|---|---|"]
        for field, each in properties.items():
            need = " (required)" if field in required else ""
            lines.append(f"| `{field}` | {_type(each)} | {_text(each.get('description', ''))}{need} |")
    else:
        lines.append(_type(schema))
    return "\n".join(lines)


def _type(schema: Node) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    options: list[Node] = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf") or []
    if options:
        return " or ".join(dict.fromkeys(_type(each) for each in options))
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    match schema.get("type"):
        case "array":
            return f"list of {_type(schema.get('items', {}))}"
        case "object" if isinstance(schema.get("additionalProperties"), dict):
            return f"object of {_type(schema['additionalProperties'])}"
        case str() as plain:
            return f"{plain} ({schema['format']})" if "format" in schema else plain
        case _:
            return "any"


def _text(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[")
