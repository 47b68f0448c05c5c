"""The application of a command: it has the routes of the features that the command's requests belong to."""

import re
from uuid import UUID

import pytest
from fastapi.routing import APIRoute

from service import app


@pytest.mark.parametrize("name", app._FEATURES)
def test_a_path_tells_its_feature(name: str) -> None:
    for route in app._routes_of(name):
        assert isinstance(route, APIRoute)
        path = re.sub(r"\{\w+\}", "a-b", re.sub(r"\{\w+:uuid\}", str(UUID(int=10)), route.path))
        found = [other for other, paths in app._FEATURES.items() if re.fullmatch(paths, path.removeprefix("/v1/"))]
        assert found == [name], path
