"""The commands of the documentation run, and end as the page says; `NOT_RUN` lists those that do not, with reasons.

Each page has a folder of its own and its commands run in order. All share a database with a few results, and a service.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from platformdirs import user_data_dir

from tests.docs.not_run import NOT_RUN
from tests.docs.shell import PAGES, ROOT, Command, commands
from tests.system.processes import free_port

ALL = commands()
RUN = [each for each in ALL if not any(each.text.startswith(start) for start in NOT_RUN)]
LIMIT_S = 400
SHORTER = {
    "--trials 50": "--trials 2",
    "--trials 20": "--trials 3",
    "--trials 12": "--trials 3",
    "--trials 200 --seeds 20": "--trials 8 --seeds 2",
}
"""Budgets that only take time."""

REFUSED = {
    "xetune --server http://127.0.0.1:9 jobs": "no answer after 6 attempts",
    "xetune --server nonsense jobs": "expected the URL of a service",
    "xetune --server localhost:8752 jobs": "did you mean http://localhost:8752",
    'xetune compile --m 64 --n 96 --k 128 --epilogue "relu, clip=6..1"': "clip",
    "curl -s $XETUNE_SERVER/v1/jobs -H 'Content-Type: application/json' -H 'Idem": "expected more than 0",
}
"""Commands that a page shows being refused, and what they say."""

NEEDS_OCLOC = ("--isa", "kernels binaries", "rebuild-binaries", "xetune xray")
FILES = {
    "job.json": {"problem": {"m": 64, "n": 96, "k": 128}, "device": "cpu", "budget": {"trials": 2}},
    "set.json": {"text": "m=1,16 n=96 k=64", "device": "cpu"},
    "record.json": {
        "tuner": "triton",
        "kernel": "matmul_kernel",
        "problem": {"M": 512, "N": 384, "K": 1024},
        "config": {"BLOCK_M": 64},
        "device": {"pci_id": "8086:E211", "driver": "25.18.33578.15"},
        "versions": {"triton": "3.9.0"},
        "time_us": 41.5,
    },
}


def test_every_entry_of_the_list_names_a_command() -> None:
    assert [start for start in NOT_RUN if not any(each.text.startswith(start) for each in ALL)] == []
    assert [start for start in REFUSED if not any(each.text.startswith(start) for each in RUN)] == []
    assert len(RUN) > len(ALL) / 2
    assert all(NOT_RUN.values())


@dataclass(frozen=True)
class Seeded:
    """A running service, and ids in its database: of a job, an emulated kernel, one of this CPU, one of an absent GPU,
    a record.
    """

    port: int
    environment: dict[str, str]
    ids: dict[str, str]

    def shell(self, text: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run a command in a folder."""
        return subprocess.run(
            ["bash", "-c", text],
            cwd=folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Generator[Seeded]:
    data = tmp_path_factory.mktemp("data")
    for tool in ("ocloc", "driver"):
        if (Path(user_data_dir("xetune")) / tool).is_dir():
            (data / tool).symlink_to(Path(user_data_dir("xetune")) / tool)
    port = free_port()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("XETUNE_")}
    environment |= {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XETUNE_DATA_DIR": str(data),
        "COLUMNS": "120",
        "XETUNE_OPEN_ON_LOOPBACK": "true",
    }
    own = {**environment, "XETUNE_PORT": str(port)}
    here = Seeded(port, environment, {})
    for problem in ("512 384 1024 --dtype f16 --device cpu", "96 64 128 --dtype f16 --device opencl-cpu --target b580",
                    "512 384 1024 --dtype f16 --device b580"):  # fmt: skip
        done = here.shell(f"xetune tune {problem} --trials 2", data)
        assert done.returncode == 0, done.stdout + done.stderr
    with (data / "serve.log").open("w") as log:
        service = subprocess.Popen(["xetune", "serve"], env=own, cwd=data, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}/v1"
    begun = time.monotonic()
    while True:
        try:
            kernels = httpx.get(f"{url}/kernels/stored").json()["kernels"]
            break
        except httpx.TransportError:
            assert time.monotonic() - begun < 60, (data / "serve.log").read_text()
            time.sleep(0.2)
    made = httpx.post(f"{url}/keys", json={"name": "reader", "scope": "admin"})
    assert made.is_success, made.text
    environment |= dict.fromkeys(("KEY", "XETUNE_API_KEY"), made.json()["key"])
    emulated = next(each["id"] for each in kernels if each["device"].startswith("opencl"))
    absent = next(each["id"] for each in kernels if each["device"] == "b580")
    native = next(each["id"] for each in kernels if not each["device"].startswith(("opencl", "b580")))
    jobs = httpx.get(f"{url}/jobs").json()["jobs"]
    measured = next(each["id"] for each in jobs if not each["device"].startswith(("opencl", "b580")))
    stored = httpx.post(f"{url}/records", json={"records": [FILES["record.json"]]})
    assert stored.is_success, stored.text
    record = stored.json()["records"][0]["id"]
    here.ids.update(job=measured, kernel=emulated, native=native, absent=absent, record=record)
    yield here
    service.terminate()
    service.wait(60)


