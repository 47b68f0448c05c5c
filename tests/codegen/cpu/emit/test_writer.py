"""The writer of LLVM IR: loops, conditions and constants mean what Python's do."""

import ctypes

import llvmlite.binding as llvm
import pytest

from codegen.cpu.emit.writer import (
    Function,
    Module,
    f32,
    splat,
)


def run(module: Module, *arguments: int) -> int:
    """Call the module's `@f` of i64 values."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    parsed = llvm.parse_assembly(module.text)
    parsed.verify()
    engine = llvm.create_mcjit_compiler(parsed, llvm.Target.from_default_triple().create_target_machine(jit=True))
    engine.finalize_object()
    signature = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(arguments))
    return signature(engine.get_function_address("f"))(*arguments)


def sums(f: Function, low: int | str, high: int | str, step: int) -> str:
    """The sum of the loop's indices, and of what an inner loop counts."""
    with f.loop(low, high, step, [("i64", 0)]) as outer:
        with f.loop(0, outer.index, 1, [("i64", outer.carried[0])]) as inner:
            inner.next([f.add(inner.carried[0], 1000)])
        outer.next([f.add(inner.results[0], outer.index)])
    return outer.results[0]


@pytest.mark.parametrize(("low", "high", "step"), [(0, 7, 2), (3, 4, 5), (5, 5, 1), (6, 2, 1)])
def test_loops_carry_values_and_may_have_no_round(low: int, high: int, step: int) -> None:
    module = Module()
    with module.function("f", [("i64", "%low"), ("i64", "%high")], "i64", "") as f:
        f.end(f"ret i64 {sums(f, '%low', '%high', step)}")
    assert run(module, low, high) == sum(i + 1000 * i for i in range(low, high, step))


def test_a_loop_with_known_bounds_has_no_branch_around_it() -> None:
    module = Module()
    with module.function("f", [], "i64", "") as f, f.loop(0, 7, 2):
        pass
    assert module.text.count("br i1") == 1


@pytest.mark.parametrize("value", [-3, 0, 4])
def test_ways_that_meet_give_the_value_of_the_one_taken(value: int) -> None:
    module = Module()
    with module.function("f", [("i64", "%x")], "i64", "") as f:
        negative = f.compare("slt", "%x", 0)
        (size,) = f.either(negative, ["i64"], lambda: [f.sub(0, "%x")], lambda: ["%x"])
        with f.when(f.compare("eq", "%x", 0)):
            f.end("ret i64 77")
        f.end(f"ret i64 {f.max(f.min(size, 100), 1)}")
    assert run(module, value) == (abs(value) or 77)


def test_known_numbers_are_computed_where_they_are_written() -> None:
    f = Function(Module())
    assert [f.add(2, 3), f.mul(2, 3), f.div(7, 2), f.rem(7, 2), f.min(2, 3), f.max(2, 3), f.sub(2, 3)] == [
        5,
        6,
        3,
        1,
        2,
        3,
        -1,
    ]
    assert f.add("%x", 0) == "%x"
    assert f.mul(1, "%x") == "%x"
    assert f.text == "entry:"


def test_constants_are_rounded_to_their_type() -> None:
    assert f32(1.0) == "0x3FF0000000000000"
    assert f32(0.1) == "0x3FB99999A0000000"
    assert splat("float", f32(-2.0)) == "splat (float 0xC000000000000000)"
