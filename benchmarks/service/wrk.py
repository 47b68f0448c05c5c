"""Runs wrk with requests that are drawn beforehand, and reads what it prints."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_UNIT_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}


@dataclass(frozen=True, slots=True)
class Result:
    """Requests in a second, latencies in ms, and answers that were errors."""

    per_s: float
    median_ms: float
    p99_ms: float
    failed: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: a path, and a JSON body, of one that has one."""

    path: str
    body: str | None = None


def run(folder: Path, url: str, asked: Sequence[Asked], seconds: float, connections: int, delay_ms: int = 0) -> Result:
    """Send the requests in turn over so many connections, each waiting `delay_ms` in the mean before its next.

    Waits are drawn from an exponential distribution, as of clients that know nothing of each other: equal ones would
    send the requests of all connections at the same moment, again and again.

    Raises:
        RuntimeError: wrk is not installed, or ended otherwise than it should.
    """
    if shutil.which("wrk") is None:
        raise RuntimeError("wrk is not installed; on Debian: apt-get install wrk")
    script = folder / "requests.lua"
    script.write_text(_script(folder, asked, delay_ms))
    line = [
        "wrk",
        "-t1",
        f"-c{connections}",
        f"-d{seconds:g}s",
        "--latency",
        "--timeout",
        "30s",
        "-s",
        str(script),
        url,
    ]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    rate = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
    if done.returncode != 0 or rate is None:
        raise RuntimeError(f"wrk ended with {done.returncode}: {done.stdout}{done.stderr}")
    failed = sum(
        int(n) for n in re.findall(r"(?:Non-2xx or 3xx responses|connect|read|write|timeout):? (\d+)", done.stdout)
    )
    return Result(float(rate[1]), _latency(done.stdout, 50), _latency(done.stdout, 99), failed)


def _script(folder: Path, asked: Sequence[Asked], delay_ms: int) -> str:
    """Lua that goes through requests in a file each, so that long ones need no quoting."""
    for number, each in enumerate(asked):
        (folder / f"path.{number}").write_text(each.path)
        if each.body is not None:
            (folder / f"body.{number}").write_text(each.body)
    bodies = asked[0].body is not None
    delay = (
        f"function delay() return math.floor(-{delay_ms} * math.log(1 - math.random()) + 0.5) end" if delay_ms else ""
    )
    return f"""
local function read(name) local f = io.open("{folder}/" .. name, "rb"); local t = f:read("*a"); f:close(); return t end
local requests, at = {{}}, 0
function init(args)
  for i = 0, {len(asked) - 1} do
    if {str(bodies).lower()} then
      local headers = {{["Content-Type"] = "application/json"}}
      requests[i] = wrk.format("POST", read("path." .. i), headers, read("body." .. i))
    else
      requests[i] = wrk.format("GET", read("path." .. i))
    end
  end
end
function request() at = (at + 1) % {len(asked)}; return requests[at] end
{delay}
"""


def _latency(printed: str, percentile: int) -> float:
    found = re.search(rf"\s{percentile}%\s+([\d.]+)(us|ms|s|m)\b", printed)
    if found is None:
        raise RuntimeError(f"wrk printed no {percentile}th percentile: {printed}")
    return float(found[1]) * _UNIT_MS[found[2]]
