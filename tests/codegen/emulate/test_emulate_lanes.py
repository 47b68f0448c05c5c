"""Rewritten kernels on a CPU OpenCL device agree in each lane with the simulated original."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.emulate import emulate
from codegen.simulate import run_kernel
from codegen.xe.spirv import emit_spirv
from hal import Argument, Device, LaunchSpec, LaunchStep, list_devices, open_device, resolve_device

pytestmark = pytest.mark.opencl

ITEMS = 64  # two work-groups of two sub-groups
HEAD = """
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64-G1"
target triple = "spirv64-unknown-unknown"
@slm = internal addrspace(3) global [256 x i8] undef, align 64
declare spir_func i64 @_Z12get_group_idj(i32)
declare spir_func i64 @_Z12get_local_idj(i32)
declare spir_func i32 @_Z16get_sub_group_id()
declare spir_func i32 @_Z22get_sub_group_local_id()
declare spir_func void @_Z7barrierj(i32)
declare spir_func float @_Z17sub_group_shufflefj(float, i32)
declare spir_func float @_Z21sub_group_shuffle_xorfj(float, i32)
declare spir_func <2 x float> @_Z23intel_sub_group_shuffleDv2_fj(<2 x float>, i32)
declare spir_func <2 x float> @_Z27intel_sub_group_shuffle_xorDv2_fj(<2 x float>, i32)
declare spir_func float @_Z20sub_group_reduce_addf(float)
declare float @llvm.maximum.f32(float, float)
declare void @llvm.memset.p3.i64(ptr addrspace(3), i8, i64, i1)
declare void @llvm.memcpy.p3.p1.i64(ptr addrspace(3), ptr addrspace(1), i64, i1)
declare void @llvm.memcpy.p0.p3.i64(ptr, ptr addrspace(3), i64, i1)
declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare i32 @llvm.usub.sat.i32(i32, i32)
declare i32 @llvm.uadd.sat.i32(i32, i32)
define spir_kernel void @gemm(ptr addrspace(1) %A, ptr addrspace(1) %C) !reqd_work_group_size !0 \
!intel_reqd_sub_group_size !1 {
entry:
  %group = call spir_func i64 @_Z12get_group_idj(i32 0)
  %local = call spir_func i64 @_Z12get_local_idj(i32 0)
  %start = shl i64 %group, 5
  %item = add i64 %start, %local
  %lane = call spir_func i32 @_Z22get_sub_group_local_id()
  %from = getelementptr float, ptr addrspace(1) %A, i64 %item
  %a = load float, ptr addrspace(1) %from, align 4
  %to = getelementptr float, ptr addrspace(1) %C, i64 %item
"""
TAIL = """
  ret void
}
!0 = !{i32 32, i32 1, i32 1}
!1 = !{i32 16}
"""
STORE = "\n  store float %r, ptr addrspace(1) %to, align 4"


def _of_pairs(exchange: str) -> str:
    """A case that exchanges the vector %v, of elements that differ, as %s."""
    return f"""
  %v0 = insertelement <2 x float> poison, float %a, i64 0
  %twice = fadd float %a, %a
  %v = insertelement <2 x float> %v0, float %twice, i64 1
  {exchange}
  %x = extractelement <2 x float> %s, i64 0
  %y = extractelement <2 x float> %s, i64 1
  %half = fmul float %y, 0.25
  %r = fsub float %x, %half"""


CASES = {
    "a value of its own": "%r = fmul float %a, %a",
    "another lane's value": "%r = call spir_func float @_Z21sub_group_shuffle_xorfj(float %a, i32 5)",
    "one lane's value": "%r = call spir_func float @_Z17sub_group_shufflefj(float %a, i32 3)",
    "the value of a lane that the lane chooses": """
  %w = mul i32 %lane, 3
  %which = and i32 %w, 15
  %r = call spir_func float @_Z17sub_group_shufflefj(float %a, i32 %which)""",
    "another lane's vector": _of_pairs(
        "%s = call spir_func <2 x float> @_Z27intel_sub_group_shuffle_xorDv2_fj(<2 x float> %v, i32 5)"
    ),
    "one lane's vector": _of_pairs(
        "%s = call spir_func <2 x float> @_Z23intel_sub_group_shuffleDv2_fj(<2 x float> %v, i32 3)"
    ),
    "the vector of a lane that the lane chooses": _of_pairs("""%w = mul i32 %lane, 3
  %which = and i32 %w, 15
  %s = call spir_func <2 x float> @_Z23intel_sub_group_shuffleDv2_fj(<2 x float> %v, i32 %which)"""),
    "the sum of all": "%r = call spir_func float @_Z20sub_group_reduce_addf(float %a)",
    "differences end at zero": """
  %d = call i32 @llvm.usub.sat.i32(i32 %lane, i32 7)
  %r = uitofp i32 %d to float""",
    "sums end at the greatest number": """
  %s = call i32 @llvm.uadd.sat.i32(i32 %lane, i32 -9)
  %d = sub i32 %s, -20
  %r = uitofp i32 %d to float""",
    "a NaN wins": "%r = call float @llvm.maximum.f32(float %a, float 0x7FF8000000000000)",
    "bf16": """
  %b = call spir_func i16 @_Z27__spirv_ConvertFToBF16INTELf(float %a)
  %r = call spir_func float @_Z27__spirv_ConvertBF16ToFINTELs(i16 %b)""",
    "vectors of bf16": """
  %v = insertelement <2 x float> splat (float 0x3FF0202020000000), float %a, i64 0
  %b = call spir_func <2 x i16> @_Z27__spirv_ConvertFToBF16INTELDv2_f(<2 x float> %v)
  %w = call spir_func <2 x float> @_Z27__spirv_ConvertBF16ToFINTELDv2_s(<2 x i16> %b)
  %x = extractelement <2 x float> %w, i64 0
  %y = extractelement <2 x float> %w, i64 1
  %r = fadd float %x, %y""",
    "bf16 that is the same in all lanes": """
  %p = getelementptr i16, ptr addrspace(1) %A, i64 %group
  %b = load i16, ptr addrspace(1) %p, align 2
  %w = call spir_func float @_Z27__spirv_ConvertBF16ToFINTELs(i16 %b)
  %r = fadd float %w, %a""",
    "vectors put together and taken apart": """
  %v0 = insertelement <4 x float> poison, float %a, i64 0
  %v1 = insertelement <4 x float> %v0, float 2.0, i64 1
  %v2 = shufflevector <4 x float> %v1, <4 x float> poison, <4 x i32> <i32 1, i32 0, i32 1, i32 0>
  %v3 = call <4 x float> @llvm.fma.v4f32(<4 x float> %v2, <4 x float> %v2, <4 x float> splat (float 1.0))
  %v4 = shufflevector <4 x float> %v3, <4 x float> poison, <2 x i32> <i32 1, i32 2>
  %x = extractelement <2 x float> %v4, i64 0
  %y = extractelement <2 x float> %v4, i64 1
  %r = fadd float %x, %y""",
    "elements of another size": """
  %bits = bitcast float %a to <2 x i16>
  %low = extractelement <2 x i16> %bits, i64 0
  %wide = zext i16 %low to i32
  %r = uitofp i32 %wide to float""",
    "private memory with elements of two sizes": """
  %p = alloca [4 x i32], align 16
  store float %a, ptr %p, align 4
  %high = getelementptr i8, ptr %p, i64 2
  %half = load i16, ptr %high, align 2
  %wide = zext i16 %half to i32
  %r = uitofp i32 %wide to float""",
    "a place in private memory that is known only at run time": """
  %p = alloca [4 x i32], align 16
  store <4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>, ptr %p, align 16
  %at = and i64 %group, 1
  %q = getelementptr float, ptr %p, i64 %at
  %one = load float, ptr %q, align 4
  %r = fadd float %one, %a""",
    "shared memory behind a barrier": """
  %off = shl i64 %local, 2
  %s = getelementptr i8, ptr addrspace(3) @slm, i64 %off
  store float %a, ptr addrspace(3) %s, align 4
  call spir_func void @_Z7barrierj(i32 3)
  %other = xor i64 %local, 21
  %o = shl i64 %other, 2
  %start32 = ptrtoint ptr addrspace(3) @slm to i32
  %o32 = trunc i64 %o to i32
  %address = add i32 %start32, %o32
  %p = inttoptr i32 %address to ptr addrspace(3)
  %r = load float, ptr addrspace(3) %p, align 4""",
    "bytes set and copied": """
  %off = shl i64 %local, 3
  %s = getelementptr i8, ptr addrspace(3) @slm, i64 %off
  call void @llvm.memset.p3.i64(ptr addrspace(3) noundef align 8 %s, i8 63, i64 4, i1 false)
  %next = getelementptr i8, ptr addrspace(3) %s, i64 4
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) %next, ptr addrspace(1) %from, i64 4, i1 false)
  %p = alloca [2 x i32], align 8
  call void @llvm.memcpy.p0.p3.i64(ptr %p, ptr addrspace(3) %s, i64 8, i1 false)
  %both = load <2 x float>, ptr %p, align 8
  %x = extractelement <2 x float> %both, i64 0
  %y = extractelement <2 x float> %both, i64 1
  %r = fadd float %x, %y""",
    "a branch that lanes part at": """
  %bit = and i32 %lane, 1
  %odd = icmp ne i32 %bit, 0
  br i1 %odd, label %one, label %two
