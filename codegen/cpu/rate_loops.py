"""Kernels that measure a CPU's rates: loops of multiply instructions in registers, and reads of memory."""

from collections.abc import Callable

from codegen.config.cpu import Isa
from codegen.cpu.emit.memory import POINTER_BYTES
from codegen.cpu.emit.object_code import (
    compiled_part,
    emit_object,
    optimise,
)
from codegen.cpu.emit.writer import (
    Function,
    Module,
    splat,
)
from codegen.cpu.isa import Multiply, features, needed_flags
from codegen.cpu.microkernel.amx import write_begin_and_end
from codegen.cpu.microkernel.products import Products
from codegen.cpu.nest.plan import LINE, Plan
from codegen.cpu.nest.pool_runtime import AMX, POOL, POOL_CALLS, POOL_RUN
from hal import Argument, LaunchSpec, LaunchStep

KERNEL, _THREAD = "xetune_rate", "loop"
_PARAMETERS = (("ptr", "%arguments"), ("i32", "%number"), ("ptr", "%pool"))
_CHAINS = 12  # of sums: two units with four clocks from one sum to the next need eight
_FACTORS = 0x3F803F80  # about 1 as f32 and bf16: zeros and tiny numbers may be quicker or slower than others
_ROWS = 16  # of a tile register
_CLOCKS = 600_000  # of one launch, about: short enough that others who use the machine do not interrupt each
_CLOCKS_OF_TILES = 16  # of one multiply of tile registers
_STREAM_VECTORS = 8  # read in one round


def multiply_loop(plan: Plan, threads: int) -> tuple[LaunchSpec, int]:
    """Return a launch of nothing but the multiply instruction of a plan, on so many threads, and its operations.

    A launch takes about a quarter of a millisecond.
    """
    if plan.isa is Isa.AMX:
        each, rounds = 2 * plan.mr * plan.nr * plan.depth_unit, _CLOCKS // (_CLOCKS_OF_TILES * 4)
    else:
        each, rounds = 2 * _CHAINS * plan.lanes * plan.group, 2 * _CLOCKS // _CHAINS

    def write(f: Function, out: str, number: str) -> None:
        if plan.isa is Isa.AMX:
            _write_tiles(f, plan, rounds)
        else:
            _write_vectors(f, plan, rounds, f.at(out, f.mul(number, LINE)))

    module = _module(write, threads)
    if plan.isa is Isa.AMX:
        write_begin_and_end(module, plan)
    out = Argument("out", "output", "u8", threads * LINE)
    return _launch(module, plan, out, threads), threads * each * rounds


def read_loop(plan: Plan, threads: int, nbytes: int) -> tuple[LaunchSpec, int]:
    """Return a launch that reads a buffer of about `nbytes` once, on so many threads, and the bytes that it reads."""
    step = _STREAM_VECTORS * LINE
    part = max(1, nbytes // (threads * step)) * step

    def write(f: Function, memory: str, number: str) -> None:
        own, kind = f.at(memory, f.mul(number, part)), "<16 x i32>"
        zeros = [(kind, "zeroinitializer")] * _STREAM_VECTORS
        with f.loop(0, part, step, carried=zeros) as loop:
            read = [f.load(kind, f.at(own, f.add(loop.index, LINE * i)), LINE) for i in range(_STREAM_VECTORS)]
            loop.next([f.op(f"xor {kind} {a}, {b}") for a, b in zip(loop.carried, read, strict=True)])
        total = loop.results[0]
        for value in loop.results[1:]:
            total = f.op(f"xor {kind} {total}, {value}")
        # The result is stored, or LLVM would drop the loads; that line is read by this thread alone.
        f.store(kind, total, own, LINE)

    memory = Argument("memory", "inout", "u8", threads * part)
    return _launch(_module(write, threads), plan, memory, threads), threads * part


def _module(write: Callable[[Function, str, str], None], threads: int) -> Module:
    """Return a module whose public function calls a body in each thread, with the buffer and the thread's number."""
    module = Module()
    module.foot(compiled_part("pool", POOL + AMX))
    module.head(POOL_CALLS)
    with module.function(_THREAD, _PARAMETERS) as f:
        number = f.op("zext i32 %number to i64")
        write(f, f.load("ptr", "%arguments", POINTER_BYTES), number)
    with module.function(KERNEL, [("ptr", "%pool"), ("ptr", "%buffer")], "i32", "") as f:
        array = f.op(f"alloca [1 x ptr], align {POINTER_BYTES}")
        f.store("ptr", "%buffer", array, POINTER_BYTES)
        call = [("ptr", "%pool"), ("i32", threads), ("ptr", f"@{_THREAD}"), ("ptr", array)]
        f.call("void", POOL_RUN, call)
        f.end("ret i32 0")
    return module


def _launch(module: Module, plan: Plan, argument: Argument, threads: int) -> LaunchSpec:
    wanted = features(plan.isa, plan.used)
    binary = emit_object(optimise(module.text, wanted), wanted)
    step = LaunchStep(KERNEL, (0,), (threads, 1, 1), (1, 1, 1))
    return LaunchSpec(binary, (argument,), (step,), 1, "", isa=needed_flags(plan.isa, plan.used))


def _write_vectors(f: Function, plan: Plan, rounds: int, own: str) -> None:
    """Write chains of sums that begin with different numbers, or LLVM would make one of them."""
    products, words = Products(f, plan), f"<{plan.lanes} x i32>"
    # Loaded, as LLVM would fold products of constants.
    f.store("i32", _FACTORS, own, 4)
    one = f.op(f"insertelement {words} poison, i32 {f.op(f'load volatile i32, ptr {own}, align 4')}, i64 0")
    same = f.op(f"shufflevector {words} {one}, {words} poison, {words} zeroinitializer")
    factors = f.op(f"bitcast {words} {same} to {products.factors}")

    def added(sums: str) -> str:
        # Pairs are multiplied and added by two instructions: of equal factors LLVM would multiply once.
        pairs = plan.multiply is Multiply.S16
        return products.add(
            sums, f.op(f"bitcast {products.sums} {sums} to {products.factors}") if pairs else factors, factors
        )

    first = [splat("i32", n) if plan.sums_are_integers else splat("float", f"{n}.0") for n in range(_CHAINS)]
    with f.loop(0, rounds, carried=[(products.sums, value) for value in first]) as loop:
        loop.next([added(sums) for sums in loop.carried])
    total = loop.results[0]
    for sums in loop.results[1:]:
        total = products.plus(total, sums)
    f.store(products.sums, total, own, 1)


def _write_tiles(f: Function, plan: Plan, rounds: int) -> None:
    """Write the products of one step of the micro-kernel, of registers that hold zeros."""
    down, across = plan.mr // _ROWS, plan.nr // _ROWS
    product = "llvm.x86.tdpbf16ps" if plan.multiply is Multiply.BF16 else "llvm.x86.tdpbssd"
    f.call("void", "begin_thread")
    for register in range(down * across + down + across):
        f.call("void", "llvm.x86.tilezero", [("i8", register)])
    with f.loop(0, rounds) as _:
        for i in range(down):
            for j in range(across):
                registers = i * across + j, down * across + i, down * across + down + j
                f.call("void", product, [("i8", register) for register in registers])
    f.call("void", "end_thread")
