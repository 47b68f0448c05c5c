"""Runs kernels for AMX on CPUs without it: all is compiled for this CPU, but what tile registers do, numpy does."""

import ctypes
import re

import llvmlite.binding as llvm
import numpy as np

from codegen import GemmProblem
from codegen.config.cpu import CpuConfig
from codegen.cpu.compile import compile_cpu_gemm
from codegen.cpu.emit.object_code import optimise
from codegen.cpu.isa import features
from codegen.cpu.nest.entries import (
    kernel_module,
    pack_b_name,
)
from codegen.cpu.nest.plan import Plan
from codegen.cpu.nest.pool_runtime import AMX_PERMITTED
from hal.buffer import Buffer
from tests.codegen.cpu.draw_kernels import Drawn
from tests.codegen.cpu.run_kernels import compare_outputs, placed, scratch
from tests.codegen.cpu.tiles import Tiles
from tests.tuner.space.cpu.cpus import RAPIDS
from tuner.verify.reference import Reference

__all__ = ["RAPIDS", "check_tiles", "run_tiles"]

_NAME = "kernel"


def check_tiles(drawn: Drawn) -> None:
    """Compile for AMX as it is, then run with the registers in numpy and compare; of one thread, as those are."""
    reference = Reference(drawn.problem, seed=11)
    buffers = placed(drawn.problem, reference.buffers())
    run_tiles(drawn.problem, drawn.config, buffers)
    compare_outputs(drawn.problem, reference, buffers)


def run_tiles(problem: GemmProblem, config: CpuConfig, buffers: tuple[Buffer, ...]) -> None:
    """Compile for AMX as it is, then run on the operands with the registers in numpy."""
    artifact = compile_cpu_gemm(problem, config, RAPIDS)
    assert artifact.launch.binary.startswith(b"\x7fELF")
    flags = RAPIDS.isa or ()
    tiles, plan = Tiles(), Plan(problem, config, flags)
    text = re.sub(rf"call i1 @{AMX_PERMITTED}\([^)]*\)", "or i1 true, true", kernel_module(plan, _NAME))
    wanted = tuple(name for name in features(plan.isa, plan.used) if not name.startswith("amx"))
    module = optimise(tiles.instead_of_instructions(text), wanted)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    machine = llvm.Target.from_triple(module.triple).create_target_machine(
        cpu="x86-64", features=",".join(f"+{name}" for name in wanted), opt=2, jit=True
    )
    engine = llvm.create_mcjit_compiler(module, machine)
    tiles.bind(module, engine)
    engine.finalize_object()
    memory = [*buffers, *(scratch(a.nbytes) for a in artifact.launch.arguments[len(buffers) :])]
    for step in artifact.launch.steps:
        name = pack_b_name(_NAME) if step.once else _NAME
        pointers = [memory[p].ctypes.data for p in step.parameters if isinstance(p, int)]
        kinds = [ctypes.c_void_p] * (1 + len(pointers))
        assert ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(engine.get_function_address(name))(None, *pointers) == 0
    assert not tiles.faults, tiles.faults[0]
    assert np.all([rows == 0 for rows in tiles.rows]), "the tile registers are not released"
