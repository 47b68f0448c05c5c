"""The Compose files: what they name is there, and the cluster's network is closed."""

import re
from pathlib import Path

import pytest
import yaml

from service.settings import PREFIX, Settings

DOCKER = Path(__file__).resolve().parents[2] / "docker"
COMPOSED = yaml.safe_load((DOCKER / "compose.yaml").read_text())
SERVICES = COMPOSED["services"]
OURS = ("migration", "scheduler", "service", "worker")


def test_the_whole_composition_is_there() -> None:
    assert set(SERVICES) == {"database", *OURS, "prometheus", "grafana"}
    assert SERVICES["migration"]["command"] == ["db", "upgrade"]
    assert SERVICES["service"]["depends_on"]["migration"]["condition"] == "service_completed_successfully"
    for name in OURS:
        assert SERVICES[name]["build"]["target"] == ("worker" if name == "worker" else "service")
        assert SERVICES[name]["image"] == f"xetune-{SERVICES[name]['build']['target']}"


def test_variables_pin_every_image() -> None:
    (default,) = re.findall(r"^ARG BASE=(\S+)$", (DOCKER / "Dockerfile").read_text(), re.MULTILINE)
    assert {SERVICES[name]["build"]["args"]["BASE"] for name in OURS} == {f"${{XETUNE_BASE:-{default}}}"}
    images = {name: SERVICES[name]["image"] for name in SERVICES.keys() - set(OURS)}
    variables = {name: re.fullmatch(r"\$\{([A-Z]+_IMAGE):-[\w./-]+:[\w.-]+\}", image) for name, image in images.items()}
    assert all(variables.values()), images
    described = (DOCKER.parent / "docs/docker.md").read_text()
    assert all(f"`{found[1]}`" in described for found in variables.values() if found is not None)
    assert "`XETUNE_BASE`" in described


@pytest.mark.parametrize("name", OURS)
def test_our_containers_cannot_write_to_their_image_or_gain_rights(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]


def test_what_is_mounted_set_and_published_exists() -> None:
    named = set(re.findall(rf"\b{PREFIX}[A-Z_]+", (DOCKER / "Dockerfile").read_text()))
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert (DOCKER / source).exists() if source.startswith(".") else source in COMPOSED["volumes"], volume
        named |= {name for name in service.get("environment", {}) if name.startswith(PREFIX)}
        assert set(service.get("depends_on", ())) <= SERVICES.keys()
        assert set(service.get("networks", ())) <= COMPOSED["networks"].keys()
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:"), port
    assert named <= {PREFIX + name.upper() for name in Settings.model_fields}


def test_only_service_and_worker_reach_the_scheduler() -> None:
    assert COMPOSED["networks"]["cluster"] == {"internal": True}
    inside = {name for name, service in SERVICES.items() if "cluster" in service.get("networks", ())}
    assert inside == {"scheduler", "service", "worker"}
    port = SERVICES["scheduler"]["command"][2].rpartition(":")[2]
    for name in ("service", "worker"):
        assert SERVICES[name]["command"][1:3] == ["--scheduler", f"tcp://scheduler:{port}"]
    for name in ("scheduler", "worker"):
        assert SERVICES[name]["networks"] == ["cluster"]
        assert "ports" not in SERVICES[name]
        assert not {"PGPASSWORD", "XETUNE_DATABASE_URL"} & SERVICES[name]["environment"].keys()


def test_the_health_check_of_the_image_asks_the_worker() -> None:
    assert "healthcheck" not in SERVICES["worker"]
    assert SERVICES["worker"]["environment"]["XETUNE_WORKER_PORT"] == Settings.model_fields["port"].default


def test_the_worker_may_be_given_the_gpus_of_the_host() -> None:
    (worker,) = yaml.safe_load((DOCKER / "compose.gpu.yaml").read_text())["services"].items()
    assert worker[0] == "worker"
    assert worker[1]["devices"] == ["/dev/dri"]
    assert worker[1]["group_add"][0].startswith("${RENDER_GROUP:?")
