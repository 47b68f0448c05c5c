"""Reversals of bits are written as shifts of integers that SPIR-V has."""

import ctypes
from collections.abc import Callable, Generator
from contextlib import contextmanager

import llvmlite.binding as llvm
import pytest

from codegen.errors import CompileFailed
from codegen.xe.llvm.bit_reversal import expand_bit_reversals


@contextmanager
def _compiled(text: str) -> Generator[Callable[[int], int]]:
    """The function `f` of a module, compiled for this CPU."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine()
    with llvm.create_mcjit_compiler(module, machine) as engine:
        yield ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64)(engine.get_function_address("f"))


@pytest.mark.parametrize("width", [5, 8, 11, 32, 40, 64])
def test_shifts_compute_the_reversal(width: int) -> None:
    same = width == 64
    cut = "" if same else f"  %cut = trunc nuw nsw i64 %x to i{width}\n"
    grown = "  ret i64 %back\n" if same else f"  %all = zext i{width} %back to i64\n  ret i64 %all\n"
    text = (
        f"define i64 @f(i64 %x) {{\n{cut}  %back = call i{width} @llvm.bitreverse.i{width}(i{width} "
        f"{'%x' if same else '%cut'})\n{grown}}}\n\ndeclare i{width} @llvm.bitreverse.i{width}(i{width}) #0\n"
        "attributes #0 = { nounwind }\n"
    )
    expanded = expand_bit_reversals(text)
    assert "bitreverse" not in expanded
    assert same or f"i{width} " not in expanded or width in (8, 32)
    with _compiled(expanded) as function:
        for number in (0, 1, 5, 0b10110, (1 << width) - 1, 0x123456789ABCDEF & ((1 << width) - 1)):
            number &= (1 << width) - 1
            assert function(number) == int(f"{number:0{width}b}"[::-1], 2)


def test_arithmetic_before_and_after_the_reversal_is_widened() -> None:
    text = (
        "define i64 @f(i64 %x) {\n  %cut = trunc i64 %x to i10\n  %low = and i10 %cut, -4\n"
        "  %sum = add nsw i10 %low, -1\n  %back = call i10 @llvm.bitreverse.i10(i10 %sum)\n"
        "  %half = lshr i10 %back, 1\n  %all = zext nneg i10 %half to i64\n  ret i64 %all\n}\n"
    )
    expanded = expand_bit_reversals(text)
    assert "i10" not in expanded
    with _compiled(expanded) as function:
        for number in (0, 3, 5, 0x155, 0x3FF, 0xFFFF):
            assert function(number) == int(f"{((number & 0x3FC) - 1) & 0x3FF:010b}"[::-1], 2) >> 1


def test_other_instructions_on_odd_widths_are_refused() -> None:
    text = (
        "  %cut = trunc i64 %x to i10\n  %low = ashr i10 %cut, 2\n  %back = call i10 @llvm.bitreverse.i10(i10 %low)\n"
    )
    with pytest.raises(CompileFailed, match="expected arithmetic around a reversal of 10 bits, got %low = ashr i10"):
        expand_bit_reversals(text)
