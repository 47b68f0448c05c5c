"""Restrictions of a device: features that its jobs do without, because kernels that use them fail there.

A restriction changes facts of the device, so that the rules of legality refuse what it excludes.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from enum import StrEnum

from codegen.config.cpu import Isa
from hal import DeviceSpec, Fact
from hal.facts.spec import derived, spec_from_facts


class Restriction(StrEnum):
    """A restriction by the name that users see."""

    NO_BLOCK2D = "no-block2d"
    NO_GRF_128 = "no-grf-128"
    NO_GRF_256 = "no-grf-256"
    NO_SLM = "no-slm"
    NO_BF16_CONVERSIONS = "no-bf16-conversions"
    NO_AMX = "no-amx"
    NO_AVX512 = "no-avx512"
    NO_BF16 = "no-bf16"
    NO_BYTES = "no-bytes"

    @property
    def effect(self) -> str:
        """Effect on the kernels of jobs."""
        return _EFFECTS[self]


_EFFECTS: Mapping[Restriction, str] = {
    Restriction.NO_BLOCK2D: "no 2-D block messages",
    Restriction.NO_GRF_128: "256 registers only",
    Restriction.NO_GRF_256: "128 registers only",
    Restriction.NO_SLM: "no shared local memory",
    Restriction.NO_BF16_CONVERSIONS: "bf16 converted by integer operations",
    Restriction.NO_AMX: "no AMX",
    Restriction.NO_AVX512: "AVX2 only",
    Restriction.NO_BF16: "no bf16",
    Restriction.NO_BYTES: "no s8 and u8",
}
REFUSED_TYPES: Mapping[Restriction, tuple[str, ...]] = {
    Restriction.NO_BF16: ("bf16",),
    Restriction.NO_BYTES: ("s8", "u8"),
}
"""Types of operands with which jobs are refused."""


def effect_of(name: str) -> str:
    """Return the effect of a restriction by name; the name itself if it is another version's."""
    return Restriction(name).effect if name in set(Restriction) else name


def restrict_device(spec: DeviceSpec, restrictions: Collection[Restriction]) -> DeviceSpec:
    """Return the device with facts that exclude what the restrictions name; each of these is derived from them."""
    for restriction in Restriction:
        if restriction in restrictions:
            spec = _with(spec, _CHANGES[restriction](spec), restriction)
    return spec


def _with(spec: DeviceSpec, changes: Mapping[str, object], by: Restriction) -> DeviceSpec:
    changed = [Fact(name, value, derived(f"`xetune doctor`, {by}")) for name, value in changes.items()]
    return spec_from_facts(spec.id, spec.name, spec.kind, (*changed, *spec.facts()), spec.emulates)


def _without_mode(mode: int) -> Callable[[DeviceSpec], Mapping[str, object]]:
    def changes(spec: DeviceSpec) -> Mapping[str, object]:
        modes, threads = spec.grf_modes or (), spec.threads_per_eu_by_grf_mode
        kept = [place for place, registers in enumerate(modes) if registers != mode]
        changed: dict[str, object] = {"grf_modes": tuple(modes[place] for place in kept)}
        if threads is not None:
            changed["threads_per_eu_by_grf_mode"] = tuple(threads[place] for place in kept)
        return changed

    return changes


_FASTER = {
    Isa.AMX: (),
    Isa.AVX512: ("amx",),
    Isa.AVX512_F32: ("amx", "avx512_bf16"),
    Isa.AVX2: ("amx", "avx512"),
}
"""Beginnings of the flags of faster instructions."""


def within(spec: DeviceSpec, isa: Isa) -> DeviceSpec:
    """Return a CPU without instructions faster than `isa`."""
    if spec.isa is None:
        return spec
    spec = replace(spec, isa=tuple(f for f in spec.isa if not f.startswith(_FASTER[isa])))
    if isa is not Isa.AVX512:
        return spec
    others = (fact for fact in spec.facts() if fact.name != "bf16_fma_per_clk_per_core")
    return spec_from_facts(spec.id, spec.name, spec.kind, others, spec.emulates)


def _within(isa: Isa) -> Callable[[DeviceSpec], Mapping[str, object]]:
    return lambda spec: {"isa": within(spec, isa).isa}


def _refusing(*types: str) -> Callable[[DeviceSpec], Mapping[str, object]]:
    return lambda spec: {"refused_types": tuple(dict.fromkeys((*(spec.refused_types or ()), *types)))}


_CHANGES: Mapping[Restriction, Callable[[DeviceSpec], Mapping[str, object]]] = {
    Restriction.NO_BLOCK2D: lambda _: {"block2d": False},
    Restriction.NO_GRF_128: _without_mode(128),
    Restriction.NO_GRF_256: _without_mode(256),
    Restriction.NO_SLM: lambda _: {"max_slm_bytes": 0},
    Restriction.NO_BF16_CONVERSIONS: lambda _: {"bf16_conversions": False},
    Restriction.NO_AMX: _within(Isa.AVX512),
    Restriction.NO_AVX512: _within(Isa.AVX2),
    **{restriction: _refusing(*types) for restriction, types in REFUSED_TYPES.items()},
}
