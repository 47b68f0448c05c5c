"""Module of a kernel: its public functions, the function of each thread, and all that they call."""

from collections.abc import Callable, Sequence

from codegen.config.cpu import Isa, Packing
from codegen.cpu.emit.memory import (
    POINTER_BYTES,
    THREAD_PARAMETERS,
    Layout,
    Memory,
    panels_of_a,
    panels_of_b,
)
from codegen.cpu.emit.object_code import compiled_part
from codegen.cpu.emit.workspace import (
    PACKED_A,
    PACKED_B,
    reduced,
)
from codegen.cpu.emit.writer import (
    Function,
    Module,
    Typed,
    Value,
)
from codegen.cpu.microkernel import write_microkernels
from codegen.cpu.microkernel.next_panel import next_panel
from codegen.cpu.nest.loop_nest import (
    MULTIPLY,
    write_multiply,
)
from codegen.cpu.nest.overlap import (
    Buffer,
    buffer_of,
    scratch,
    write_overlap_check,
)
from codegen.cpu.nest.partial_sums import (
    FINISH,
    reduce_name,
    write_finish_tiles,
    write_reduce,
)
from codegen.cpu.nest.plan import (
    LINE,
    Plan,
)
from codegen.cpu.nest.pool_runtime import (
    AMX,
    AMX_PERMITTED,
    POOL,
    POOL_BARRIER,
    POOL_CALLS,
    POOL_GATHER,
    POOL_RUN,
)
from codegen.cpu.nest.work_stealing import (
    gathered_at,
    needs_words,
    words_bytes,
)
from codegen.cpu.pack.pack_operand import (
    PACK_WHOLE_A,
    PACK_WHOLE_B,
    write_whole_a,
    write_whole_b,
)
from codegen.cpu.pack.pack_panels import write_packer
from codegen.cpu.pack.packer import packer_of_a, packer_of_b
from codegen.cpu.status import Status
from codegen.problem.gemm import SCALE_B, ZERO_B

_CALL = (("ptr", "%arguments"), ("i32", "%number"), ("ptr", "%pool"))
PACKED = ("B", SCALE_B, ZERO_B)
"""Operands that packing B reads, of those that a problem has."""
_THREAD, _PACK_THREAD = "compute", "pack_b_beforehand"


def kernel_module(plan: Plan, name: str) -> str:
    """Return the LLVM IR of a kernel whose public functions begin with `name`."""
    module = Module()
    module.foot(compiled_part("pool", POOL + AMX))
    module.head(POOL_CALLS)
    write_microkernels(module, plan)
    if plan.packs_a is not Packing.NONE:
        write_packer(module, packer_of_a(plan), prefetches=True)
    if plan.packs_b is not Packing.NONE and not plan.copies_in_tiles:
        panel = next_panel(plan)
        write_packer(module, packer_of_b(plan), prefetches=panel is None or not panel.in_memory)
    if plan.packs_a is Packing.WHOLE:
        write_whole_a(module, plan)
    if plan.packs_b in (Packing.WHOLE, Packing.BEFOREHAND):
        write_whole_b(module, plan)
    write_multiply(module, plan)
    if plan.threads.k > 1:
        write_finish_tiles(module, plan)
    for step in Layout(plan).reducing:
        write_reduce(module, plan, step)
    _write_thread(module, plan)
    _write_entry(module, plan, name)
    if plan.packs_b is Packing.BEFOREHAND:
        _write_pack_entry(module, plan, pack_b_name(name))
    return module.text


def pack_b_name(name: str) -> str:
    """Return the name of the public function that packs B."""
    return f"{name}_pack_b"


def parameters_of(plan: Plan) -> tuple[str, ...]:
    """Return the parameters of the kernel after the pool: operands by name, then scratch buffers."""
    return (
        *(operand.name for operand in plan.problem.operands),
        *(("workspace",) if Layout(plan).workspace.nbytes else ()),
        *(("packed_B",) if plan.packs_b is Packing.BEFOREHAND else ()),
    )


def _write_thread(module: Module, plan: Plan) -> None:
    """Write the function of one thread: its part of a call, with barriers where one thread needs another's results."""
    with module.function(_THREAD, _CALL) as f:
        thread = f.op("zext i32 %number to i64")
        given = [(kind, value if value == "%arguments" else thread) for kind, value in THREAD_PARAMETERS]
        _write_packing(f, plan, given)
        f.call("void", MULTIPLY, given)
        if plan.threads.k > 1:
            _write_barrier(f, plan)
            f.call("void", FINISH, given)
        reducing = Layout(plan).reducing
        if reducing:
            _write_barrier(f, plan)
        for step in reducing:
            f.call("void", reduce_name(step), given)


def _write_packing(f: Function, plan: Plan, given: Sequence[Typed]) -> None:
    """Write the packing of whole operands, with a barrier if several threads pack."""
    memory, mine, count = Memory(f, plan), list[Value](), 0
    if plan.packs_a is Packing.WHOLE:
        mine.append(f.call("i64", PACK_WHOLE_A, [*given, ("ptr", memory.shared(PACKED_A))]))
        count += panels_of_a(plan).count
    if plan.packs_b is Packing.WHOLE:
        mine.append(f.call("i64", PACK_WHOLE_B, [*given, ("ptr", memory.shared(PACKED_B))]))
        count += panels_of_b(plan).count
    if mine and plan.config.thread_count > 1:
        packed = mine[0] if len(mine) == 1 else f.add(*mine)
        words = f.at(memory.words, gathered_at(plan))
        f.call("void", POOL_GATHER, [("ptr", "%pool"), ("ptr", words), ("i64", packed), ("i64", count)])


