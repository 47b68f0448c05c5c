"""The host CPU is told as Linux tells it, and what Linux does not tell is None."""

import os
from pathlib import Path

import pytest

from hal import FACT_NAMES
from hal.facts.cores import (
    LogicalCpu,
    cpus_of_list,
    pinning_order,
    usable_cpus,
)
from hal.facts.cpu import probe_cpu
from hal.facts.spec import (
    DERIVED,
    PROBED,
)

CPUINFO = """processor\t: 0
cpu family\t: 6
model\t\t: 143
model name\t: Example(R) Xeon(R) Platinum 8488C CPU @ 2.40GHz
microcode\t: 0x2b0
flags\t\t: fpu sse avx avx2 avx512f avx512_bf16 amx_tile amx_bf16 f16c fma fsrm

processor\t: 1
model name\t: Another
flags\t\t: fpu
"""
_OF_CACHES = ("level", "type", "size", "ways_of_associativity", "shared_cpu_list")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def machine(root: Path, monkeypatch: pytest.MonkeyPatch, cpuinfo: str = CPUINFO) -> tuple[Path, Path]:
    """Four cores of two threads, of which CPUs 1, 2, 5 and 7 may be used; pairs of cores share an L3 and a memory."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 2, 5, 7})
    proc, sys = root / "proc", root / "sys"
    write(proc / "cpuinfo", cpuinfo)
    write(proc / "meminfo", "MemTotal:       24684096 kB\nMemFree: 1 kB")
    for cpu in range(8):
        folder = sys / f"devices/system/cpu/cpu{cpu}"
        core = cpu % 4
        half = "0-1,4-5" if core < 2 else "2-3,6-7"
        write(folder / "topology/thread_siblings_list", f"{core},{core + 4}")
        (folder / f"node{core // 2}").mkdir()
        caches = (
            ("1", "Data", "48K", "12", f"{core},{core + 4}"),
            ("1", "Instruction", "32K", "8", f"{core},{core + 4}"),
            ("2", "Unified", "2048K", "16", f"{core},{core + 4}"),
            ("3", "Unified", "107520K", "15", half),
        )
        for number, values in enumerate(caches):
            for name, value in zip(_OF_CACHES, values, strict=True):
                write(folder / f"cache/index{number}/{name}", value)
            write(folder / f"cache/index{number}/coherency_line_size", "64")
    return proc, sys


def test_caches_instruction_sets_and_memory_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = probe_cpu(*machine(tmp_path, monkeypatch))
    assert spec.name == "Example(R) Xeon(R) Platinum 8488C CPU @ 2.40GHz"
    assert spec.isa == ("amx_bf16", "amx_tile", "avx", "avx2", "avx512_bf16", "avx512f", "f16c", "fma")
    assert (spec.vector_bytes, spec.vector_registers) == (64, 32)
    assert (spec.l1_bytes, spec.l2_bytes, spec.l3_bytes, spec.line_bytes) == (48 << 10, 2 << 20, 105 << 20, 64)
    assert spec.l2_ways == 16
    assert spec.memory_bytes == 24684096 * 1024
    assert all(source == PROBED or source.startswith(DERIVED) for source in spec.provenance.values())


def test_the_rate_of_bf16_is_told_of_models_on_which_it_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = CPUINFO.replace("cpu family", "vendor_id\t: GenuineIntel\ncpu family", 1).replace(": 143", ": 207", 1)
    specs = [
        probe_cpu(*machine(tmp_path / str(number), monkeypatch, text)) for number, text in enumerate((CPUINFO, known))
    ]
    assert [spec.bf16_fma_per_clk_per_core for spec in specs] == [None, 16]


def test_cores_are_counted_as_far_as_they_may_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = probe_cpu(*machine(tmp_path, monkeypatch))  # CPUs 1 and 5 are one core
    assert (spec.cores, spec.threads_per_core, spec.numa_nodes) == (3, 2, 2)
    assert (spec.cores_per_l2, spec.cores_per_l3) == (1, 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 5})
    spec = probe_cpu(tmp_path / "proc", tmp_path / "sys")
    assert (spec.cores, spec.cores_per_l2, spec.cores_per_l3) == (3, 1, 2)


@pytest.mark.parametrize(
    ("groups", "files", "cores"),
    [
        ("0::/a/b", {"a/b/cpu.max": "max 100000", "a/cpu.max": "250000 100000"}, 2),
        ("0::/hidden", {"cpu.max": "50000 100000"}, 1),
        ("0::/a", {"a/cpu.max": "400000 100000"}, 3),
        ("0::/a", {"a/cpu.max": "max 100000"}, 3),
        ("4:cpu,cpuacct:/x", {"cpu/x/cpu.cfs_quota_us": "100000", "cpu/x/cpu.cfs_period_us": "50000"}, 2),
        ("4:cpu,cpuacct:/x", {"cpu,cpuacct/cpu.cfs_quota_us": "-1", "cpu,cpuacct/cpu.cfs_period_us": "50000"}, 3),
        ("5:memory:/x", {"memory/x/cpu.max": "100000 100000"}, 3),
    ],
)
def test_a_limit_of_cpu_time_leaves_fewer_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, groups: str, files: dict[str, str], cores: int
) -> None:
    proc, sys = machine(tmp_path, monkeypatch)
    write(proc / "self/cgroup", groups)
    for name, text in files.items():
        write(sys / "fs/cgroup" / name, text)
    spec = probe_cpu(proc, sys)
    assert spec.cores == cores
    assert spec.provenance["cores"].startswith(PROBED if cores == 3 else f"{DERIVED}: of 3 ")
    assert spec.id.endswith(f"-{cores}c")


def test_threads_take_each_core_once_before_any_twice_and_one_memory_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, sys = machine(tmp_path, monkeypatch)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 2, 4, 5, 6, 7})
    assert pinning_order(usable_cpus(sys)) == (1, 4, 2, 7, 5, 6)


def test_an_id_is_of_the_model_and_the_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proc, sys = machine(tmp_path, monkeypatch)
    assert probe_cpu(proc, sys).id == "cpu-example-xeon-platinum-8488c-3c"
    named = (
        ("AMD EPYC 9654 96-Core Processor", "cpu-amd-epyc-9654-3c"),
        ("AMD EPYC", "cpu-amd-epyc-f26m2-3c"),
        ("Intel Xeon Processor (SapphireRapids)", "cpu-intel-xeon-sapphirerapids-f26m2-3c"),
    )
    for name, id in named:
        write(proc / "cpuinfo", f"cpu family : 26\nmodel : 2\nmodel name : {name}\nflags : avx2")
        assert probe_cpu(proc, sys).id == id


def test_the_driver_says_what_times_depend_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proc, sys = machine(tmp_path, monkeypatch)
    release = os.uname()
    assert probe_cpu(proc, sys).driver == (
        f"Example(R) Xeon(R) Platinum 8488C CPU @ 2.40GHz, microcode 0x2b0, {release.sysname} {release.release}"
    )
    write(sys / "devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave")
    assert str(probe_cpu(proc, sys).driver).endswith(", governor powersave")


def test_clocks_are_those_of_the_system_else_of_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proc, sys = machine(tmp_path, monkeypatch)
    spec = probe_cpu(proc, sys)
    assert (spec.clock_mhz, spec.nominal_clock_mhz) == (None, 2400)
    assert spec.provenance["nominal_clock_mhz"] == "derived: the clock in its name"
    write(sys / "devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq", "3800000")
    write(sys / "devices/system/cpu/cpu1/cpufreq/base_frequency", "2000000")
    spec = probe_cpu(proc, sys)
    assert (spec.clock_mhz, spec.nominal_clock_mhz, spec.provenance["nominal_clock_mhz"]) == (3800, 2000, PROBED)


@pytest.mark.parametrize(
    ("mode", "size"), [("always [madvise] never", 2 << 20), ("always madvise [never]", 0), (None, None)]
)
def test_huge_pages_are_those_that_may_be_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str | None, size: int | None
) -> None:
    proc, sys = machine(tmp_path, monkeypatch)
    if mode is not None:
        write(sys / "kernel/mm/transparent_hugepage/enabled", mode)
        write(sys / "kernel/mm/transparent_hugepage/hpage_pmd_size", str(2 << 20))
    assert probe_cpu(proc, sys).huge_page_bytes == size


def test_permission_for_amx_is_asked_of_the_kernel_where_the_cpu_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proc, sys = machine(tmp_path, monkeypatch)
    for permitted in (True, False):
        monkeypatch.setattr("hal.facts.cpu.amx_permitted", lambda permitted=permitted: permitted)
        assert probe_cpu(proc, sys).amx_permitted is permitted
    write(proc / "cpuinfo", "flags : avx2 avx512f")
    assert probe_cpu(proc, sys).amx_permitted is None


def test_what_the_system_does_not_tell_is_none(tmp_path: Path) -> None:
    spec = probe_cpu(tmp_path / "nowhere", tmp_path / "nowhere")
    told = {"architecture", "target", "driver", "cores"}
    assert [name for name in FACT_NAMES if name not in told and getattr(spec, name) is not None] == []


def test_a_cpu_without_vector_extensions_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = probe_cpu(*machine(tmp_path, monkeypatch, "flags : fpu sse2\n"))
    assert (spec.isa, spec.vector_bytes, spec.vector_registers) == ((), 16, 16)


def test_another_machine_has_no_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proc, sys = machine(tmp_path, monkeypatch)
    assert (probe_cpu(proc, sys).architecture, probe_cpu(proc, sys).target) == ("x86_64", "x86-64")
    arm = os.uname_result(("Linux", "host", "6.8", "1", "aarch64"))
    monkeypatch.setattr(os, "uname", lambda: arm)
    assert (probe_cpu(proc, sys).architecture, probe_cpu(proc, sys).target) == ("aarch64", None)


def test_this_machine_claims_only_what_its_cpuinfo_holds() -> None:
    flags = Path("/proc/cpuinfo").read_text().partition("flags")[2].partition("\n")[0].split()
    assert set(probe_cpu().isa or ()) <= set(flags)


def test_a_list_of_cpus_is_numbers_and_ranges() -> None:
    assert cpus_of_list("0-2,7, 9-9") == (0, 1, 2, 7, 9)
    assert cpus_of_list("") == cpus_of_list("x-y") == ()


@pytest.mark.parametrize("count", [2, 4, 8, 16, 17, 64])
def test_where_cores_are_hidden_half_of_the_threads_share_none_however_cpus_are_numbered(count: int) -> None:
    order = pinning_order(tuple(LogicalCpu(number, number, None) for number in range(count)))
    assert sorted(order) == list(range(count))
    first = order[: count // 2]
    assert len({number // 2 for number in first}) == len(first)  # neighbours are one core
    assert len({number % (count // 2) for number in first}) == len(first)  # or CPUs half of all apart
