"""CPUs that tests tune for, none of them this machine's."""

from hal import DeviceKind, DeviceSpec, Fact
from hal.facts.spec import (
    spec_from_facts,
    table,
)

_AVX2 = ("avx2",)
_AVX512 = (*_AVX2, "avx512f", "avx512bw", "avx512vl", "avx512dq")
_ZEN = (*_AVX512, "avx512_bf16", "avx512_vnni", "avx_vnni")
_RAPIDS = (*_ZEN, "amx_tile", "amx_bf16", "amx_int8")


def cpu(isa: tuple[str, ...] | None, cores: int = 4, **facts: object) -> DeviceSpec:
    """A CPU of these flags, with 48 KiB of L1 and 2 MiB of L2 a core."""
    known = {"architecture": "x86_64", "isa": isa, "cores": cores, "l1_bytes": 49152, "l2_bytes": 2**21} | facts
    return spec_from_facts(
        "cpu-test", "test CPU", DeviceKind.CPU, [Fact(name, value, table("test")) for name, value in known.items()]
    )


OLD, PLAIN, ZEN, RAPIDS = cpu(_AVX2), cpu(_AVX512), cpu(_ZEN), cpu(_RAPIDS)
