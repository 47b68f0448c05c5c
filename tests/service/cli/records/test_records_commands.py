"""`xetune records` on the own database and on a service."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import Settings
from tests.service.api.records.test_records import RECORD
from tests.service.cli.both_transports import Run, both
from tests.service.dashboard.chromium import served
from tests.service.rest import invented_devices
from tests.xetune_client.tuners import test_serving, test_t4, test_triton

pytestmark = pytest.mark.usefixtures("one_database")
EXAMPLES = Path(__file__).resolve().parents[4] / "examples"
B60 = ("--device", "8086:E211", "--driver", "25.18.33578.15")


def read(run: Run, *arguments: str) -> Any:
    """Return the JSON that a command prints."""
    status, output, errors = run(*arguments, "--json")
    assert status == 0, errors
    return json.loads(output)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "expected at least one record, got none"),
        ("{}", "records.0.tuner: "),
        ("[3]", "records.0: "),
        ("{", "expected a record as JSON: "),
    ],
)
def test_a_file_without_records_is_told_in_one_line(run: Run, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "list.json"
    file.write_text(text)
    status, _, said = run("records", "add", str(file))
    assert (status, said.count("\n")) == (2, 1), said
    assert message in said


def test_records_are_stored_found_and_deleted_alike(run: Run, tmp_path: Path) -> None:
    local, served = both(run, "records")
    assert local == served
    assert local[1].startswith("No records.")
    file = tmp_path / "record.json"
    file.write_text(json.dumps([RECORD]))
    assert run("records", "add", str(file)) == (0, "1 record stored, 0 here before\n", "")
    assert run("--server", "http://testserver", "records", "add", str(file))[1] == "0 records stored, 1 here before\n"
    (stored,) = read(run, "records")["records"]
    find = ("records", "find", "--tuner", "triton", "--kernel", "matmul", "--problem", json.dumps(RECORD["problem"]))
    for arguments in (
        ("records",),
        ("records", "--device", "Intel(R) Arc(TM) Pro B60 Graphics", "--json"),
        ("records", "show", stored["id"]),
        (*find, "--device", "b60"),
        (*find, "--device", "b60", "--driver", "26.1", "--version", "triton=3.9.0", "--json"),
    ):
        local, served = both(run, *arguments)
        assert (local[0], local) == (0, served), arguments
        assert stored["id"][:13] in local[1]
    assert "stale: driver 25.18.33578.15 then, 26.1 now" in run(*find, "--device", "b60", "--driver", "26.1")[2]
    assert run("records", "delete", stored["id"])[0] == 0
    assert run(*find, "--device", "b60")[0] == 2


def test_a_t4_file_is_pushed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "t4.json"
    file.write_text(json.dumps(test_t4.file_of(test_t4.result(64, 0.5), test_t4.result(128, 0.25))))
    push = ("records", "push", "t4", str(file), *B60)
    assert "expected --kernel and --problem" in run(*push)[2]
    done = read(run, *push, "--kernel", "add", "--problem", '{"n": 4096}', "--best", "2")
    assert done["new"] == 2
    problem = ("--tuner", "kernel-tuner", "--kernel", "add", "--problem", '{"n": 4096}')
    found = read(run, "records", "find", *problem, "--device", "b60")
    assert (found["record"]["time_us"], found["others"]) == (250.0, 1)


def test_a_cache_of_triton_is_pushed_and_pulled(run: Run, tmp_path: Path) -> None:
    entry = test_triton.write(tmp_path / "one", json.dumps([[test_triton.config(64), 0.5]]))
    push = ("records", "push", "triton", str(tmp_path / "one"), *B60, "--version", "triton=3.9.0")
    assert run(*push)[1] == "1 record stored, 0 here before\n"
    pull = ("records", "pull", "triton", str(tmp_path / "two"), "--device", "8086:E211")
    same, other = ("--driver", "1.6.33578+15"), ("--driver", "1.6.34000+1")
    assert run(*pull, *other)[1:] == (
        f"0 files written to {tmp_path / 'two'}\n",
        "not written without --stale: "
        f"add_kernel {{'key': [512, 384, 'torch.bfloat16'], 'cache_key': '{test_triton.KEY}'}}: "
        "driver 25.18.33578.15 then, 1.6.34000+1 now\n",
    )
    assert len(read(run, *pull, *same)["files"]) == 1
    copy = tmp_path / "two" / test_triton.KEY / entry.name
    assert json.loads(copy.read_text()) == json.loads(entry.read_text())
    copy.unlink()
    assert run(*pull, *other, "--stale")[0] == 0
    assert copy.exists()


def test_files_of_vllm_are_written_under_the_new_name_of_the_device(run: Run, tmp_path: Path) -> None:
    for of, name in ((64, "Intel(R)_Arc(TM)_Pro_B60_Graphics"), (128, "NVIDIA_H200")):
        test_serving.write(tmp_path / "old", f"E={of},N=896,device_name={name}.json")
    assert run("records", "push", "vllm", str(tmp_path / "old"), "--driver", "25.18.33578.15")[0] == 0
    assert [each["device"] for each in read(run, "records", "--tuner", "vllm")["records"]] == ["b60", "nvidia-h200"]
    pull = ("records", "pull", "vllm", str(tmp_path / "new"), *B60)
    assert "expected --name" in run(*pull)[2]
    (path,) = read(run, *pull, "--name", test_serving.NEW)["files"]
    assert Path(path).name == "E=64,N=896,device_name=Intel(R)_Graphics_[0xe211].json"
    assert json.loads(Path(path).read_text()) == test_serving.ROWS


def test_options_that_cannot_be_meant_are_refused(run: Run, tmp_path: Path) -> None:
    for arguments, message in (
        (("push", "vllm", str(tmp_path)), "expected files of vllm, got none"),
        (("push", "triton", str(tmp_path), *B60, "--version", "triton"), "expected name=version"),
        (("find", "--tuner", "a", "--kernel", "b", "--problem", "[]", "--device", "b60"), "expected a JSON object"),
        (("pull", "t4", str(tmp_path), *B60), "reads no folder of results"),
    ):
        status, _, errors = run("records", *arguments)
        assert (status != 0, message in errors) == (True, True), errors


def test_the_example_of_a_fleet_is_a_schedule(client: TestClient) -> None:
    body = json.loads((EXAMPLES / "fleet_nightly.json").read_text())
    answer = client.post("/v1/schedules", json=body)
    assert (answer.status_code, answer.json()["stale"]["binaries"]) == (201, 100), answer.text


def test_the_example_file_of_kernel_tuner_is_pushed(run: Run) -> None:
    push = ("records", "push", "t4", str(EXAMPLES / "kernel_tuner_t4.json"), *B60)
    done = read(run, *push, "--kernel", "vector_add", "--problem", '{"n": 4096}', "--best", "3")
    assert done["new"] == 3
    problem = ("--tuner", "kernel-tuner", "--kernel", "vector_add", "--problem", '{"n": 4096}')
    found = read(run, "records", "find", *problem, "--device", "b60")
    assert (found["record"]["config"], found["others"]) == ({"block_size_x": 128, "tile": 2}, 2)
    assert found["record"]["time_us"] == pytest.approx(249.0)


@pytest.mark.slow
def test_the_example_shares_results_of_kernel_tuner(settings: Settings) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with served(create_app(settings, invented_devices)) as url:
        command = [
            EXAMPLES / "kernel_tuner_t4.sh",
            url,
            EXAMPLES / "kernel_tuner_t4.json",
            "8086:E211",
            "25.18.33578.15",
        ]
        done = subprocess.run(
            [*map(str, command)],
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3 records stored, 0 here before\n")
    assert "block_size_x" in done.stdout


@pytest.mark.slow
def test_the_example_shares_the_cache_of_triton(settings: Settings, tmp_path: Path) -> None:
    app = create_app(settings, invented_devices)
    entry = test_triton.write(tmp_path / "one", json.dumps([[test_triton.config(64), 0.5]]))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    def share(what: str, cache: str, url: str) -> str:
        command = [str(EXAMPLES / "triton_cache.sh"), what, url, "8086:E211", "25.18.33578.15", "3.9.0"]
        env = {**os.environ, "PATH": path, "TRITON_CACHE_DIR": str(tmp_path / cache)}
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False).stdout

    with served(app) as url:
        said = share("push", "one", url), share("pull", "two", url)
    assert said == ("1 record stored, 0 here before\n", f"1 file written to {tmp_path / 'two'}\n")
    copy = tmp_path / "two" / test_triton.KEY / entry.name
    assert json.loads(copy.read_text()) == json.loads(entry.read_text())
