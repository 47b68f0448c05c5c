"""The host CPU: cores, caches, instruction sets and memory, as reported by Linux."""

import os
import re
from pathlib import Path

from hal.facts.amx import amx_permitted
from hal.facts.cores import (
    LogicalCpu,
    cpus_of_list,
    folder_of,
    read,
    siblings,
    usable_cpus,
)
from hal.facts.quota import cpu_quota
from hal.facts.spec import (
    PROBED,
    DeviceKind,
    DeviceSpec,
    Fact,
    derived,
    spec_from_facts,
    table,
)

X86_64 = "x86_64"
TARGET = "x86-64"
_ISA_PREFIXES = ("avx", "amx_")
_ISA_FLAGS = ("f16c", "fma", "bmi1", "bmi2")
# Vector registers that instructions can address, the widest first. Source: Intel 64 and IA-32 Architectures
# Software Developer's Manual, volume 1, chapters 10, 14 and 15.
_VECTORS = (("avx512f", 64, 32), ("avx", 32, 16))
_SSE_BYTES, _SSE_REGISTERS = 16, 16
# Multiply-adds of bf16 in a clock, by vendor, family and model; f32 has 32 on all of these.
_BF16_FMA_PER_CLK = {"GenuineIntel 6 207": 16}
_BF16_SOURCE = 'docs/performance.md, "CPU kernels compared with torch and numpy": a loop of VDPBF16PS'
_NOT_OF_THE_MODEL = re.compile(r"\((?:r|tm)\)|@.*|\b(?:cpu|processor|\d+-core)\b")
_CLOCK_IN_NAME = re.compile(r"@ (\d+\.\d+)GHz")


def probe_cpu(proc: Path = Path("/proc"), sys: Path = Path("/sys")) -> DeviceSpec:
    """Return the spec of the CPU this program runs on; facts that the system does not report are None."""
    described = _describe(read(proc / "cpuinfo"))
    cpus = usable_cpus(sys)
    cores, model = _cores(cpus, cpu_quota(proc, sys)), described.get("model name", "")
    facts = (
        *_identity(described, sys, cpus[0]),
        cores,
        *_instructions(described.get("flags", "").split()),
        _bf16_fma(described),
        *_caches(cpus, sys),
        *_clocks(model, folder_of(cpus[0].number, sys) / "cpufreq"),
        *_memory(cpus, proc, sys),
    )
    id = f"cpu-{_slug(described)}-{cores.value}c"
    return spec_from_facts(id, model or "host CPU", DeviceKind.CPU, facts)


def _cores(cpus: tuple[LogicalCpu, ...], quota: float | None) -> Fact:
    """Return the number of usable cores; fewer if a limit of CPU time would throttle threads on all of them."""
    count = len({cpu.core for cpu in cpus})
    if quota is None or quota >= count:
        return Fact("cores", count, PROBED)
    how = f"of {count} that may be used, what the control group's limit of {quota:g} CPUs keeps busy"
    return Fact("cores", max(1, int(quota)), derived(how))


def _describe(text: str) -> dict[str, str]:
    """Return the `key : value` lines of the first block of a /proc file."""
    pairs = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _slug(described: dict[str, str]) -> str:
    """Return the model for an id: its name, with family and model where a virtual machine reports a name
    without a number.
    """
    words = re.findall(r"[a-z0-9]+", _NOT_OF_THE_MODEL.sub(" ", described.get("model name", "").lower()))
    if not any(character.isdecimal() for word in words for character in word) and "cpu family" in described:
        words.append(f"f{described['cpu family']}m{described.get('model', '')}")
    return "-".join(words) or os.uname().machine.replace("_", "-")


def _identity(described: dict[str, str], sys: Path, first: LogicalCpu) -> tuple[Fact, ...]:
    machine = os.uname().machine
    hardware_threads = len(siblings(first.number, sys))
    return (
        Fact("architecture", machine, PROBED),
        Fact("target", TARGET if machine == X86_64 else None, derived("its architecture")),
        Fact("driver", _driver(described, folder_of(first.number, sys)), PROBED),
        Fact("threads_per_core", hardware_threads or None, PROBED),
    )


