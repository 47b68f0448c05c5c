"""Metrics in alerts and the Grafana dashboard exist."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from fastapi.testclient import TestClient
from prometheus_client import Metric

from tests.service.api.metrics.test_metrics import families
from tests.service.rest import BODY

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
OF_PROMETHEUS = {"job", "instance"}  # labels that it adds


def alerts() -> Iterator[str]:
    """Yield the expressions of the alerts."""
    for group in yaml.safe_load((DOCKER / "alerts.yml").read_text())["groups"]:
        for rule in group["rules"]:
            yield rule["expr"]


def board() -> Iterator[str]:
    """Yield the expressions of the dashboard's panels."""
    for panel in json.loads((DOCKER / "grafana" / "xetune.json").read_text())["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"]


@pytest.fixture
def told(client: TestClient) -> dict[str, Metric]:
    """Return the metric families of a service after a request."""
    client.post("/v1/kernels/lookup", json={"problem": BODY["problem"], "device": "b580"})
    return families(client)


@pytest.mark.parametrize("expressions", [alerts, board])
def test_every_metric_and_label_that_is_watched_is_told(
    told: dict[str, Metric], expressions: Callable[[], Iterator[str]]
) -> None:
    labels: dict[str, set[str]] = {}
    for family in told.values():
        own = {
            f"{family.name}{end}" for end in {"counter": ["_total"], "histogram": ["_bucket"]}.get(family.type, [""])
        }
        own |= {sample.name for sample in family.samples}
        for name in own:
            labels.setdefault(name, set()).update(*(sample.labels for sample in family.samples))
    found = list(expressions())
    assert found
    for expression in found:
        named = set(re.findall(r"\b(?:xetune|process)_\w+", expression))
        assert named <= labels.keys(), expression
        asked = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", expression))
        asked |= {label.strip() for by in re.findall(r"\bby \(([^)]*)\)", expression) for label in by.split(",")}
        known = set[str]().union(*(labels[name] for name in named)) | OF_PROMETHEUS
        # Without a row there is no sample that would show its labels.
        assert asked <= known or named & {"xetune_best_tflops", "xetune_seen_timestamp_seconds"}, expression


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not here: apt-get install prometheus")
def test_prometheus_understands_every_expression(tmp_path: Path) -> None:
    rules = [
        {"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m")}
        for number, expression in enumerate(board())
    ]
    panels = tmp_path / "panels.yml"
    panels.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    for command in (
        ["check", "rules", str(panels), str(DOCKER / "alerts.yml")],
        ["check", "config", "--syntax-only", str(DOCKER / "prometheus.yml")],
    ):
        checked = subprocess.run(["promtool", *command], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr


def test_panels_do_not_overlap_and_have_distinct_numbers() -> None:
    taken: set[tuple[int, int]] = set()
    panels = json.loads((DOCKER / "grafana" / "xetune.json").read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        at = panel["gridPos"]
        cells = {(at["x"] + i, at["y"] + j) for i in range(at["w"]) for j in range(at["h"])}
        assert at["x"] + at["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells
