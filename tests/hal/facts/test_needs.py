"""Facts that are missing to compile for a device or to predict its times are named."""

from dataclasses import replace

import pytest

from codegen.errors import Refused
from codegen.target import target_of
from hal import (
    NEEDS,
    XE_DEVICES,
    DeviceKind,
    Fact,
    JobTimes,
    Runtime,
    TimeKind,
    Use,
    find,
    job_times,
    readiness,
    untargetable_reason,
)
from hal.devices.listed import listed
from hal.facts.needs import CPU_NEEDS
from hal.facts.spec import (
    PROBED,
    DeviceSpec,
    spec_from_facts,
)


def without(spec: DeviceSpec, *names: str) -> DeviceSpec:
    """Return the device with these facts unknown."""
    provenance = {name: source for name, source in spec.provenance.items() if name not in names}
    return replace(spec, provenance=provenance, **dict.fromkeys(names))


def test_a_device_whose_facts_are_known_is_ready_for_all() -> None:
    wide = ("max1550", "max1100", "b580", "b570", "b60", "lunar-lake", "panther-lake-12xe")
    for id in (*wide, "a770", "arl-h", "mtl", "mtl-u"):
        assert all(use.ready and not use.missing for use in readiness(find(id))), id


def test_missing_facts_are_named() -> None:
    compiled, predicted = readiness(without(find("b580"), "clock_mhz", "xe_cores"))
    assert compiled.ready
    assert (predicted.missing, predicted.reason) == (("xe_cores", "clock_mhz"), "not known: xe_cores, clock_mhz")


@pytest.mark.parametrize("fact", NEEDS[Use.COMPILE])
def test_without_a_fact_that_compiling_needs_the_target_is_refused(fact: str) -> None:
    spec = without(find("b580"), fact)
    if fact != "grf_modes":  # a device that does not tell its modes is compiled for without asking for one
        with pytest.raises(Refused, match="Intel Arc B580"):
            target_of(spec)
    assert readiness(spec)[0].missing == (fact,)
    assert not readiness(spec)[0].ready


CPU = spec_from_facts(
    "cpu-a-2c",
    "A CPU",
    DeviceKind.CPU,
    [
        *(Fact("architecture", "x86_64", PROBED), Fact("target", "x86-64", PROBED), Fact("cores", 2, PROBED)),
        *(Fact("isa", ("avx2", "fma"), PROBED), Fact("l1_bytes", 48 << 10, PROBED), Fact("l2_bytes", 1 << 20, PROBED)),
    ],
)


def test_a_cpu_is_compiled_for_and_not_predicted() -> None:
    compiled, predicted = readiness(CPU)
    assert (compiled.ready, compiled.missing) == (True, ())
    assert (predicted.ready, predicted.missing) == (False, ())
    assert predicted.reason == "there is no model of CPUs; times are measured where the CPU is"


def test_what_is_for_gpus_refuses_a_cpu() -> None:
    with pytest.raises(Refused, match="A CPU is a CPU and this is for GPUs: name one"):
        target_of(CPU)


@pytest.mark.parametrize("fact", CPU_NEEDS[Use.COMPILE])
def test_what_a_cpu_does_not_tell_is_named(fact: str) -> None:
    compiled, _ = readiness(without(CPU, fact))
    assert (compiled.ready, compiled.missing) == (False, (fact,))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"architecture": "aarch64"}, "kernels are made for x86-64 CPUs, it is aarch64"),
        ({"isa": ("avx", "f16c")}, "it has no AVX2 with FMA"),
    ],
)
def test_a_cpu_that_kernels_are_not_made_for_says_why(change: dict[str, object], reason: str) -> None:
    assert untargetable_reason(replace(CPU, **change)) == reason


@pytest.mark.parametrize(
    ("id", "reason"),
    [
        ("max1550vg", "Intel Data Center GPU Max 1550VG, one stack: no compiler target is known for it"),
        ("wildcat-lake", "Intel Wildcat Lake: no compiler target is known for it"),
        ("nvl-s", "Intel Nova Lake-S: no compiler target is known for it"),
        ("crescent-island", "Intel Crescent Island: no compiler target is known for it"),
    ],
)
def test_a_refusal_names_the_device_and_all_that_stands_against_it(id: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        target_of(find(id))
    assert reason in str(refused.value)


def test_every_device_that_can_be_compiled_for_has_a_target_and_no_other() -> None:
    for row in XE_DEVICES:
        if readiness(row.spec)[0].ready:
            assert target_of(row.spec).chip == row.spec.target
        else:
            with pytest.raises(Refused):
                target_of(row.spec)


def test_a_job_gets_times_only_from_a_device_that_runs_or_a_model_that_knows_it() -> None:
    gpu = find("b580")
    without_blocks = without(gpu, "block2d")
    here = listed(gpu, Runtime.OPENCL, "opencl:0:0", runnable=True)
    assert job_times(here).kind is TimeKind.MEASURED
    assert job_times(replace(here, spec=without_blocks)).reason == "it is not known to have 2-D block loads"
    assert job_times(listed(gpu, Runtime.PCI, None, runnable=False)).kind is TimeKind.PREDICTED
    assert job_times(listed(without(gpu, "clock_mhz"), Runtime.TABLE, None, runnable=False)).kind is None
    assert job_times(listed(CPU, Runtime.HOST, "native", runnable=True)).kind is TimeKind.MEASURED
    assert job_times(listed(CPU, Runtime.HOST, None, runnable=False)).kind is None
    assert job_times(listed(gpu, Runtime.SIMULATED, None, runnable=False)) == JobTimes(
        None, "it accepts kernels and executes none"
    )
