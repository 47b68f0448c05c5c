"""Entries of the cache of Triton's autotuner as records, and back into a cache that Triton reads."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.peers import peer_folder, run_with_peers
from xetune_client import models
from xetune_client.tuners import InvalidEntry, Stated, triton

KEY = "A2345" * 10
STATED = Stated(models.RecordDevice(pci_id="8086:E211", driver="25.18.33578.15"), {"triton": "3.9.0"})


def config(block: int) -> dict[str, Any]:
    return {"kwargs": {"BLOCK": block}, "num_warps": 4, "num_ctas": 1, "num_stages": 2, "maxnreg": None,
            "pre_hook": None, "ir_override": None}  # fmt: skip


def write(folder: Path, timings: str, name: str = "add_kernel") -> Path:
    """Write an entry; `timings` as Triton's json.dumps does, which knows Infinity."""
    path = folder / KEY / f"{name}.autotune.json"
    path.parent.mkdir(parents=True)
    path.write_text(f'{{"key": [512, 384, "torch.bfloat16"], "configs_timings": {timings}}}')
    return path


def out_of(body: models.RecordBody, **changes: Any) -> models.RecordOut:
    """Return a record as a service answers with it."""
    fields = json.loads(body.model_dump_json())
    fields |= {"id": str(UUID(int=1)), "device": "b60", "pci_id": None, "device_name": None, "driver": None}
    return models.RecordOut.model_validate(fields | {"created_at": "2026-01-02T03:04:05Z"} | changes)


def test_the_fastest_configuration_and_the_whole_entry_are_kept(tmp_path: Path) -> None:
    timings = [[config(64), [0.5, 0.4, 0.6]], [config(128), [0.25, 0.2, 0.3]]]
    path = write(tmp_path, json.dumps(timings))
    assert list(triton.entries(tmp_path)) == [path]
    found = triton.record(path, STATED)
    assert (found.tuner, found.kernel, found.time_us) == ("triton", "add_kernel", 250.0)
    assert found.problem == {"key": [512, 384, "torch.bfloat16"], "cache_key": KEY}
    assert found.config == config(128)
    restored = triton.restore(out_of(found), tmp_path / "other")
    assert restored == tmp_path / "other" / KEY / "add_kernel.autotune.json"
    assert json.loads(restored.read_text()) == json.loads(path.read_text())
    assert len(list(restored.parent.iterdir())) == 1


def test_configurations_that_failed_are_left_out(tmp_path: Path) -> None:
    timings = json.dumps([[config(64), [float("inf")] * 3], [config(128), 0.25]])
    found = triton.record(write(tmp_path, timings), STATED)
    assert found.document == {"key": [512, 384, "torch.bfloat16"], "configs_timings": [[config(128), 0.25]]}


@pytest.mark.parametrize("timings", ["[]", "[[{}, Infinity]]", "[[{}]]", "3"])
def test_what_is_no_entry_is_refused(tmp_path: Path, timings: str) -> None:
    with pytest.raises(InvalidEntry, match="expected the key and a finite time"):
        triton.record(write(tmp_path, timings), STATED)


@pytest.mark.parametrize(
    "changes",
    [
        {"problem": {"cache_key": "../../../../etc/cron.d/aaaaaaa"}},
        {"problem": {}},
        {"kernel": "../x"},
        {"kernel": "a/b"},
        {"document": None},
    ],
)
def test_a_record_writes_into_the_cache_only(tmp_path: Path, changes: dict[str, Any]) -> None:
    body = triton.record(write(tmp_path, json.dumps([[config(64), 0.5]])), STATED)
    with pytest.raises(InvalidEntry, match="expected an entry of Triton's cache"):
        triton.restore(out_of(body, **changes), tmp_path / "other")
    assert not (tmp_path / "other").exists()


# A driver of our own gives the target; entries are written and read by Triton's own autotuner.
TUNE = """
import json, sys
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
class Driver:
    def get_current_target(self): return GPUTarget("cuda", 90, 32)
    def get_benchmarker(self): return lambda *a, **k: None
    def get_empty_cache_for_benchmark(self): return None
    def clear_cache(self, cache): pass
driver.set_active(Driver())
open(sys.argv[1] + "/k.py", "w").write('''
import triton, triton.language as tl
configs = [triton.Config({"BLOCK": b}, num_warps=4) for b in (64, 128, 256)]
@triton.autotune(configs=configs, key=["n"], cache_results=True)
@triton.jit
def add_kernel(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), n)
''')
sys.path.insert(0, sys.argv[1])
from k import add_kernel as tuner
def bench():
    times = dict(zip((64, 128, 256), ([0.5] * 3, [0.25, 0.2, 0.3], [float("inf")] * 3)))
    tuner.configs_timings = {c: times[c.kwargs["BLOCK"]] for c in tuner.configs}
    tuner.cache[(512,)] = min(tuner.configs_timings, key=tuner.configs_timings.get)
hit = tuner.check_disk_cache((512,), tuner.configs, bench)
print(json.dumps({"hit": hit, "best": tuner.cache[(512,)].kwargs, "version": triton.__version__}))
"""


@pytest.mark.slow
def test_an_entry_of_triton_is_a_hit_in_another_cache_after_a_round_trip(tmp_path: Path) -> None:
    peer_folder("triton")

    def tune(cache: Path) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(run_with_peers(TUNE, tmp_path, env={"TRITON_CACHE_DIR": str(cache)}))
        return said

    assert tune(tmp_path / "one")["hit"] is False
    (entry,) = triton.entries(tmp_path / "one")
    found = triton.record(entry, STATED)
    assert (found.kernel, found.time_us, found.config["kwargs"]) == ("add_kernel", 250.0, {"BLOCK": 128})
    triton.restore(out_of(found), tmp_path / "two")
    assert tune(tmp_path / "two")["hit"] is True
    assert tune(tmp_path / "two")["best"] == {"BLOCK": 128}