def _write_barrier(f: Function, plan: Plan) -> None:
    if plan.config.thread_count > 1:
        f.call("void", POOL_BARRIER, [("ptr", "%pool"), ("i32", plan.config.thread_count)])


def _write_entry(module: Module, plan: Plan, name: str) -> None:
    """`i32 name(ptr pool, ptr A, ptr B, ptr C, ...)`."""
    names = parameters_of(plan)
    layout, operands = Layout(plan), len(plan.problem.operands)
    given = {place: f"%{name}" for place, name in enumerate(names[:operands])}
    if "workspace" in names:
        given[layout.workspace_at] = "%workspace"
    if "packed_B" in names:
        given[layout.packed_b_at] = "%packed_B"

    def arguments(f: Function) -> None:
        for place, value in given.items():
            _put(f, place, value)
        for number, step in enumerate(layout.reducing):
            _put(f, operands + number, f.at("%workspace", layout.workspace.offset(reduced(step))))

    _write_public(module, plan, name, _buffers(plan, names), _THREAD, arguments)


def _buffers(plan: Plan, names: tuple[str, ...]) -> list[Buffer]:
    """Return the buffers that a call reads and writes, by parameter."""
    p, sizes = plan.problem, {"workspace": Layout(plan).workspace.nbytes, "packed_B": plan.packed_b_bytes}
    operands = [buffer_of(operand, p.batch, written=operand.role != "input") for operand in p.operands]
    return operands + [scratch(n, sizes[n], written=n == "workspace") for n in names if n in sizes]


def _write_pack_entry(module: Module, plan: Plan, name: str) -> None:
    """`i32 name(ptr pool, ptr B, ptr packed_B)`; of weights with scales these follow B."""
    layout = Layout(plan)
    with module.function(_PACK_THREAD, _CALL) as f:
        thread = f.op("zext i32 %number to i64")
        panels = Memory(f, plan).pointer(layout.packed_b_at)
        f.call("i64", PACK_WHOLE_B, [("ptr", "%arguments"), ("i64", thread), ("ptr", panels)])

    def arguments(f: Function) -> None:
        for place, operand in enumerate(plan.problem.operands):
            if operand.name in PACKED:
                _put(f, place, f"%{operand.name}")
        _put(f, layout.packed_b_at, "%packed_B")

    packed = [operand for operand in plan.problem.operands if operand.name in PACKED]
    buffers = [buffer_of(operand, plan.problem.batch, written=False) for operand in packed]
    buffers.append(scratch("packed_B", plan.packed_b_bytes))
    _write_public(module, plan, name, buffers, _PACK_THREAD, arguments)


def _write_public(
    module: Module,
    plan: Plan,
    name: str,
    buffers: list[Buffer],
    thread: str,
    write_arguments: Callable[[Function], None],
) -> None:
    count = plan.config.thread_count
    parameters = [("ptr", "%pool"), *(("ptr", f"%{buffer.parameter}") for buffer in buffers)]
    with module.function(name, parameters, "i32", "") as f:
        array = f.op(f"alloca [{Layout(plan).length} x ptr], align {POINTER_BYTES}")
        words = f.op(f"alloca [{words_bytes(plan)} x i8], align {LINE}") if needs_words(plan) else ""
        if count > 1:
            _write_pool_check(f, count)
        if plan.isa is Isa.AMX:
            permitted = f.call("i1", AMX_PERMITTED)
            with f.when(f.op(f"xor i1 {permitted}, true")):
                f.end(f"ret i32 {Status.NO_AMX}")
        write_overlap_check(f, buffers, Status.OVERLAP)
        f.emit(f"%arguments = getelementptr i8, ptr {array}, i64 0")
        write_arguments(f)
        if words:
            zeros = [(f"ptr align {LINE}", words), ("i8", 0), ("i64", words_bytes(plan)), ("i1", "false")]
            f.call("void", "llvm.memset.p0.i64", zeros)
            _put(f, Layout(plan).words_at, words)
        call = [("ptr", "%pool"), ("i32", count), ("ptr", f"@{thread}"), ("ptr", array)]
        f.call("void", POOL_RUN, call)
        f.end(f"ret i32 {Status.DONE}")


def _write_pool_check(f: Function, count: int) -> None:
    with f.when(f.compare("eq", "%pool", "null", "ptr")):
        f.end(f"ret i32 {Status.TOO_FEW_THREADS}")
    threads = f.load("i32", "%pool", 4)
    with f.when(f.compare("slt", threads, count, "i32")):
        f.end(f"ret i32 {Status.TOO_FEW_THREADS}")


def _put(f: Function, place: int, pointer: str) -> None:
    f.store("ptr", pointer, f.at("%arguments", place * POINTER_BYTES), POINTER_BYTES)
