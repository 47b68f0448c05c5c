"""The host CPU is told as Linux tells it, and what Linux does not tell is None."""

import os
from pathlib import Path

import pytest

from hal.cpu import probe_cpu
from hal.spec import PROBED

CPUINFO = """processor\t: 0
model name\t: Example Xeon
flags\t\t: fpu sse avx avx2 avx512f avx512_bf16 amx_tile amx_bf16 fsrm

processor\t: 1
model name\t: Another
flags\t\t: fpu
"""


def machine(root: Path, cpuinfo: str) -> tuple[Path, Path]:
    proc, sys = root / "proc", root / "sys"
    proc.mkdir()
    (proc / "cpuinfo").write_text(cpuinfo)
    (proc / "meminfo").write_text("MemTotal:       24684096 kB\nMemFree: 1 kB\n")
    caches = (("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2048K"), ("3", "Unified", "107520K"))
    for number, values in enumerate(caches):
        folder = sys / f"devices/system/cpu/cpu0/cache/index{number}"
        folder.mkdir(parents=True)
        for name, value in zip(("level", "type", "size"), values, strict=True):
            (folder / name).write_text(value + "\n")
    return proc, sys


def test_caches_instruction_sets_and_memory_are_told(tmp_path: Path) -> None:
    spec = probe_cpu(*machine(tmp_path, CPUINFO))
    assert spec.name == "Example Xeon"
    assert spec.isa == ("amx_bf16", "amx_tile", "avx2", "avx512_bf16", "avx512f")
    assert (spec.l1_bytes, spec.l2_bytes, spec.l3_bytes) == (48 << 10, 2 << 20, 105 << 20)
    assert spec.memory_bytes == 24684096 * 1024
    assert set(spec.provenance.values()) == {PROBED}


def test_two_threads_of_one_core_are_one_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proc, sys = machine(tmp_path, CPUINFO)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    for cpu, siblings in enumerate(("0,2", "1,3", "0,2", "1,3")):
        folder = sys / f"devices/system/cpu/cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(siblings)
    assert probe_cpu(proc, sys).cores == 2


def test_what_the_system_does_not_tell_is_none(tmp_path: Path) -> None:
    spec = probe_cpu(tmp_path / "nowhere", tmp_path / "nowhere")
    assert (spec.isa, spec.l1_bytes, spec.l2_bytes, spec.l3_bytes, spec.memory_bytes) == (None,) * 5


def test_a_cpu_without_vector_extensions_has_none(tmp_path: Path) -> None:
    assert probe_cpu(*machine(tmp_path, "flags : fpu sse2\n")).isa == ()


def test_this_machine_claims_only_what_its_cpuinfo_holds() -> None:
    flags = Path("/proc/cpuinfo").read_text().partition("flags")[2].partition("\n")[0].split()
    assert set(probe_cpu().isa or ()) <= set(flags)