def _driver(described: dict[str, str], folder: Path) -> str:
    """Return the software state that times depend on, as far as it is stable: not momentary clocks."""
    release = os.uname()
    parts = [
        described.get("model name", "host CPU"),
        f"microcode {described['microcode']}" if "microcode" in described else "",
        f"{release.sysname} {release.release}",
        f"governor {governor}" if (governor := read(folder / "cpufreq/scaling_governor")) else "",
    ]
    return ", ".join(part for part in parts if part)


def _instructions(flags: list[str]) -> tuple[Fact, ...]:
    if not flags:
        return ()
    isa = tuple(sorted(flag for flag in flags if flag.startswith(_ISA_PREFIXES) or flag in _ISA_FLAGS))
    found = next(((flag, width, count) for flag, width, count in _VECTORS if flag in isa), None)
    flag, width, count = found or ("sse2", _SSE_BYTES, _SSE_REGISTERS)
    return (
        Fact("isa", isa, PROBED),
        Fact("amx_permitted", amx_permitted() if "amx_tile" in isa else None, PROBED),
        Fact("vector_bytes", width, derived(f"{flag} is the widest of its instruction sets")),
        Fact("vector_registers", count, derived(f"{flag} is the widest of its instruction sets")),
    )


def _bf16_fma(described: dict[str, str]) -> Fact:
    model = " ".join(described.get(key, "") for key in ("vendor_id", "cpu family", "model"))
    return Fact("bf16_fma_per_clk_per_core", _BF16_FMA_PER_CLK.get(model), table(_BF16_SOURCE))


def _caches(cpus: tuple[LogicalCpu, ...], sys: Path) -> tuple[Fact, ...]:
    """Return the caches of the first core, and how many of the usable cores share each of them."""
    values: dict[str, object] = {}
    for index in sorted((folder_of(cpus[0].number, sys) / "cache").glob("index*")):
        level, kind, size = read(index / "level"), read(index / "type"), _kib_as_bytes(read(index / "size"))
        if size is None or kind == "Instruction":
            continue
        values[f"l{level}_bytes"] = size
        values[f"l{level}_ways"] = _number(read(index / "ways_of_associativity")) or None
        values.setdefault("line_bytes", _number(read(index / "coherency_line_size")))
        sharing = set(cpus_of_list(read(index / "shared_cpu_list")))
        values[f"cores_per_l{level}"] = len({cpu.core for cpu in cpus if cpu.number in sharing}) or None
    known = ("l1_bytes", "l2_bytes", "l3_bytes", "cores_per_l2", "l2_ways", "cores_per_l3", "line_bytes")
    return tuple(Fact(name, values.get(name), PROBED) for name in known)


def _clocks(model: str, cpufreq: Path) -> tuple[Fact, ...]:
    highest, base = (_number(read(cpufreq / name)) for name in ("cpuinfo_max_freq", "base_frequency"))
    named = _CLOCK_IN_NAME.search(model)
    return (
        Fact("clock_mhz", highest // 1000 if highest is not None else None, PROBED),
        Fact("nominal_clock_mhz", base // 1000 if base is not None else None, PROBED),
        Fact("nominal_clock_mhz", round(float(named[1]) * 1000) if named else None, derived("the clock in its name")),
    )


def _memory(cpus: tuple[LogicalCpu, ...], proc: Path, sys: Path) -> tuple[Fact, ...]:
    pages = sys / "kernel/mm/transparent_hugepage"
    mode = read(pages / "enabled")
    size = 0 if "[never]" in mode else _number(read(pages / "hpage_pmd_size"))
    nodes = {cpu.node for cpu in cpus if cpu.node is not None}
    return (
        Fact("memory_bytes", _kib_as_bytes(_describe(read(proc / "meminfo")).get("MemTotal")), PROBED),
        Fact("huge_page_bytes", size if mode else None, PROBED),
        Fact("numa_nodes", len(nodes) or None, PROBED),
    )


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _kib_as_bytes(text: str | None) -> int | None:
    """Return the bytes of a size such as "32K" or "24684096 kB"; None when it is not one."""
    digits = (text or "").lower().removesuffix("kb").removesuffix("k").strip()
    return int(digits) * 1024 if digits.isdecimal() else None
