"""Addresses that are refused, and what Dask's machinery of ours keeps apart."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'xetune[cluster]'")

from service.cluster.dask.buffers import Kept, hash_of
from service.cluster.dask.quiet import Quiet
from service.cluster.link import Certificates, link_to
from service.cluster.shard import parse_shard
from service.settings import InvalidSettings, Settings


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

    def shard(name: str) -> None:
        with quiet.shared():
            first.set()
            assert leave.wait(30)
            order.append(name)

    def alone() -> None:
        with quiet.alone():
            order.append("alone")

    threads = [threading.Thread(target=shard, args=("before",)), threading.Thread(target=alone)]
    threads[0].start()
    assert first.wait(30)
    threads[1].start()
    while quiet._wanting == 0:
        time.sleep(0.01)
    threads.append(threading.Thread(target=shard, args=("after",)))
    threads[2].start()
    time.sleep(0.05)
    leave.set()
    for thread in threads:
        thread.join(30)
    assert order == ["before", "alone", "after"]


def test_each_machine_is_of_one_share() -> None:
    addresses = [f"tcp://10.0.0.{number}:4{number:03d}" for number in range(200)]
    shards = [parse_shard(f"{number}/3") for number in (1, 2, 3)]
    counts = [[shard.has(address) for address in addresses].count(True) for shard in shards]
    assert all(sum(shard.has(address) for shard in shards) == 1 for address in addresses)
    assert min(counts) > 40


@pytest.mark.parametrize("text", ["0/1", "2/1", "1", "a/b", "1/0", "-1/2"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(InvalidSettings, match="expected a shard such as 2/4"):
        parse_shard(text)