one:
  %x = fmul float %a, 2.0
  br label %three
two:
  %y = fadd float %a, 1.0
  br label %three
three:
  %r = phi float [ %x, %one ], [ %y, %two ]""",
    "as many rounds as the lane says": """
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %more, %latch ]
  %sum = phi float [ 0.0, %entry ], [ %new, %latch ]
  %skip = icmp eq i32 %n, 2
  br i1 %skip, label %latch, label %body
body:
  %added = fadd float %sum, %a
  br label %latch
latch:
  %new = phi float [ %sum, %loop ], [ %added, %body ]
  %more = add i32 %n, 1
  %again = icmp ult i32 %more, %lane
  br i1 %again, label %loop, label %done
done:
  %rounds = uitofp i32 %more to float
  %r = fadd float %new, %rounds""",
    "a branch within a branch, where the loop's counter stays the same in all lanes": """
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %more, %latch ]
  %small = icmp ult i32 %lane, 9
  br i1 %small, label %first, label %latch
first:
  %tiny = icmp ult i32 %lane, %n
  br i1 %tiny, label %second, label %latch
second:
  store float 7.0, ptr addrspace(1) %to, align 4
  br label %latch
latch:
  %more = add i32 %n, 1
  %again = icmp ult i32 %more, 5
  br i1 %again, label %loop, label %done
