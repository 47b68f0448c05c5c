"""Helion's own caches with our backend, as two machines with one service; a GPU is pretended, and no kernel runs."""

import importlib.metadata
import json
import os
import sys
from pathlib import Path
from typing import Any

import helion  # pyright: ignore[reportMissingImports]
import torch  # pyright: ignore[reportMissingImports]
from helion.autotuner import (  # pyright: ignore[reportMissingImports]
    FiniteSearch,
    RemoteAutotuneCache,
    local_cache,
)

url, folder = sys.argv[1:]


class Facts:
    """Facts of the GPU as torch would tell them."""

    name = "Intel(R) Arc(TM) Pro B60 Graphics"
    device_id = 0xE211
    driver_version = ""


torch.xpu.is_available = lambda: True
torch.xpu.get_device_properties = lambda device=None: Facts
local_cache.extract_device = lambda args: torch.device("xpu", 0)
local_cache.get_device_name = lambda device: Facts.name
os.environ |= {"XETUNE_SERVER": url, "HELION_REMOTE_CACHE_BACKEND": "xetune_client.tuners.helion.RecordsBackend"}


sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples"))
from helion_shared_cache import add  # noqa: E402 # pyright: ignore[reportMissingImports]


def cache(machine: str, driver: str = "1.6.33578+15", rows: int = 512) -> Any:
    """Return Helion's cache of a kernel on a machine, for a problem and a driver."""
    os.environ["HELION_CACHE_DIR"] = str(Path(folder) / machine)
    Facts.driver_version = driver
    arguments = torch.randn(rows, 384), torch.randn(rows, 384)
    bound = add.bind(arguments)
    return RemoteAutotuneCache(FiniteSearch(bound, arguments, configs=[best, other]))


best, other = (helion.Config(block_sizes=[size, 64], num_warps=8) for size in (16, 32))
said = {}
one = cache("one")
said["miss"] = one.get() is None
one.put(best)
two = cache("two")
local = Path(folder) / "two"
said["local before"] = local.exists()
said["hit"] = two.get() == best
said["local after"] = [json.loads(p.read_text())["key"]["fields"]["runtime_name"] for p in local.glob("*.best_config")]
said["other problem"] = cache("three", rows=1024).get() is None
said["other driver"] = cache("three", "1.6.34000+1").get() is None
cache("one", rows=256).put(other)
entries = list(cache("three")._backend.list(max_results=5))
said["seeds"] = [local_cache.parse_cache_entry(entry).config.config["block_sizes"] for entry in entries]
said["one seed"] = len(list(cache("three")._backend.list(max_results=1)))
real = importlib.metadata.version
importlib.metadata.version = lambda name: "9.9" if name == "triton" else real(name)
import xetune_client.tuners.helion as backend  # noqa: E402

backend.version = importlib.metadata.version
said["other triton"] = cache("three").get() is None
os.environ["XETUNE_HELION_STALE"] = "1"
said["stale allowed"] = cache("three").get() == best
print(json.dumps(said))
