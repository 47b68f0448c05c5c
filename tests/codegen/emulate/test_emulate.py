"""Kernels rewritten for a CPU: what they call, what cannot be rewritten, and their numbers on a CPU OpenCL device."""

import re
from collections.abc import Iterator

import numpy as np
import pytest

from codegen import CompileFailed
from codegen.emulate import emulate
from codegen.xe.spirv import emit_spirv
from hal import Argument, Device, LaunchSpec, LaunchStep, list_devices, open_device, resolve_device
from tests.codegen.faults import FAULTS, Fault
from tests.codegen.xe.gemm_fixtures import FIXTURES, PREFETCH, RAGGED, Buffer, GemmFixture

HEAD = """
define spir_kernel void @gemm(ptr addrspace(1) %A, ptr addrspace(1) %B) !reqd_work_group_size !0 {
entry:
  %array = alloca [8 x i32], align 64
  %p = getelementptr i8, ptr %array, i64 16
  %v = load <4 x i32>, ptr %p, align 16
"""
TAIL = """
  ret void
}
!0 = !{i32 32, i32 1, i32 1}
"""


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda f: f.name)
def test_a_rewritten_kernel_becomes_spirv_without_the_gpus_builtins(fixture: GemmFixture) -> None:
    text = emulate(fixture.ll)
    assert "intel_sub_group_2d" not in text
    assert "matrix_mad_k16" not in text
    assert f"!1 = !{{i32 {fixture.local_size // 16}, i32 1, i32 1}}" in text
    assert emit_spirv(text)[:4] == b"\x03\x02\x23\x07"


def test_prefetches_go_and_each_builtin_is_defined_once() -> None:
    text = emulate(PREFETCH.ll)
    assert "prefetch" in PREFETCH.ll
    assert "prefetch" not in text
    defined = re.findall(r"^define internal .*@(\w+)\(", text, re.MULTILINE)
    assert sorted(defined) == sorted(set(defined))
    assert "xetune_emulated_bf16_bf16_matrix_mad_8" in defined


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("call spir_func void @something(i32 1)", "function something"),
        (
            "%x = call <8 x half> @_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_Dh("
            "<8 x i16> zeroinitializer, <8 x i32> zeroinitializer, <8 x half> zeroinitializer)",
            "an accumulator of <8 x half>",
        ),
        (
            "%e = extractelement <4 x i32> %v, i64 0\n  %q = getelementptr i32, ptr %array, i32 %e\n"
            "  %x = load i32, ptr %q, align 4",
            "a place in private memory that differs between lanes",
        ),
        ("%x = ptrtoint ptr %p to i64", "a private pointer used otherwise"),
        (
            '%x = atomicrmw nand ptr addrspace(1) %A, i32 1 syncscope("device") monotonic, align 4',
            "an atomic update by nand",
        ),
    ],
)
def test_what_is_not_emulated_is_refused(line: str, message: str) -> None:
    with pytest.raises(CompileFailed, match=re.escape(message)) as caught:
        emulate(f"{HEAD}  {line}{TAIL}")
    assert caught.value.stage == "emulated"


def test_a_kernel_must_say_its_work_group_size() -> None:
    with pytest.raises(CompileFailed, match="does not say its work-group size"):
        emulate(HEAD.replace(" !reqd_work_group_size !0", "") + TAIL)


@pytest.fixture(scope="module")
def cpu() -> Iterator[Device]:
    device = open_device(resolve_device("opencl-cpu", "b580", among=list_devices()))
    yield device
    device.close()


def _run(device: Device, fixture: GemmFixture, ll: str, buffers: tuple[Buffer, ...]) -> tuple[Buffer, Buffer, Buffer]:
    x, y, z = fixture.groups
    a, b, c = buffers
    launch = LaunchSpec(
        binary=emit_spirv(emulate(ll)),
        arguments=(
            Argument("A", "input", fixture.dtype_in, a.nbytes),
            Argument("B", "input", fixture.dtype_in, b.nbytes),
            Argument("C", "output", fixture.dtype_out, c.nbytes),
        ),
        steps=(LaunchStep("gemm", (0, 1, 2), (x * fixture.local_size // 16, y, z), (fixture.local_size // 16, 1, 1)),),
        subgroup_size=16,
        build_options="",
    )
    report = device.run(launch, buffers, None, 60)
    return a, b, report.outputs[2]


@pytest.mark.opencl
@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda f: f.name)
@pytest.mark.slow
def test_a_rewritten_kernel_agrees_with_float64(cpu: Device, fixture: GemmFixture) -> None:
    assert fixture.worst(_run(cpu, fixture, fixture.ll, fixture.operands())) < 1


@pytest.mark.opencl
def test_nothing_outside_of_the_matrices_is_touched(cpu: Device) -> None:
    a, b, c = RAGGED.operands()
    guard = 4096
    guarded = tuple(
        np.concatenate([x.reshape(-1), np.full(guard, np.nan, x.dtype)]) for x in (a, b, c)
    )  # a NaN that is read reaches C
    out = _run(cpu, RAGGED, RAGGED.ll, guarded)[2]
    assert np.isnan(out[-guard:]).all()
    assert RAGGED.worst((a, b, out[:-guard].reshape(c.shape))) < 1


@pytest.mark.opencl
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, id=fault.name, marks=() if number % 4 == 0 else pytest.mark.slow)
        for number, fault in enumerate(f for f in FAULTS if f.shows_on_devices)
    ],
)
def test_a_planted_fault_shows_on_the_device_too(cpu: Device, fault: Fault) -> None:
    assert fault.fixture.worst(_run(cpu, fault.fixture, fault.ll, fault.fixture.operands())) > 1
