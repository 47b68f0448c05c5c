"""Specification of a device: plain facts, each with its provenance."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from types import MappingProxyType

PROBED = "probed"
DERIVED = "derived"  # followed by ": " and how


class DeviceKind(StrEnum):
    """Kind of processor of a device."""

    GPU = "gpu"
    CPU = "cpu"


def table(source: str) -> str:
    """Return the provenance of a fact that a table states: `table:<source>`."""
    return f"table:{source}"


def derived(how: str) -> str:
    """Return the provenance of a fact that follows from others: `derived: <how>`."""
    return f"{DERIVED}: {how}"


@dataclass(frozen=True, slots=True)
class Fact:
    """One known fact: its name, value, and provenance (`probed`, `table:<source>` or `derived: <how>`)."""

    name: str
    value: object
    provenance: str


@dataclass(frozen=True, slots=True)
class DeviceSpec:
    """Facts of one device. An unknown fact is None and has no provenance.

    `id` is the stable name people and databases use ("b580", "opencl-cpu-as-b580"). `emulates` is the id of
    the Xe GPU whose kernels this device runs with emulated built-ins; then the code-relevant facts are that
    GPU's, and times are labelled "DPAS emulated".

    Raises:
        ValueError: a known fact without provenance, provenance for an unknown fact, or not one number of threads for
            each of `grf_modes`.
    """

    id: str
    name: str
    kind: DeviceKind
    emulates: str | None = None
    provenance: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)

    # Identity
    architecture: str | None = None
    target: str | None = None  # name for the compilers: a chip ("pvc", "bmg", "lnl-m", "ptl-h") or "x86-64"
    pci_ids: tuple[str, ...] | None = None
    ip_version: str | None = None
    driver: str | None = None

    # Facts that code depends on (Xe)
    grf_bytes: int | None = None  # bytes in one general register
    grf_modes: tuple[int, ...] | None = None  # registers a thread may have
    subgroup_sizes: tuple[int, ...] | None = None
    dpas_m: int | None = None  # rows of one DPAS (repeat count)
    dpas_n: int | None = None  # columns of one DPAS (execution size)
    dpas_k_bytes: int | None = None  # depth of one DPAS: 32 bytes of K, 16 elements of f16
    fp64: bool | None = None  # arithmetic of f64
    block2d: bool | None = None  # 2-D block loads and stores
    block2d_max_rows: int | None = None
    block2d_max_width_bytes: int | None = None
    block2d_pitch_multiple_bytes: int | None = None
    block2d_min_width_bytes: int | None = None
    block2d_base_alignment_bytes: int | None = None
    max_slm_bytes: int | None = None  # shared local memory one work-group may have
    max_workgroup_size: int | None = None  # work-items
    named_barriers_per_core: int | None = None
    bf16_conversions: bool | None = None  # instructions that convert bf16
    refused_types: tuple[str, ...] | None = None  # of operands, with which kernels fail

    # Facts that performance depends on
    xe_cores: int | None = None
    eus_per_core: int | None = None
    threads_per_eu: int | None = None  # with the smallest GRF mode
    threads_per_eu_large_grf: int | None = None
    threads_per_eu_by_grf_mode: tuple[int, ...] | None = None  # in the order of grf_modes
    dpas_f16_fma_per_clk_per_eu: int | None = None
    dpas_i8_mac_per_clk_per_eu: int | None = None
    dpas_tf32_fma_per_clk_per_eu: int | None = None
    f32_fma_per_clk_per_eu: int | None = None  # of the vector units
    sustained_f16_fma_per_clk_per_eu: float | None = None  # reached by a DPAS loop in steady state
    sustained_i8_mac_per_clk_per_eu: float | None = None
    sustained_tf32_fma_per_clk_per_eu: float | None = None
    clock_mhz: int | None = None  # the maximum, at which peak figures are stated
    nominal_clock_mhz: int | None = None
    slm_bytes_per_core: int | None = None
    l1_bytes: int | None = None  # of one core
    l2_bytes: int | None = None  # GPU: of the device; CPU: of the cache that `cores_per_l2` cores share
    l3_bytes: int | None = None  # CPU: of the cache that `cores_per_l3` cores share
    memory_bytes: int | None = None
    memory_side_cache_bytes: int | None = None  # between the GPU and memory, shared with the CPU
    l1_bytes_per_clk_per_core: int | None = None  # delivered by L1
    l2_bytes_per_clk_per_core: int | None = None
    bandwidth_bytes_per_s: int | None = None  # of memory, nominal
    measured_bandwidth_bytes_per_s: int | None = None  # of memory, reached by published programs

    # Host CPUs
    cores: int | None = None  # usable by this process; hardware threads of one core count once
    threads_per_core: int | None = None  # hardware threads
    isa: tuple[str, ...] | None = None  # "avx2", "avx512f", "avx512_bf16", "amx_bf16", ...
    amx_permitted: bool | None = None  # the kernel grants the tile registers to a process; None where the CPU has none
    vector_bytes: int | None = None  # of one vector register
    vector_registers: int | None = None  # that an instruction can address
    cores_per_l2: int | None = None  # of those that this process may use
    l2_ways: int | None = None  # lines of each set of a second-level cache
    cores_per_l3: int | None = None
    bf16_fma_per_clk_per_core: int | None = None  # of the vector units, by instructions that multiply pairs
    line_bytes: int | None = None  # of a cache line
    huge_page_bytes: int | None = None  # of huge pages available to programs; 0 if the system has none
    numa_nodes: int | None = None  # NUMA nodes of the cores

    def __post_init__(self) -> None:
        object.__setattr__(self, "provenance", MappingProxyType(dict(self.provenance)))
        known = {name for name in FACT_NAMES if getattr(self, name) is not None}
        if known != set(self.provenance):
            bare, ghosts = known - set(self.provenance), set(self.provenance) - known
            raise ValueError(
                f"DeviceSpec {self.id}: every known fact needs a provenance and only those; "
                f"without: {sorted(bare)}, for unknown facts: {sorted(ghosts)}"
            )
        modes, threads = self.grf_modes, self.threads_per_eu_by_grf_mode
        if modes is not None and threads is not None and len(modes) != len(threads):
            raise ValueError(
                f"DeviceSpec {self.id}: expected a number in threads_per_eu_by_grf_mode for each of grf_modes {modes}, "
                f"got {threads}"
            )

    def facts(self) -> Iterator[Fact]:
        """Return the known facts, in the order of the fields."""
        for name in FACT_NAMES:
            if (value := getattr(self, name)) is not None:
                yield Fact(name, value, self.provenance[name])

    def __reduce__(self) -> tuple[object, ...]:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return _rebuild, (values | {"provenance": dict(self.provenance)},)


def spec_from_facts(
    id: str, name: str, kind: DeviceKind, facts: Iterable[Fact], emulates: str | None = None
) -> DeviceSpec:
    """Return the spec with these `facts`: the first of two facts of one name wins; a value of None is ignored."""
    chosen: dict[str, Fact] = {}
    for fact in facts:
        if fact.value is not None:
            chosen.setdefault(fact.name, fact)
    values: dict[str, object] = {"id": id, "name": name, "kind": kind, "emulates": emulates}
    values |= {fact.name: fact.value for fact in chosen.values()}
    return _rebuild(values | {"provenance": {fact.name: fact.provenance for fact in chosen.values()}})


def _rebuild(values: dict[str, object]) -> DeviceSpec:
    return DeviceSpec(**values)  # pyright: ignore[reportArgumentType]


FACT_NAMES = tuple(f.name for f in fields(DeviceSpec) if f.name not in {"id", "name", "kind", "emulates", "provenance"})
