"""A method that an address lacks is refused with those that it has."""

import re

from fastapi.testclient import TestClient

from tests.service.contract import contract

METHODS = {"get", "head", "post", "put", "patch", "delete"}


def test_every_address_names_the_methods_that_the_contract_gives_it(client: TestClient) -> None:
    paths = contract()["paths"]
    assert len(paths) > 30
    for path, operations in paths.items():
        answer = client.options(re.sub(r"{\w+}", "01970a3c-0000-7000-8000-000000000000", path))
        assert (answer.status_code, answer.json()["rule"]) == (405, "method-not-allowed"), path
        allowed = set(answer.headers["allow"].lower().split(", "))
        assert allowed == METHODS & set(operations), path
