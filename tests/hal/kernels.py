"""Small SPIR-V kernels for tests of devices: one that adds, one that hangs, one that writes out of bounds."""

from functools import cache

import llvmlite.binding as llvm
import numpy as np

from hal import Argument, Buffer, LaunchSpec

N = 4096

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


@cache
def _spirv(body: str) -> bytes:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(_HEAD + body)
    machine = llvm.Target.from_triple("spirv64-unknown-unknown").create_target_machine(opt=1)
    module.data_layout = str(machine.target_data)
    return machine.emit_object(module)


def launch(body: str = ADD, *, local: int = 64, options: str = "") -> LaunchSpec:
    """A launch of one of the kernels over N work-items."""
    names = (("a", "input"), ("b", "input"), ("c", "output"))
    arguments = tuple(Argument(name, role, "f32", 4 * N) for name, role in names)
    return LaunchSpec(_spirv(body), "kernel_under_test", arguments, (N, 1, 1), (local, 1, 1), 16, options)


def operands() -> tuple[Buffer, ...]:
    """A, B and C for the kernels: exact in f32."""
    a = np.arange(N, dtype=np.float32)
    return a, 2 * a + 1, np.full(N, 0.5, np.float32)


def expected() -> Buffer:
    """What C is after one run of ADD."""
    a, b, c = operands()
    return c + a + b
