"""Small kernels of this machine's own instructions for tests: as tests.hal.kernels has them for OpenCL.

Their pool has no threads: it holds how many there should be and the CPUs they would run on.
"""

from functools import cache

import llvmlite.binding as llvm

from hal import Argument, LaunchSpec, LaunchStep, Role, Scalar
from tests.hal.kernels import N

_POOL = """
declare ptr @malloc(i64)
declare void @free(ptr)
declare i32 @usleep(i32)
define linkonce_odr ptr @xetune_pool_create(i32 %threads, ptr %cpus) {
  %pool = call ptr @malloc(i64 4096)
  store i32 %threads, ptr %pool
  %named = icmp ne ptr %cpus, null
  br i1 %named, label %copy, label %done
copy:
  %i = phi i32 [ 0, %0 ], [ %next, %copy ]
  %from = getelementptr i32, ptr %cpus, i32 %i
  %cpu = load i32, ptr %from
  %at = add i32 %i, 4
  %to = getelementptr i32, ptr %pool, i32 %at
  store i32 %cpu, ptr %to
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %threads
  br i1 %more, label %copy, label %done
done:
  ret ptr %pool
}
define linkonce_odr void @xetune_pool_destroy(ptr %pool) {
  call void @free(ptr %pool)
  ret void
}
"""
# A loop over all elements, number %i.
_EACH = """
define i32 @{name}({parameters}) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{body}
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 4096
  br i1 %more, label %loop, label %done
done:
  ret i32 0
}}
"""
_WHOLE = "define i32 @kernel_under_test(ptr %pool, ptr %a, ptr %b, ptr %c) {{\n{body}}}\n"
_ADDED = """\
  %pa = getelementptr float, ptr %a, i64 %i
  %pb = getelementptr float, ptr %b, i64 %i
  %pc = getelementptr float, ptr %c, i64 %i
  %va = load float, ptr %pa
  %vb = load float, ptr %pb
  %s = fadd float %va, %vb
"""
# C counts how often the kernel ran over one set of buffers: c += a + b.
ADD = _EACH.format(
    name="kernel_under_test",
    parameters="ptr %pool, ptr %a, ptr %b, ptr %c",
    body=_ADDED
    + """\
  %vc = load float, ptr %pc
  %t = fadd float %vc, %s
  store float %t, ptr %pc
""",
)
HANG = _WHOLE.format(
    body="""
  br label %wait
wait:
  %v = load volatile i32, ptr %a
  %never = icmp eq i32 %v, -1
  br i1 %never, label %done, label %wait
done:
  ret i32 0
"""
)
READS_BEYOND = _WHOLE.format(
    body="""
  %p = getelementptr float, ptr %b, i64 4096
  %v = load volatile float, ptr %p
  ret i32 0
"""
)
WRITES_BEFORE = _WHOLE.format(
    body="""
  %p = getelementptr float, ptr %c, i64 -1
  store float 1.0, ptr %p
  ret i32 0
"""
)
# Refuses a pool of fewer than two threads; C is the threads and CPUs of the pool, as whole numbers.
TELLS_THE_POOL = _WHOLE.format(
    body="""
  %threads = load i32, ptr %pool
  %few = icmp slt i32 %threads, 2
  br i1 %few, label %refuse, label %tell
refuse:
  ret i32 1
tell:
  store i32 %threads, ptr %c
  br label %copy
copy:
  %i = phi i32 [ 0, %tell ], [ %next, %copy ]
  %at = add i32 %i, 4
  %from = getelementptr i32, ptr %pool, i32 %at
  %cpu = load i32, ptr %from
  %next = add i32 %i, 1
  %to = getelementptr i32, ptr %c, i32 %next
  store i32 %cpu, ptr %to
  %more = icmp slt i32 %next, %threads
  br i1 %more, label %copy, label %done
done:
  %self = call i32 @sched_getcpu()
  %to_self = getelementptr i32, ptr %c, i32 100
  store i32 %self, ptr %to_self
  ret i32 0
"""
)
# C is the addresses of A, B, C and scratch.
TELLS_ADDRESSES = """
define i32 @kernel_under_test(ptr %pool, ptr %a, ptr %b, ptr %c, ptr %scratch) {
  store ptr %a, ptr %c
  %p1 = getelementptr i8, ptr %c, i64 8
  store ptr %b, ptr %p1
  %p2 = getelementptr i8, ptr %c, i64 16
  store ptr %c, ptr %p2
  %p3 = getelementptr i8, ptr %c, i64 24
  store ptr %scratch, ptr %p3
  ret i32 0
}
"""
# Scratch becomes a + b, then c becomes c + scratch * (n >> 33), where n takes more than 32 bits.
_SUM = _ADDED.replace("%c", "%sum") + "  store float %s, ptr %pc\n"
_SCALED = """\
  %ps = getelementptr float, ptr %sum, i64 %i
  %pc = getelementptr float, ptr %c, i64 %i
  %vs = load float, ptr %ps
  %vc = load float, ptr %pc
  %high = ashr i64 %n, 33
  %factor = sitofp i64 %high to float
  %scaled = fmul float %vs, %factor
  %t = fadd float %vc, %scaled
  store float %t, ptr %pc
"""
TWO_STEPS = _EACH.format(name="first", parameters="ptr %pool, ptr %a, ptr %b, ptr %sum", body=_SUM) + _EACH.format(
    name="second", parameters="ptr %pool, i64 %n, ptr %c, ptr %sum", body=_SCALED
)


@cache
def object_code(text: str) -> bytes:
    """Object code of kernels, with their pool."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(f"{_POOL}declare i32 @sched_getcpu()\n{text}")
    module.triple = llvm.get_default_triple()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=1, reloc="pic")
    return machine.emit_object(module)


def launch(text: str = ADD, *, threads: int = 1) -> LaunchSpec:
    """A launch of one of the kernels over N elements."""
    names: tuple[tuple[str, Role], ...] = (("a", "input"), ("b", "input"), ("c", "output"))
    arguments = tuple(Argument(name, role, "f32", 4 * N) for name, role in names)
    step = LaunchStep("kernel_under_test", (0, 1, 2), (threads, 1, 1), (1, 1, 1))
    return LaunchSpec(object_code(text), arguments, (step,), 1, "")


def two_steps(factor: int = 3, *, once: bool = False) -> LaunchSpec:
    """A launch of two kernels: c becomes c + factor * (a + b), by way of scratch memory, which may be filled once."""
    arguments = (
        Argument("a", "input", "f32", 4 * N),
        Argument("scratch", "scratch", "f32", 4 * N),
        Argument("b", "input", "f32", 4 * N),
        Argument("c", "inout", "f32", 4 * N),
    )
    steps = (
        LaunchStep("first", (0, 2, 1), (1, 1, 1), (1, 1, 1), once=once),
        LaunchStep("second", (Scalar("n", factor << 33), 3, 1), (1, 1, 1), (1, 1, 1)),
    )
    return LaunchSpec(object_code(TWO_STEPS), arguments, steps, 1, "")
