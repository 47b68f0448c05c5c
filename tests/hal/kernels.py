"""Small SPIR-V kernels for tests of devices: additions, some that hang, write out of bounds, or ask for much."""

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from codegen.xe.spirv import emit_spirv
from hal import Argument, Buffer, LaunchSpec, LaunchStep, Role, Scalar

N = 4096
_HEADER_WORDS, _OP_CAPABILITY, _OP_EXTENSION = 5, 17, 10  # of SPIR-V

_HEAD = """
target triple = "spirv64-unknown-unknown"
declare spir_func i64 @_Z13get_global_idj(i32)
define spir_kernel void @kernel_under_test(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c) {
entry:
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
"""
# C counts how often the kernel ran over one set of buffers: c += a + b.
ADD = """
  %pa = getelementptr float, ptr addrspace(1) %a, i64 %i
  %pb = getelementptr float, ptr addrspace(1) %b, i64 %i
  %pc = getelementptr float, ptr addrspace(1) %c, i64 %i
  %va = load float, ptr addrspace(1) %pa
  %vb = load float, ptr addrspace(1) %pb
  %vc = load float, ptr addrspace(1) %pc
  %s = fadd float %va, %vb
  %t = fadd float %vc, %s
  store float %t, ptr addrspace(1) %pc
  ret void
}
"""
HANG = """
  br label %wait
wait:
  %v = load volatile i32, ptr addrspace(1) %a
  %never = icmp eq i32 %v, -1
  br i1 %never, label %done, label %wait
done:
  ret void
}
"""
OUT_OF_BOUNDS = """
  %far = mul i64 %i, 1000000000000
  %p = getelementptr float, ptr addrspace(1) %c, i64 %far
  store float 1.0, ptr addrspace(1) %p
  ret void
}
"""


# Two kernels: scratch becomes a + b, then c becomes c + scratch * (n >> 33), where n takes more than 32 bits.
TWO_STEPS = """
target triple = "spirv64-unknown-unknown"
declare spir_func i64 @_Z13get_global_idj(i32)
define spir_kernel void @first(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %sum) {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %pa = getelementptr float, ptr addrspace(1) %a, i64 %i
  %pb = getelementptr float, ptr addrspace(1) %b, i64 %i
  %ps = getelementptr float, ptr addrspace(1) %sum, i64 %i
  %va = load float, ptr addrspace(1) %pa
  %vb = load float, ptr addrspace(1) %pb
  %s = fadd float %va, %vb
  store float %s, ptr addrspace(1) %ps
  ret void
}
define spir_kernel void @second(i64 %n, ptr addrspace(1) %c, ptr addrspace(1) %sum) {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %pc = getelementptr float, ptr addrspace(1) %c, i64 %i
  %ps = getelementptr float, ptr addrspace(1) %sum, i64 %i
  %vc = load float, ptr addrspace(1) %pc
  %vs = load float, ptr addrspace(1) %ps
  %high = ashr i64 %n, 33
  %factor = sitofp i64 %high to float
  %scaled = fmul float %vs, %factor
  %t = fadd float %vc, %scaled
  store float %t, ptr addrspace(1) %pc
  ret void
}
"""


_spirv = cache(emit_spirv)


def launch(body: str = ADD, *, local: int = 64, options: str = "") -> LaunchSpec:
    """Return a launch of one of the kernels over N work-items."""
    names: tuple[tuple[str, Role], ...] = (("a", "input"), ("b", "input"), ("c", "output"))
    arguments = tuple(Argument(name, role, "f32", 4 * N) for name, role in names)
    step = LaunchStep("kernel_under_test", (0, 1, 2), (N, 1, 1), (local, 1, 1))
    return LaunchSpec(_spirv(_HEAD + body), arguments, (step,), 16, options)


def with_required_size(local: int) -> LaunchSpec:
    """Return a launch of a kernel that requires work-groups of that size."""
    signature, _, body = (_HEAD + ADD).partition("{")
    sizes = f"!0 = !{{i32 {local}, i32 1, i32 1}}"
    text = f"{signature} !reqd_work_group_size !0 {{{body}\n{sizes}\n"
    return replace(launch(local=local), binary=_spirv(text))


