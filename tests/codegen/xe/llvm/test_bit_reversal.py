"""Reversals of bits are written as shifts of integers that SPIR-V has."""

import ctypes

import llvmlite.binding as llvm
import pytest

from codegen.xe.llvm.bit_reversal import expand_bit_reversals


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
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(expanded)
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine()
    with llvm.create_mcjit_compiler(module, machine) as engine:
        function = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64)(engine.get_function_address("f"))
        for number in (0, 1, 5, 0b10110, (1 << width) - 1, 0x123456789ABCDEF & ((1 << width) - 1)):
            number &= (1 << width) - 1
            assert function(number) == int(f"{number:0{width}b}"[::-1], 2)
