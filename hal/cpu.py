"""The host CPU: what Linux says of its cores, caches, instruction sets and memory."""

import os
from pathlib import Path

from hal.spec import PROBED, DeviceKind, DeviceSpec, Fact, spec_from_facts

HOST_ID = "host-cpu"
_ISA_PREFIXES = ("avx2", "avx512", "avx_vnni", "amx_")


def probe_cpu(proc: Path = Path("/proc"), sys: Path = Path("/sys")) -> DeviceSpec:
    """The spec of the CPU this program runs on; what the system does not say is None."""
    described = _describe(_read(proc / "cpuinfo"))
    flags = described.get("flags", "").split()
    caches = _caches(sys / "devices/system/cpu/cpu0/cache")
    values: dict[str, object] = {
        "architecture": os.uname().machine,
        "cores": _cores(sys / "devices/system/cpu"),
        "isa": tuple(sorted(flag for flag in flags if flag.startswith(_ISA_PREFIXES))) if flags else None,
        "l1_bytes": caches.get("1 Data"),
        "l2_bytes": caches.get("2 Unified"),
        "l3_bytes": caches.get("3 Unified"),
        "memory_bytes": _kib_as_bytes(_describe(_read(proc / "meminfo")).get("MemTotal")),
    }
    facts = [Fact(name, value, PROBED) for name, value in values.items()]
    return spec_from_facts(HOST_ID, described.get("model name", "host CPU"), DeviceKind.CPU, facts)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _describe(text: str) -> dict[str, str]:
    """The `key : value` lines of the first block of a /proc file."""
    pairs = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _cores(cpus: Path) -> int:
    """Cores this process may use; two hardware threads of one core are one."""
    allowed = os.sched_getaffinity(0)
    return len({_read(cpus / f"cpu{cpu}/topology/thread_siblings_list") or str(cpu) for cpu in allowed})


def _caches(folder: Path) -> dict[str, int]:
    """Bytes of each cache of one core, by level and type."""
    sizes: dict[str, int] = {}
    for index in sorted(folder.glob("index*")):
        size = _kib_as_bytes(_read(index / "size"))
        if size is not None:
            sizes[f"{_read(index / 'level')} {_read(index / 'type')}"] = size
    return sizes


def _kib_as_bytes(text: str | None) -> int | None:
    """Bytes of a size such as "32K" or "24684096 kB"; None when it is not one."""
    digits = (text or "").lower().removesuffix("kb").removesuffix("k").strip()
    return int(digits) * 1024 if digits.isdecimal() else None
