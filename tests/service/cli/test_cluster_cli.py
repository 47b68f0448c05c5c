"""Addresses that are refused, scripts of batch systems, and what Dask's machinery of ours keeps apart."""

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("dask_jobqueue", reason="Dask is not installed: pip install 'xetune[cluster]'")

from service.cli.main import app
from service.cluster.dask.batch import BatchJob, System, job_of
from service.cluster.dask.buffers import Kept, hash_of
from service.cluster.dask.quiet import Quiet
from service.cluster.link import Certificates, Link, link_to
from service.cluster.shard import share_of
from service.settings import InvalidSettings, Settings

LOOPBACK = Link("tcp://127.0.0.1:8786", "127.0.0.1", 8786, None)
ASKED = BatchJob(4, "16GB", "01:30:00", "gpu", "team7", ["-l place=excl"], ["module load oneapi"], ["b580"])


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings without certificates."""
    return Settings(data_dir=tmp_path)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "tcp://localhost:1", "tcp://[::1]:8786"])
def test_plain_text_is_for_loopback(settings: Settings, address: str) -> None:
    assert link_to(address, settings, insecure=False).on_loopback


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("tcp://10.0.0.5:8786", "who reaches a Dask process can run any code"),
        ("tcp://head:8786", "--insecure in a network"),
        ("tls://head:8786", "XETUNE_CLUSTER_CA, XETUNE_CLUSTER_CERT, XETUNE_CLUSTER_KEY must name a PEM file"),
        ("head:8786", "expected a scheduler as tls://<host>:<port>"),
        ("tls://head:0", "expected a scheduler"),
        ("tls://head:99999", "expected a scheduler"),
        ("tcp://a b:1", "expected a scheduler"),
    ],
)
def test_other_addresses_are_refused(settings: Settings, address: str, message: str) -> None:
    with pytest.raises(InvalidSettings, match=message):
        link_to(address, settings, insecure=False)


def test_a_closed_network_and_certificates_are_taken(settings: Settings, tmp_path: Path) -> None:
    assert link_to("tcp://10.0.0.5:8786", settings, insecure=True).certificates is None
    for name in ("ca", "cert", "key"):
        (tmp_path / name).touch()
    files = {f"cluster_{name}": tmp_path / name for name in ("ca", "cert", "key")}
    found = link_to("tls://head:8786", settings.model_copy(update=files), insecure=False)
    assert found.certificates == Certificates(*files.values())


def test_the_script_of_pbs() -> None:
    lines = job_of(System.PBS, LOOPBACK, ASKED, "xetune-0").job_script().splitlines()
    for line in (
        "#PBS -N xetune",
        "#PBS -q gpu",
        "#PBS -A team7",
        "#PBS -l select=1:ncpus=4:mem=15GB",
        "#PBS -l walltime=01:30:00",
        "#PBS -l place=excl",
        "module load oneapi",
    ):
        assert line in lines, line
    assert lines[-1].endswith(
        "-m service.cli worker --scheduler tcp://127.0.0.1:8786 --name xetune-0 --nthreads 4 "
        "--memory-limit 14.90GiB --device b580"
    )


def test_the_script_of_slurm_names_the_certificates(tmp_path: Path) -> None:
    files = Certificates(tmp_path / "ca.pem", tmp_path / "a cert.pem", tmp_path / "key.pem")
    job = job_of(System.SLURM, Link("tls://head:8786", "head", 8786, files), ASKED, "xetune-1")
    lines = job.job_script().splitlines()
    for line in ("#SBATCH -p gpu", "#SBATCH --cpus-per-task=4", "#SBATCH -t 01:30:00", "#SBATCH --mem=15G"):
        assert line in lines, line
    assert f"export XETUNE_CLUSTER_CERT='{tmp_path / 'a cert.pem'}'" in lines
    assert "-m service.cli worker --scheduler tls://head:8786 --name xetune-1" in lines[-1]


def test_the_command_of_a_script_is_one_that_we_have() -> None:
    """What it ends with is understood: only the scheduler is not there."""
    words = job_of(System.PBS, LOOPBACK, ASKED, "xetune-0").job_script().splitlines()[-1].split(" -m service.cli ")[1]
    told = CliRunner().invoke(app, [*words.split(), "--help"])
    assert told.exit_code == 0, told.output


def test_jobs_are_submitted_one_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "sbatch"
    fake.write_text(f'#!/bin/sh\ncat "$1" >> {tmp_path}/scripts\necho "Submitted batch job 12$(wc -l < "$1")"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    command = ["cluster", "slurm", "--scheduler", "tcp://127.0.0.1:8786", "--workers", "2", "--cores", "2"]
    told = CliRunner().invoke(app, command)
    assert told.exit_code == 0, told.output
    assert len([line for line in told.output.split() if line.startswith("12")]) == 2
    names = [
        line.split("--name ")[1].split()[0]
        for line in (tmp_path / "scripts").read_text().splitlines()
        if "--name" in line
    ]
    assert names == ["xetune-0", "xetune-1"]


def test_without_the_batch_system_the_message_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    told = CliRunner().invoke(app, ["cluster", "pbs", "--scheduler", "tcp://127.0.0.1:8786"])
    assert isinstance(told.exception, InvalidSettings)
    assert "qsub is not here" in str(told.exception)


def test_buffers_are_known_by_type_shape_and_contents() -> None:
    a = np.arange(6, dtype=np.float32)
    assert hash_of(a) == hash_of(a.copy())
    assert len({hash_of(x) for x in (a, a.view(np.int32), a.reshape(2, 3), a + 1)}) == 4


def test_buffers_are_kept_up_to_a_size_and_those_in_use_always() -> None:
    kept, one = Kept(100), np.zeros(20, np.uint8)
    assert kept.take(["a", "b"], {}) == ("a", "b")
    assert len(kept.take(["a", "b"], {"a": one, "b": one})) == 2
    large = np.zeros(90, np.uint8)
    assert kept.take(["c"], {"c": large}) == (large,)
    assert kept.take(["a", "c"], {}) == ("a",)


def test_what_wants_it_alone_waits_for_the_others_and_keeps_later_ones_out() -> None:
    quiet, order = Quiet(), list[str]()
    first, leave = threading.Event(), threading.Event()

    def share(name: str) -> None:
        with quiet.shared():
            first.set()
            assert leave.wait(30)
            order.append(name)

    def alone() -> None:
        with quiet.alone():
            order.append("alone")

    threads = [threading.Thread(target=share, args=("before",)), threading.Thread(target=alone)]
    threads[0].start()
    assert first.wait(30)
    threads[1].start()
    while quiet._wanting == 0:  # pyright: ignore[reportPrivateUsage]
        time.sleep(0.01)
    threads.append(threading.Thread(target=share, args=("after",)))
    threads[2].start()
    time.sleep(0.05)
    leave.set()
    for thread in threads:
        thread.join(30)
    assert order == ["before", "alone", "after"]


def test_each_machine_is_of_one_share() -> None:
    addresses = [f"tcp://10.0.0.{number}:4{number:03d}" for number in range(200)]
    shares = [share_of(f"{number}/3") for number in (1, 2, 3)]
    counts = [[share.has(address) for address in addresses].count(True) for share in shares]
    assert all(sum(share.has(address) for share in shares) == 1 for address in addresses)
    assert min(counts) > 40


@pytest.mark.parametrize("text", ["0/1", "2/1", "1", "a/b", "1/0", "-1/2"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(InvalidSettings, match="expected a share such as 2/4"):
        share_of(text)
