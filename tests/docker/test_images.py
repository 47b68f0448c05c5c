"""The Dockerfile: what its two images hold, who runs them, and how they are checked."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from service.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docker/Dockerfile").read_text()
LINES = TEXT.replace("\\\n", " ").splitlines()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def stages() -> dict[str, list[str]]:
    """Return the instructions of each stage, without those of the stages that it begins from."""
    found = dict[str, list[str]]()
    for line in LINES:
        if (start := re.match(r"FROM (\S+) AS (\S+)", line)) is not None:
            found[start[2]] = [line]
        elif found:
            found[next(reversed(found))].append(line)
    return found


def locked(name: str) -> set[str]:
    """Return the packages of a lock."""
    return set(re.findall(r"^([a-z0-9-]+)==", (ROOT / name).read_text(), re.MULTILINE))


def packages(extra: str) -> set[str]:
    """Return the packages that an extra names."""
    return {re.split(r"[<>=\[; ]", wanted)[0] for wanted in PROJECT["project"]["optional-dependencies"][extra]}


def test_the_last_image_is_the_worker_and_begins_from_the_service() -> None:
    assert list(stages()) == ["build", "build-worker", "service", "worker"]
    assert stages()["worker"][0] == "FROM service AS worker"
    assert stages()["service"][0] == "FROM ${BASE} AS service"


def test_all_images_begin_from_one_base_that_a_build_argument_names() -> None:
    arguments = [line for line in LINES[: LINES.index("FROM ${BASE} AS build")] if line.startswith("ARG ")]
    assert [line.partition("=")[0] for line in arguments] == ["ARG BASE"]
    froms = {line.split()[1] for line in LINES if line.startswith("FROM ")}
    assert froms - stages().keys() == {"${BASE}"}
    assert not any(line.startswith("ARG BASE") for lines in stages().values() for line in lines)


def test_the_images_hold_every_package_of_the_wheel_and_what_is_copied_is_sent() -> None:
    copied: set[str] = set()
    for line in LINES:
        if line.startswith("COPY ") and "--from" not in line:
            copied |= set(line.split()[1:-1])
    assert set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) <= copied
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied <= sent
    assert all((ROOT / name).exists() for name in copied)


def test_libraries_of_several_names_are_in_the_image_of_the_worker_once(tmp_path: Path) -> None:
    (line,) = [line for line in stages()["build-worker"] if "pip install" in line]
    loop = line.partition("cd /opt/worker/lib &&")[2].partition("&& cd /src")[0]
    for name in ("libone.so", "libone.so.1", "libone.so.1.2", "libtwo.so.3"):
        (tmp_path / name).write_text("the same")
    (tmp_path / "libtwo.so").write_text("another")
    subprocess.run(["sh", "-ec", loop], cwd=tmp_path, check=True)
    whole = {path.name for path in tmp_path.iterdir() if not path.is_symlink()}
    assert len(whole & {"libone.so", "libone.so.1", "libone.so.1.2"}) == 1
    assert whole >= {"libtwo.so", "libtwo.so.3"}
    assert {(tmp_path / name).read_text() for name in ("libone.so", "libone.so.1", "libone.so.1.2")} == {"the same"}


def test_no_image_is_run_by_root() -> None:
    users = [line.split()[1] for line in stages()["service"] + stages()["worker"] if line.startswith("USER ")]
    assert users == ["10001"]


@pytest.mark.parametrize("name", ["service", "worker"])
def test_each_image_is_checked_by_doctor_as_its_user(name: str) -> None:
    lines = stages()[name]
    (check,) = [line for line in lines if line.startswith("RUN ") and "xetune doctor" in line]
    assert name == "worker" or lines.index(check) > lines.index("USER 10001")
    command = next(part for part in check.split("&&") if "doctor" in part).split()
    assert command[command.index("doctor") + 1 :] == ["--json", "${DOCTOR}"]
    assert "ARG DOCTOR=" in lines


def test_the_health_check_asks_for_readiness_at_the_default_port() -> None:
    (asks,) = re.findall(r"XETUNE_PORT', '(\d+)'\) \+ '/readyz'", TEXT)
    assert int(asks) == Settings.model_fields["port"].default


def test_every_installation_is_by_hashes_and_each_image_lists_its_contents() -> None:
    installs = [line for line in LINES if "pip install" in line]
    assert all("--require-hashes" in line or "--no-deps" in line for line in installs)
    assert TEXT.count("cyclonedx-py environment") == 2
    assert "cyclonedx-bom" in locked("docker/sbom.lock")


def test_the_lock_of_the_service_has_its_extras_and_nothing_that_only_executes_kernels() -> None:
    service, worker = locked("requirements-service.lock"), locked("requirements-run.lock")
    for extra in ("build", "traces", "cluster", "xray"):
        assert packages(extra) <= service, extra
    for extra in ("opencl-cpu", "level-zero"):
        assert packages(extra) <= worker - service, extra
    assert service < worker < locked("requirements.lock")
