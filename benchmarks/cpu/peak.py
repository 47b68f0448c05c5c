"""Peak rate of multiplication of this machine's cores: a loop of nothing but multiplications, in registers."""

import ctypes
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from benchmarks.cpu.cases import Case
from codegen import DType
from codegen.config.cpu import Isa
from codegen.cpu.emit.object_code import (
    emit_object,
    optimise,
)
from codegen.cpu.emit.writer import (
    Function,
    Module,
    splat,
)
from codegen.cpu.isa import Multiply, features
from codegen.cpu.microkernel.amx import write_begin_and_end
from codegen.cpu.microkernel.products import Products
from codegen.cpu.nest.plan import Plan
from hal import DeviceSpec
from hal.cpu.object_code import Linker
from hal.facts.amx import refusal_of_amx
from tuner.space.cpu.heuristic import default_cpu_config

_NAME = "peak"
_SIZE = 1024  # of a product whose default has whole tiles
_CHAINS = 12  # of sums: two units with four clocks from one sum to the next need eight
_FACTORS = 0x3F803F80  # about 1 as f32 and bf16: zeros and tiny numbers may be quicker or slower than others
_ROWS = 16
_SECONDS, _ROUNDS = 0.01, 20


def peak_gops(dtype: DType, spec: DeviceSpec, threads: int) -> float:
    """Most operations of the instruction that the default multiplies with, in 10^9 a second."""
    problem = Case(_SIZE, _SIZE, _SIZE, dtype).problem
    plan = Plan(problem, default_cpu_config(problem, spec), spec.isa or ())
    if plan.isa is Isa.AMX and (refused := refusal_of_amx()) is not None:
        raise RuntimeError(refused)
    code = Linker().link(_object(plan), "", [_NAME])
    loop = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p)(code.address(_NAME))

    def seconds(count: int) -> float:
        out = np.zeros(64, np.uint8)
        begun = time.perf_counter()
        loop(count, _FACTORS, out.ctypes.data)
        return time.perf_counter() - begun

    count = 1000
    while seconds(count) < _SECONDS:
        count *= 2
    with ThreadPoolExecutor(threads) as workers:
        rounds = [max(workers.map(seconds, [count] * threads)) for _ in range(_ROUNDS)]
    return threads * count * _operations(plan) / min(rounds) * 1e-9


def _operations(plan: Plan) -> int:
    """Multiplications and additions of a round of the loop."""
    if plan.isa is Isa.AMX:
        return 2 * plan.mr * plan.nr * plan.depth_unit
    return 2 * _CHAINS * plan.lanes * plan.group


def _object(plan: Plan) -> bytes:
    module = Module()
    if plan.isa is Isa.AMX:
        write_begin_and_end(module, plan)
    with module.function(_NAME, [("i64", "%count"), ("i32", "%factors"), ("ptr", "%out")], linkage="") as f:
        if plan.isa is Isa.AMX:
            _write_tiles(f, plan)
        else:
            _write_vectors(f, plan)
    wanted = features(plan.isa, plan.used)
    return emit_object(optimise(module.text, wanted), wanted)


def _write_vectors(f: Function, plan: Plan) -> None:
    """Chains of sums that begin with different numbers, or LLVM would make one of them."""
    products, words = Products(f, plan), f"<{plan.lanes} x i32>"
    one = f.op(f"insertelement {words} poison, i32 %factors, i64 0")
    same = f.op(f"shufflevector {words} {one}, {words} poison, {words} zeroinitializer")
    factors = f.op(f"bitcast {words} {same} to {products.factors}")
    first = [splat("i32", n) if plan.sums_are_integers else splat("float", f"{n}.0") for n in range(_CHAINS)]
    with f.loop(0, "%count", carried=[(products.sums, value) for value in first], enters=True) as loop:
        loop.next([products.add(sums, factors, factors) for sums in loop.carried])
    total = loop.results[0]
    for sums in loop.results[1:]:
        total = products.plus(total, sums)
    f.store(products.sums, total, "%out", 1)


def _write_tiles(f: Function, plan: Plan) -> None:
    """The products of one step of the micro-kernel, of registers that hold zeros."""
    down, across = plan.mr // _ROWS, plan.nr // _ROWS
    product = "llvm.x86.tdpbf16ps" if plan.multiply is Multiply.BF16 else "llvm.x86.tdpbssd"
    f.call("void", "begin_thread")
    for register in range(down * across + down + across):
        f.call("void", "llvm.x86.tilezero", [("i8", register)])
    with f.loop(0, "%count", enters=True):
        for i in range(down):
            for j in range(across):
                registers = i * across + j, down * across + i, down * across + down + j
                f.call("void", product, [("i8", register) for register in registers])
    f.call("void", "end_thread")