def with_subgroup_size(size: int, body: str = ADD) -> LaunchSpec:
    """Return a launch of a kernel that requires sub-groups of that size."""
    signature, _, body = (_HEAD + body).partition("{")
    text = f"{signature} !intel_reqd_sub_group_size !0 {{{body}\n!0 = !{{i32 {size}}}\n"
    return replace(launch(), binary=_spirv(text))


def with_private_memory(nbytes: int, subgroup_size: int) -> LaunchSpec:
    """Return a launch of a kernel whose work-items use so much private memory, which must be a power of two."""
    array, last = f"[{nbytes // 4} x float]", nbytes // 4 - 1
    through = f"""
  %array = alloca {array}
  %at = and i64 %i, {last}
  %pp = getelementptr {array}, ptr %array, i64 0, i64 %at
  store volatile float %t, ptr %pp
  %far = mul i64 %i, 7
  %from = and i64 %far, {last}
  %pq = getelementptr {array}, ptr %array, i64 0, i64 %from
  %back = load volatile float, ptr %pq
  store float %back, ptr addrspace(1) %pc
"""
    return with_subgroup_size(subgroup_size, ADD.replace("  store float %t, ptr addrspace(1) %pc\n", through))


def with_local_memory(nbytes: int) -> LaunchSpec:
    """Return a launch of a kernel whose work-groups use so much shared local memory."""
    through = f"""
  %ps = getelementptr [{nbytes // 4} x float], ptr addrspace(3) @slm, i64 0, i64 %i
  store float %t, ptr addrspace(3) %ps
  %back = load volatile float, ptr addrspace(3) %ps
  store float %back, ptr addrspace(1) %pc
"""
    text = (_HEAD + ADD).replace("  store float %t, ptr addrspace(1) %pc\n", through)
    head = f"@slm = internal addrspace(3) global [{nbytes // 4} x float] undef\ndefine spir_kernel"
    return replace(launch(), binary=_spirv(text.replace("define spir_kernel", head)))


def with_extension(name: str) -> LaunchSpec:
    """Return a launch whose SPIR-V declares an extension of that name."""
    words = np.frombuffer(launch().binary, np.uint32)
    at = _HEADER_WORDS
    while words[at] & 0xFFFF == _OP_CAPABILITY:
        at += int(words[at] >> 16)
    text = np.frombuffer(name.encode() + b"\0" * (4 - len(name) % 4), np.uint32)
    declared = np.array([(len(text) + 1) << 16 | _OP_EXTENSION, *text], np.uint32)
    return replace(launch(), binary=np.concatenate([words[:at], declared, words[at:]]).tobytes())


def two_steps(factor: int = 3, *, once: bool = False) -> LaunchSpec:
    """Return a launch of two kernels over N work-items: c becomes c + factor * (a + b), through scratch memory.

    With `once` the first kernel, which fills the scratch memory, runs only once.
    """
    arguments = (
        Argument("a", "input", "f32", 4 * N),
        Argument("scratch", "scratch", "f32", 4 * N),
        Argument("b", "input", "f32", 4 * N),
        Argument("c", "inout", "f32", 4 * N),
    )
    steps = (
        LaunchStep("first", (0, 2, 1), (N, 1, 1), (64, 1, 1), once=once),
        LaunchStep("second", (Scalar("n", factor << 33), 3, 1), (N, 1, 1), (32, 1, 1)),
    )
    return LaunchSpec(_spirv(TWO_STEPS), arguments, steps, 16, "")


def operands() -> tuple[NDArray[np.float32], ...]:
    """Return A, B and C for the kernels; sums are exact in f32."""
    a = np.arange(N, dtype=np.float32)
    return a, 2 * a + 1, np.full(N, 0.5, np.float32)


def expected(factor: int = 1) -> Buffer:
    """Return C after one run of ADD or of both steps."""
    a, b, c = operands()
    return c + factor * (a + b)
