"""Each parameter, field, body and answer of the contract has an example that is valid."""

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from tests.service.contract import contract

Said = dict[str, Any]
JSON = ("application/json", "application/problem+json")


@pytest.fixture(scope="module", name="contract")
def read_once() -> Said:
    """Return the contract."""
    return contract()


def faults(contract: Said, schema: Said, value: Any) -> list[str]:
    """Return the errors of a value against a schema."""
    whole = {**schema, "components": contract["components"]}
    found = Draft202012Validator(whole, format_checker=FormatChecker()).iter_errors(value)
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in found]


def operations(contract: Said) -> Iterator[tuple[str, Said]]:
    """Yield every operation by method and path."""
    for path, methods in contract["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


def test_every_parameter_has_an_example_that_is_valid(contract: Said) -> None:
    seen = 0
    for name, operation in operations(contract):
        for parameter in operation.get("parameters", []):
            schema = parameter["schema"]
            assert schema.get("examples"), f"{name}: {parameter['name']} has no example"
            for example in schema["examples"]:
                assert faults(contract, schema, example) == [], (name, parameter["name"], example)
                seen += 1
    assert seen > 150


def test_every_field_and_the_whole_of_each_schema_has_an_example_that_is_valid(contract: Said) -> None:
    for name, schema in contract["components"]["schemas"].items():
        fields = schema.get("properties", {})
        for field, said in fields.items():
            for example in said["examples"]:
                assert faults(contract, said, example) == [], (name, field, example)
        required = {field: fields[field]["examples"][0] for field in schema.get("required", [])}
        if fields:
            assert faults(contract, schema, required) == [], name


def test_every_body_and_answer_says_what_it_is(contract: Said) -> None:
    def check(where: str, content: Said) -> None:
        for media_type, said in content.items():
            if "example" in said:
                assert faults(contract, said["schema"], said["example"]) == [], (where, media_type)
            elif said["schema"].get("format") != "binary":  # a schema of its own, whose fields have examples
                assert "components/schemas" in str(said["schema"]), (where, media_type)

    shared = contract["components"]["responses"]
    for name, operation in operations(contract):
        check(name, operation.get("requestBody", {}).get("content", {}))
        for status, answer in operation["responses"].items():
            found = shared[answer["$ref"].split("/")[-1]] if "$ref" in answer else answer
            assert "content" in found or status in ("204", "304") or name.startswith("head"), (name, status)
            check(f"{name} {status}", found.get("content", {}))