done:
  %old = load float, ptr addrspace(1) %to, align 4
  %r = fadd float %old, %a""",
    "a switch": """
  %kind = and i32 %lane, 3
  switch i32 %kind, label %other [ i32 0, label %zero i32 2, label %two ]
zero:
  br label %done
two:
  br label %done
other:
  br label %done
done:
  %r = phi float [ 1.0, %zero ], [ 2.0, %two ], [ %a, %other ]""",
    "a switch with cases that are one": """
  %kind = and i32 %lane, 3
  switch i32 %kind, label %done [ i32 0, label %even i32 2, label %even ]
even:
  %more = fadd float %a, 1.0
  br label %done
done:
  %r = phi float [ %more, %even ], [ %a, %entry ]""",
    "lanes that return early": """
  %small = icmp ult i32 %lane, 5
  br i1 %small, label %gone, label %rest
gone:
  ret void
rest:
  %r = fmul float %a, 3.0""",
    "division where other lanes divide by nothing": """
  %zero = icmp eq i32 %lane, 0
  br i1 %zero, label %done, label %divide
divide:
  %q = udiv i32 100, %lane
  br label %done
done:
  %w = phi i32 [ 1, %entry ], [ %q, %divide ]
  %r = uitofp i32 %w to float""",
}


@pytest.fixture(scope="module")
def cpu() -> Iterator[Device]:
    device = open_device(resolve_device("opencl-cpu", "b580", among=list_devices()))
    yield device
    device.close()


def _on_device(cpu: Device, ll: str, buffers: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    a, c = buffers
    launch = LaunchSpec(
        binary=emit_spirv(emulate(ll)),
        arguments=(Argument("A", "input", "f32", a.nbytes), Argument("C", "inout", "f32", c.nbytes)),
        steps=(LaunchStep("gemm", (0, 1), (ITEMS // 16, 1, 1), (2, 1, 1)),),
        subgroup_size=16,
        build_options="",
    )
    return np.asarray(cpu.run(launch, (a, c), None, 60).outputs[1], np.float32)


def _both(cpu: Device, ll: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    a = np.random.default_rng(3).standard_normal(ITEMS).astype(np.float32)
    c = np.full(ITEMS, 5, np.float32)
    found = _on_device(cpu, ll, (a, c))
    run_kernel(ll, "gemm", (2, 1, 1), (32, 1, 1), [a, c])
    return found, c


@pytest.mark.parametrize("body", CASES.values(), ids=CASES.keys())
def test_lanes_do_what_they_did(cpu: Device, body: str) -> None:
    found, expected = _both(cpu, HEAD + "  " + body + STORE + TAIL)
    assert not np.array_equal(expected, np.full(ITEMS, 5, np.float32))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("type_", ["float", "i32"])
def test_atomics_of_all_lanes_add_up(cpu: Device, type_: str) -> None:
    operation, value = ("fadd", "1.0") if type_ == "float" else ("add", "1")
    body = f"""
  %few = icmp ult i32 %lane, 9
  br i1 %few, label %add, label %done
add:
  %bit = and i32 %lane, 1
  %at = getelementptr {type_}, ptr addrspace(1) %C, i32 %bit
  %old = atomicrmw {operation} ptr addrspace(1) %at, {type_} {value} syncscope("device") monotonic, align 4
  br label %done
done:"""
    found, expected = _both(cpu, HEAD + body + TAIL)
    np.testing.assert_array_equal(found.view(np.int32), expected.view(np.int32))
    assert found[0] != 5
