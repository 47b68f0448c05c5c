"""Both wheels are built, and each runs alone in an environment that has nothing else."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx
import pytest

from tests.system.processes import Processes, free_port, until

ROOT = Path(__file__).parents[2]
USER = """
import sys
from xetune_client import Client, NotReached, Retries, models

with Client(sys.argv[1]) as client:
    problem = models.ProblemBody(m=16, n=32, k=64, dtype_a=models.DType.F32, dtype_b=models.DType.F32)
    found = client.lookup(models.LookupBody(problem=problem, device="cpu"))
    print(found.source.value)
try:
    Client("http://127.0.0.1:9", retries=Retries(attempts=1)).each_job().__next__()
except NotReached:
    print("not reached")
"""
HEAVY = {"numpy", "fastapi", "sqlalchemy", "torch-mlir", "llvmlite", "rich", "typer", "dask"}


def wheel(source: Path, folder: Path) -> Path:
    """Build the wheel of a project without fetching a build backend."""
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-qq", "-w", folder, source]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("*.whl")
    return made


def environment(folder: Path, *arguments: object) -> Path:
    """Make a virtual environment with what pip installs by these arguments; return its programs' folder."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=600)
    command = [folder / "bin/python", "-m", "pip", "install", "-qq", "--disable-pip-version-check", *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=900)
    if "No matching distribution" in done.stderr or "Connection" in done.stderr:
        pytest.skip(f"no package index can be reached: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return folder / "bin"


def answers(url: str) -> bool:
    """Something answers there."""
    try:
        return httpx.get(url).is_success
    except httpx.TransportError:
        return False


@pytest.mark.slow
def test_the_client_alone_is_small_and_typed(tmp_path: Path) -> None:
    made = wheel(ROOT / "xetune_client", tmp_path)
    names = {name for name in zipfile.ZipFile(made).namelist() if "dist-info" not in name}
    here = ROOT / "xetune_client"
    assert names == {f"xetune_client/{each.relative_to(here)}" for each in [*here.rglob("*.py"), here / "py.typed"]}
    metadata = zipfile.ZipFile(made).read(f"{made.name.rsplit('-', 3)[0]}.dist-info/METADATA").decode()
    needs = [
        line.split()[1].split("<")[0].split(">")[0]
        for line in metadata.splitlines()
        if line.startswith("Requires-Dist") and "extra ==" not in line
    ]
    assert needs == ["httpx", "pydantic"]
    assert made.stat().st_size < 100_000


@pytest.mark.slow
def test_the_client_alone_talks_to_a_service(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    programs = environment(tmp_path / "alone", wheel(ROOT / "xetune_client", tmp_path / "wheels"))
    listed = subprocess.run([programs / "pip", "list", "--format", "json"], capture_output=True, text=True, check=True)
    installed = {each["name"].lower() for each in json.loads(listed.stdout)}
    assert {"xetune-client", "httpx", "pydantic"} <= installed
    assert installed & HEAVY == set()
    port = free_port()
    processes = Processes(tmp_path, f"sqlite:///{tmp_path / 'x.sqlite'}", settings={"XETUNE_PORT": str(port)})
    processes.start("service", "serve")
    try:
        until(lambda: answers(f"http://127.0.0.1:{port}/healthz"), "the service listens")
        done = subprocess.run(
            [programs / "python", "-c", USER, f"http://127.0.0.1:{port}"],
            cwd=tmp_path,
            env={k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "XETUNE_SERVER"}},
            capture_output=True,
            text=True,
            timeout=120,
        )
    finally:
        processes.stop_all()
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[0] in {"heuristic", "model", "nearest"}
    assert "not reached" in done.stdout


OF_EXTRAS = {"intel-opencl-rt", "dpctl", "distributed", "zstandard", "opentelemetry-sdk", "torch", "pytest"}
SAYS = """
import json, sys
from importlib.metadata import distributions
from pathlib import Path
import service.dashboard, xetune_client
size = sum(file.stat().st_size for file in Path(sys.prefix).rglob("*") if file.is_file() and not file.is_symlink())
here = [module.__file__.startswith(sys.prefix) for module in (service.dashboard, xetune_client)]
print(json.dumps({"installed": [each.name.lower() for each in distributions()], "size": size, "here": here}))
"""


@pytest.mark.slow
def test_the_application_alone_is_run_by_uvx_and_tunes_a_kernel(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    made = wheel(ROOT, tmp_path / "wheels")
    uvx = environment(tmp_path / "uv", "uv>=0.9") / "uvx"
    pins = re.findall(r"^[a-z0-9-]+==\S+", (ROOT / "requirements-run.lock").read_text(), re.MULTILINE)
    (tmp_path / "pins.txt").write_text("\n".join(pins))
    own = {k: v for k, v in os.environ.items() if not k.startswith("XETUNE_") and k != "PYTHONPATH"}
    own |= {"XETUNE_DATA_DIR": str(tmp_path / "data"), "UV_CACHE_DIR": str(tmp_path / "cache")}
    own |= {"UV_CONSTRAINT": str(tmp_path / "pins.txt"), "PATH": "/usr/bin:/bin"}

    def run(*words: str) -> str:
        command = [uvx, "--python", sys.executable, "--from", made, *words]
        done = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "tune" in run("xetune", "--help")
    assert "winner: " in run("xetune", "tune", "24", "96", "40", "--dtype", "f32", "--device", "cpu", "--trials", "2")
    said = json.loads(run("python", "-c", SAYS))
    assert {"xetune", "torch-mlir", "fastapi"} <= set(said["installed"])
    assert OF_EXTRAS & set(said["installed"]) == set()
    assert said["here"] == [True, True]
    assert said["size"] < 700_000_000
    checked = run("xetune", "doctor", "--no-kernels")
    assert "pip install 'xetune[opencl-cpu]'" in checked
    assert "pip install 'xetune[level-zero]'" in checked
    assert checked.endswith("no faults\n")