@pytest.mark.slow
@pytest.mark.parametrize("page", [str(page) for page in PAGES if any(each.page == str(page) for each in RUN)])
def test_commands_of_the_page_run(page: str, seeded: Seeded, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for name, content in FILES.items():
        (tmp_path / name).write_text(json.dumps(content))
    prepare(page, seeded, tmp_path)
    failed: list[str] = []
    for command in (each for each in RUN if each.page == page):
        if any(word in command.text for word in NEEDS_OCLOC) and not ocloc_is_here(seeded):
            continue
        done = seeded.shell(text_of(command, seeded), tmp_path)
        said = done.stdout + done.stderr
        expected = next((words for start, words in REFUSED.items() if command.text.startswith(start)), None)
        right = done.returncode == 0 if expected is None else done.returncode != 0 and expected in said
        if not right:
            failed.append(f"{command}\n  status {done.returncode}: {said[-600:]}")
    assert failed == [], "\n".join(failed)


def prepare(page: str, seeded: Seeded, folder: Path) -> None:
    """Files that a page begins with, and no keys and schedules that another page made."""
    seeded.shell("xetune keys revoke ana; xetune keys revoke nightly-ci; xetune schedules delete refresh", folder)
    seeded.shell("xetune schedules delete nightly; xetune schedules delete layers", folder)
    if page in {"docs/search.md", "docs/exchange.md"}:
        done = seeded.shell(f"xetune export --job {seeded.ids['job']} --format kernel-tuner -o cache.json", folder)
        assert done.returncode == 0, done.stderr
    if page in {"docs/exchange.md", "docs/guides/measuring_kit.md"}:
        # What another machine sent.
        done = seeded.shell("xetune export -o lab.jsonl && cp lab.jsonl found.jsonl", folder)
        assert done.returncode == 0, done.stderr


def ocloc_is_here(seeded: Seeded) -> bool:
    """Intel's offline compiler is installed."""
    return (Path(seeded.environment["XETUNE_DATA_DIR"]) / "ocloc").exists() or shutil.which("ocloc") is not None


def text_of(command: Command, seeded: Seeded) -> str:
    """The command with ids, addresses and budgets of this test; requests that are refused fail."""
    text = command.text
    kind = "kernel" if "kernels " in text or "/kernels/" in text else "record" if "records" in text else "job"
    kind = "absent" if "kernels binaries" in text else kind
    kind = "native" if "ID ctypes" in text or "ID cpp" in text else kind
    text = re.sub(r"(?<!-)\bID\b|\$JOB\b", seeded.ids[kind], text)
    for address in ("localhost:8752", "there:8752", "$XETUNE_SERVER"):  # this service is both of two
        text = text.replace(address, f"127.0.0.1:{seeded.port}")
    if text.startswith("xetune --server"):
        return command.text
    for long, short in SHORTER.items():
        text = text.replace(long, short)
    return re.sub(r"\bcurl -s", "curl --fail-with-body -s", text)
