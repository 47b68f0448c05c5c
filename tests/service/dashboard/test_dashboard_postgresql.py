"""Pages and charts are read from PostgreSQL too, whose driver returns other types than SQLite's."""

import re
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import Settings
from tests.service.dashboard import every_page
from tests.service.rest import invented_devices


@pytest.mark.postgres
def test_every_page_and_its_charts_are_answered(tmp_path: Path, postgres_url: str) -> None:
    settings = Settings(
        data_dir=tmp_path, database_url=postgres_url, scheduler=False, rate_per_s=0, allowed_hosts="testserver"
    )
    app = create_app(settings, invented_devices)
    client, database = TestClient(app, headers={"Accept": "text/html"}), app.state.context.database
    pages = {name: client.get(path) for name, path in every_page.fill(client, database).items()}
    assert {name for name, page in pages.items() if page.status_code != 200} == {"error"}
    charts = {unescape(url) for page in pages.values() for url in re.findall(r'data-chart="([^"]+)"', page.text)}
    assert len(charts) > 10
    assert [url for url in sorted(charts) if client.get(url).status_code != 200] == []
    database.close()
