import pytest

from codegen import DType, GemmProblem
from codegen.config.cpu import Isa, Packing
from codegen.cpu.emit.object_code import (
    compiled_part,
    emit_assembly,
    emit_object,
    optimise,
)
from codegen.cpu.isa import features
from codegen.cpu.nest.entries import kernel_module
from codegen.cpu.nest.plan import Plan
from tests.codegen.cpu.run_kernels import cpu_config

_FLAGS = ("avx2", "fma", "f16c", "bmi1", "bmi2")


def test_code_for_avx2_has_no_registers_of_avx512() -> None:
    problem = GemmProblem(m=45, n=71, k=53, dtype_a=DType.F16, dtype_b=DType.F16)
    config = cpu_config(Isa.AVX2, (2, 1, 1), (8, 32, 16), (4, 16, 4), b=Packing.BEFOREHAND)
    wanted = features(Isa.AVX2, ())
    assembly = emit_assembly(optimise(kernel_module(Plan(problem, config, _FLAGS), "kernel"), wanted), wanted)
    assert "%ymm" in assembly
    assert "vfmadd" in assembly
    assert not any(name in assembly for name in ("%zmm", "%k1", "%xmm16", "%ymm16"))


def test_text_that_is_no_llvm_ir_is_refused() -> None:
    with pytest.raises(RuntimeError, match="expected"):
        optimise("define void @f( {", ())
    with pytest.raises(RuntimeError):
        optimise("define i32 @f() { ret i64 0 }", ())


def test_a_part_is_compiled_once_and_linked_by_those_that_call_it() -> None:
    seven = "define linkonce_odr hidden i32 @seven(ptr %q) {\n  %v = load i32, ptr %q\n  ret i32 %v\n}"
    part = compiled_part("seven", seven)
    assert compiled_part("seven", seven) is part
    calls = "define i32 @f(ptr %q) {\n  %v = call i32 @seven(ptr %q)\n  ret i32 %v\n}"
    text = f"{part}\ndeclare hidden i32 @seven(ptr)\n{calls}\n"
    data = emit_object(optimise(text, ()), ())
    assert data[:4] == b"\x7fELF"
    assert b"seven" in data
