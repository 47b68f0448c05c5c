"""Settings come from XETUNE_* variables; a bad one is named with what it holds."""

import re
from pathlib import Path

import pytest

from service.settings import InvalidSettings, read_settings, unknown_settings


def test_the_database_lives_in_the_data_folder_unless_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path))
    assert read_settings().database_url == f"sqlite:///{tmp_path / 'xetune.sqlite'}"
    monkeypatch.setenv("XETUNE_DATABASE_URL", "postgresql+psycopg://u@h/d")
    assert read_settings().database_url == "postgresql+psycopg://u@h/d"


def test_only_this_machine_is_served_unless_asked() -> None:
    assert (read_settings().host, read_settings().port) == ("127.0.0.1", 8752)


def test_a_bad_variable_is_named_with_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XETUNE_PORT", "http")
    monkeypatch.setenv("XETUNE_LEASE_S", "-1")
    with pytest.raises(InvalidSettings, match=r"XETUNE_PORT is 'http'.*XETUNE_LEASE_S is '-1'"):
        read_settings()


def test_no_variable_of_the_client_and_of_compositions_is_told_as_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [file for folder in ("docker", "xetune_client") for file in Path(folder).rglob("*.*")]
    texts = [file.read_text() for file in files if file.suffix in (".py", ".yaml", ".yml")]
    names = {name for text in texts for name in re.findall(r"XETUNE_[A-Z0-9_]*[A-Z0-9]\b", text)}
    assert {"XETUNE_HELION_STALE", "XETUNE_WORKER_IMAGE"} < names
    for name in names:
        monkeypatch.setenv(name, "1")
    assert unknown_settings() == []


def test_a_misspelt_variable_is_named_with_the_nearest_setting_and_without_its_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("XETUNE_RATE_PER_SECOND", "xetune_prot", "XETUNE_SERVER", "XETUNE_API_KEY", "xetune_port"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("XETUNE_ZZZZ", "a secret")
    assert unknown_settings() == [
        "unknown setting XETUNE_RATE_PER_SECOND is ignored; the nearest is XETUNE_RATE_PER_S",
        "unknown setting XETUNE_ZZZZ is ignored; docs/reference/configuration.md lists every setting",
        "unknown setting xetune_prot is ignored; the nearest is XETUNE_PORT",
    ]
