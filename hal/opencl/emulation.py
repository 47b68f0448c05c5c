"""OpenCL CPU device that emulates an Xe GPU: the GPU's kernels run there with emulated built-ins."""

from hal.facts.spec import (
    DeviceSpec,
    Fact,
    spec_from_facts,
)

PREFIX = "opencl-cpu-as-"

_OF_THE_GPU = frozenset({
    "architecture",
    "target",
    "ip_version",
    "grf_bytes",
    "grf_modes",
    "subgroup_sizes",
    "dpas_m",
    "dpas_n",
    "dpas_k_bytes",
    "block2d",
    "block2d_max_rows",
    "block2d_max_width_bytes",
    "block2d_pitch_multiple_bytes",
    "block2d_min_width_bytes",
    "block2d_base_alignment_bytes",
    "bf16_conversions",
})  # fmt: skip
_OF_THE_CPU = frozenset({"driver", "cores", "isa", "l1_bytes", "l2_bytes", "l3_bytes", "memory_bytes"})
_THE_SMALLER = ("max_slm_bytes", "max_workgroup_size")


def emulated_spec(cpu: DeviceSpec, xe: DeviceSpec) -> DeviceSpec:
    """Return the spec of `cpu` running kernels for `xe`.

    Facts that code depends on are the GPU's, work-group and local memory limits fit both, and facts that
    performance depends on are the CPU's: times taken there say nothing about the GPU.
    """
    facts = [fact for fact in xe.facts() if fact.name in _OF_THE_GPU]
    facts += [fact for fact in cpu.facts() if fact.name in _OF_THE_CPU]
    facts += [fact for name in _THE_SMALLER if (fact := _smaller(name, cpu, xe)) is not None]
    return spec_from_facts(f"{PREFIX}{xe.id}", f"{cpu.name} as {xe.name}", cpu.kind, facts, emulates=xe.id)


def _smaller(name: str, cpu: DeviceSpec, xe: DeviceSpec) -> Fact | None:
    known = [fact for spec in (xe, cpu) for fact in spec.facts() if fact.name == name]
    return min(known, key=lambda fact: int(str(fact.value)), default=None)
