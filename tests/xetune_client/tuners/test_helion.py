"""The remote cache of Helion: its own classes use our backend with a service."""

import json
import tomllib
from pathlib import Path

import pytest

from db.migrate import upgrade
from service.app import create_app
from service.settings import Settings
from tests.peers import peer_folder, run_with_peers
from tests.service.dashboard.chromium import served
from tests.service.rest import invented_devices

SCRIPT = Path(__file__).with_name("helion_script.py")


@pytest.mark.slow
def test_a_configuration_tuned_on_one_machine_is_found_on_another(tmp_path: Path) -> None:
    for name in ("helion", "torch", "triton"):
        peer_folder(name)
    settings = Settings(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path / 'x.sqlite'}", scheduler=False)
    app = create_app(settings, invented_devices)
    upgrade(app.state.context.database.engine)
    root = str(Path(__file__).resolve().parents[3])
    with served(app) as url:
        try:
            said = json.loads(run_with_peers(SCRIPT, url, tmp_path, extra=(root,)))
        except AssertionError as error:  # raised after the server has stopped: it would wait for ever
            said = str(error)
    assert said == {
        "miss": True,
        "local before": False,
        "hit": True,
        "local after": ["1.6.33578+15"],
        "other problem": True,
        "other driver": True,
        "seeds": [[32, 64], [16, 64]],
        "one seed": 1,
        "other triton": True,
        "stale allowed": True,
    }


def test_both_distributions_have_the_extra_of_the_backend() -> None:
    root = Path(__file__).resolve().parents[3]
    whole, alone = (
        tomllib.loads((root / path).read_text())["project"]["optional-dependencies"]["helion"]
        for path in ("pyproject.toml", "xetune_client/pyproject.toml")
    )
    assert whole == alone
