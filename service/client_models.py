"""Writes the client's models, xetune_client/models.py, from the API contract: one class a schema, in order of need."""

import keyword
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

MODELS_FILE = Path(__file__).resolve().parents[1] / "xetune_client" / "models.py"
_HEAD = '''"""What goes over the wire, as openapi.yaml has it. `python -m service.openapi --write` writes this file."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field


class Model(BaseModel):
    """Base: keeps fields that it does not know, so that an older client reads the answers of a newer server."""

    model_config = ConfigDict(extra="allow", protected_namespaces=())
'''
_REF = "#/components/schemas/"
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_FORMATS = {"uuid": "UUID", "date-time": "datetime"}

Schema = Mapping[str, Any]


def models_text(contract: Mapping[str, Any]) -> str:
    """The module of all schemas of a contract."""
    schemas: Mapping[str, Schema] = contract["components"]["schemas"]
    return "\n\n".join([_HEAD, *(_class(name, schemas) for name in _ordered(schemas))])


def _ordered(schemas: Mapping[str, Schema]) -> list[str]:
    """Names, each after those that it needs."""
    done: dict[str, None] = {}

    def visit(name: str) -> None:
        if name not in done:
            for needed in _needs(schemas[name]):
                if needed != name:
                    visit(needed)
            done[name] = None

    for name in schemas:
        visit(name)
    return list(done)


def _needs(schema: object) -> Iterator[str]:
    if isinstance(schema, Mapping):
        for key, value in schema.items():  # pyright: ignore[reportUnknownVariableType]
            if key == "$ref":
                yield str(value).removeprefix(_REF)  # pyright: ignore[reportUnknownArgumentType]
            elif key not in ("examples", "example", "default"):
                yield from _needs(value)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(schema, list):
        for value in schema:  # pyright: ignore[reportUnknownVariableType]
            yield from _needs(value)  # pyright: ignore[reportUnknownArgumentType]


def _class(name: str, schemas: Mapping[str, Schema]) -> str:
    schema = schemas[name]
    base = "StrEnum" if "enum" in schema else "Model"
    lines = [f"class {name}({base}):", *_docstring(schema.get("description", name))]
    if "enum" in schema:
        lines += ["", *(f"    {_member(value)} = {value!r}" for value in schema["enum"])]
    else:
        required = set(schema.get("required", ()))
        fields = schema.get("properties", {})
        for field in sorted(fields, key=lambda field: field not in required):
            lines += ["", *_field(field, fields[field], field in required, schemas)]
    return "\n".join(lines) + "\n"


def _member(value: str) -> str:
    name = value.upper().replace("-", "_").replace(" ", "_")
    return f"{name}_" if keyword.iskeyword(name) or not name.isidentifier() else name


def _field(name: str, schema: Schema, required: bool, schemas: Mapping[str, Schema]) -> list[str]:
    default = "" if required else f" = {_default(schema, schemas)}"
    lines = [f"    {name}: {_type(schema)}{default}"]
    return [*lines, *_docstring(schema["description"])] if "description" in schema else lines


def _default(schema: Schema, schemas: Mapping[str, Schema]) -> str:
    """What a field that was left out holds; of a field that names another schema that schema's own default."""
    if "default" not in schema:
        is_made = _is_object(schema, schemas) or schema.get("type") in ("array", "object")
        return f"Field(default_factory={_type(schema)})" if is_made else "None"
    value = schema["default"]
    if isinstance(value, list | dict):
        return f"Field(default_factory=lambda: {value!r})" if value else f"Field(default_factory={_type(schema)})"
    ref = str(schema.get("$ref", "")).removeprefix(_REF)
    return f"{ref}.{_member(value)}" if ref and value is not None else repr(value)


def _is_object(schema: Schema, schemas: Mapping[str, Schema]) -> bool:
    return "$ref" in schema and "properties" in schemas[schema["$ref"].removeprefix(_REF)]


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return schema["$ref"].removeprefix(_REF)
    if "anyOf" in schema:
        parts = list(dict.fromkeys(_type(part) for part in schema["anyOf"]))
        union = " | ".join(parts)
        # A dict is the way out, for what a model cannot read.
        is_ordered = any("$ref" in part for part in schema["anyOf"]) and any(part.startswith("dict") for part in parts)
        return f'Annotated[{union}, Field(union_mode="left_to_right")]' if is_ordered else union
    if "enum" in schema or "const" in schema:
        return f"Literal[{', '.join(map(repr, schema.get('enum', [schema.get('const')])))}]"
    match schema.get("type"):
        case "array":
            if "prefixItems" in schema:
                return f"tuple[{', '.join(_type(part) for part in schema['prefixItems'])}]"
            return f"list[{_type(schema['items'])}]"
        case "object":
            values = schema.get("additionalProperties")
            return f"dict[str, {_type(values) if isinstance(values, Mapping) else 'object'}]"
        case None:
            return "object"
        case kind:
            return _FORMATS.get(schema.get("format", ""), _PLAIN[kind])


def _docstring(text: str) -> list[str]:
    told = text.strip().replace("\\", "\\\\").replace('"""', "'''")
    told = f"{told} " if told.endswith('"') else told
    return textwrap.indent(f'"""{told}"""', "    ").splitlines()
