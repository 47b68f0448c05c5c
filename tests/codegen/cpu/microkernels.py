"""Run micro-kernels tile by tile on this machine: panels packed by numpy, matrices that end at a guard page."""

import ctypes
import mmap
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

from codegen import Axis, DType, EpilogueKind, GemmProblem
from codegen.config.cpu import (
    CpuConfig,
    CpuStrategy,
    Isa,
    Packing,
)
from codegen.config.matmul import Extent, MatmulConfig
from codegen.cpu.isa import Multiply, features, isas_of
from codegen.cpu.microkernel import microkernels
from codegen.cpu.microkernel.next_panel import next_panel
from codegen.cpu.microkernel.tile import tile_name
from codegen.cpu.nest.plan import Plan
from codegen.problem.gemm import Operand
from hal import Buffer
from tests.codegen.cpu.tiles import Prefetches, Tiles
from tuner.verify.memory_layout import (
    decode,
    outside_is_poison,
)
from tuner.verify.reference import Reference

PAGE = mmap.PAGESIZE
_PROT_NONE = 0


def host_flags() -> tuple[str, ...]:
    """Flags of this CPU from /proc/cpuinfo; empty without that file."""
    if platform.machine() not in ("x86_64", "AMD64") or not Path("/proc/cpuinfo").exists():
        return ()
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return tuple(next(line for line in lines if line.startswith("flags")).split(":")[1].split())


FLAGS = host_flags()


def skip_without(isa: Isa, *flags: str) -> None:
    """Skip a test that this CPU cannot run."""
    lacking = [flag for flag in flags if flag not in FLAGS]
    if isa not in isas_of(FLAGS) or lacking:
        pytest.skip(f"this CPU has no {', '.join(lacking) or isa.value}")


class Guarded:
    """Memory that ends at a guard page: an access past the end is a fault."""

    def __init__(self, nbytes: int) -> None:
        pages = -(-max(nbytes, 1) // PAGE) + 1
        self._memory = mmap.mmap(-1, pages * PAGE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        libc = ctypes.CDLL(None, use_errno=True)
        end = start + (pages - 1) * PAGE
        assert libc.mprotect(ctypes.c_void_p(end), ctypes.c_size_t(PAGE), _PROT_NONE) == 0
        self.address = end - nbytes
        self.bytes = np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(self.address))

    @classmethod
    def of(cls, values: np.ndarray) -> "Guarded":
        """Copy an array into guarded memory."""
        memory = cls(values.nbytes)
        memory.bytes[:] = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        return memory


def plan_of(
    problem: GemmProblem,
    tile: tuple[int, int],
    *,
    isa: Isa = Isa.AVX512,
    block_k: int = 0,
    unroll: int = 1,
    pack_a: Packing = Packing.BLOCK,
    pack_b: Packing = Packing.BLOCK,
    threads_k: int = 1,
    flags: Sequence[str] = FLAGS,
    prefetch: int = 0,
    prefetch_tiles_n: int = 0,
) -> Plan:
    """A plan with one tile per block; `unroll` counts the smallest K steps, `block_k` 0 means all of K."""
    strategy = CpuStrategy(isa, pack_a, pack_b, prefetch, prefetch_tiles_n)

    def made(inner_k: int) -> Plan:
        depth = block_k or -(-problem.k // inner_k) * inner_k
        matmul = MatmulConfig(Extent(1, 1, threads_k), Extent(*tile, depth), Extent(*tile, inner_k))
        return Plan(problem, CpuConfig(matmul, strategy), tuple(flags))

    unit = made(1).depth_unit
    if problem.transpose_b and pack_b is Packing.NONE:
        unit = made(1).lanes * 4 // problem.dtype_a.nbytes
    return made(unit * unroll)


def compiled(plan: Plan, tiles: Tiles | None) -> llvm.ExecutionEngine:
    """Compile the functions for this process; `tiles` stand in for the tile registers."""
    module, machine = module_of(plan, tiles)
    engine = llvm.create_mcjit_compiler(module, machine)
    if tiles is not None:
        tiles.bind(module, engine)
    engine.finalize_object()
    return engine


def assembly_of(plan: Plan) -> str:
    """Return the functions as assembly, for any CPU."""
    module, machine = module_of(plan)
    return machine.emit_assembly(module)


def module_of(plan: Plan, tiles: Tiles | None = None) -> tuple[llvm.ModuleRef, llvm.TargetMachine]:
    """Return the verified LLVM module and its target machine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    text = microkernels(plan).replace("define internal", "define")
    module = llvm.parse_assembly(text if tiles is None else tiles.instead_of_instructions(text))
    module.verify()
    wanted = ",".join(f"+{name}" for name in features(plan.isa, plan.used))
    triple = "x86_64-unknown-linux-gnu"
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu="x86-64", features=wanted, opt=2, jit=True)
    module.triple, module.data_layout = triple, str(machine.target_data)
    return module, machine


@dataclass
class Run:
    """Run of all tiles of a problem, K block by K block."""

    plan: Plan
    seed: int = 1
    tiles: Tiles | None = None

    def __post_init__(self) -> None:
        p = self.plan.problem
        self.engine = compiled(self.plan, self.tiles)
        self.reference = Reference(p, self.seed)
        self.buffers = self.reference.buffers()
        self.memory = [
            Guarded.of(buffer.reshape(-1)[: _last(o, p.batch)])
            for buffer, o in zip(self.buffers, p.operands, strict=True)
        ]
        reduces = [step for step in p.epilogue if step.kind is EpilogueKind.REDUCE]
        plan = self.plan
        self.partials = [
            np.full(
                (p.batch, plan.tiles_n, plan.tiles_m * plan.mr)
                if step.axis is Axis.ROW
                else (p.batch, plan.tiles_m, plan.tiles_n * plan.nr),
                np.nan,
                np.float32,
            )
            for step in reduces
        ]
        pointers = [m.address for m in self.memory] + [partial.ctypes.data for partial in self.partials]
        self.arguments = (ctypes.c_void_p * len(pointers))(*pointers)

    def __call__(self) -> None:
        """Compute, and compare every written element with numpy."""
        p, plan = self.plan.problem, self.plan
        self._call("begin_thread")
        for matrix in range(p.batch):
            for row in range(0, p.m, plan.mr):
                for column in range(0, p.n, plan.nr):
                    self._tile(matrix, row, column)
        self._call("end_thread")
        assert self.tiles is None or not self.tiles.faults, self.tiles.faults[0]
        for memory, buffer, o in zip(self.memory, self.buffers, p.operands, strict=True):
            if o.role != "input":
                count = _last(o, p.batch)
                buffer.reshape(-1)[:count] = memory.bytes.view(buffer.dtype)
        self._compare_c()
        self._compare_sums()

    def _tile(self, matrix: int, row: int, column: int) -> None:
        plan, p = self.plan, self.plan.problem
        rows, columns = min(plan.mr, p.m - row), min(plan.nr, p.n - column)
        nbytes = -(-plan.mr * plan.nr * 4 // 64) * 64
        parts = [_aligned(nbytes) for _ in range(plan.threads.k)]
        blocks = np.array_split(np.arange(plan.k_blocks), plan.threads.k)
        for part, own in zip(parts, blocks, strict=True):
            part[:] = 0xA5
            for block in own:
                k = int(block) * plan.block.k
                depth = min(plan.block.k, p.k - k)
                a, b = self._panel_a(matrix, row, k, depth), self._panel_b(matrix, column, k, depth)
                copies = plan.copies_in_tiles and row == 0
                packed = Guarded.of(np.full(plan.panel_bytes_b(depth), 0xA5, np.uint8)) if copies else None
                first, last = block == own[0], plan.threads.k == 1 and block == own[-1]
                self._call(
                    tile_name(rows, columns, copies=copies),
                    ctypes.addressof(self.arguments),
                    a[0],
                    b[0] if packed is None else packed.address,
                    part.ctypes.data,
                    depth,
                    bool(first),
                    bool(last),
                    matrix,
                    row,
                    column,
                    *([b[0]] if next_panel(plan) is not None else []),
                    *([self._in_place(matrix, column, k)] if plan.copies_in_tiles else []),
                )
                if packed is not None:
                    assert b[1] is not None
                    inside = (depth, -(-columns // plan.lanes) * plan.lanes)
                    got, expected = (m.bytes.view(np.float32).reshape(depth, plan.nr) for m in (packed, b[1]))
                    assert (got[: inside[0], : inside[1]] == expected[: inside[0], : inside[1]]).all()
        if plan.threads.k > 1:
            together = _aligned(nbytes * len(parts))
            together[:] = np.concatenate(parts)
            self._call(
                f"finish_{rows}x{columns}",
                ctypes.addressof(self.arguments),
                together.ctypes.data,
                nbytes,
                len(parts),
                matrix,
                row,
                column,
            )

    def _call(self, name: str, *arguments: int | bool) -> None:
        kinds = [ctypes.c_bool if isinstance(value, bool) else ctypes.c_int64 for value in arguments]
        ctypes.CFUNCTYPE(None, *kinds)(self.engine.get_function_address(name))(*arguments)

    # Operands.

    @cached_property
    def _matrices(self) -> tuple[np.ndarray, np.ndarray]:
        a, b = (view for view in self.reference._views[:2])
        p = self.plan.problem
        return (a.transpose(0, 2, 1) if p.transpose_a else a, b.transpose(0, 2, 1) if p.transpose_b else b)

    def _panel_a(self, matrix: int, row: int, k: int, depth: int) -> tuple[int, object]:
        plan, p, matrices = self.plan, self.plan.problem, self._matrices[0]
        matrix = matrix % len(matrices)
        if plan.packs_a is Packing.NONE:
            offset = matrix * p.operands[0].batch_stride + (
                k * p.pitch_a + row if p.transpose_a else row * p.pitch_a + k
            )
            return self.memory[0].address + offset * p.dtype_a.nbytes, None
        part = matrices[matrix, row : row + plan.mr, k : k + depth]
        panel = np.zeros((plan.mr, plan.padded(depth)), _packed(plan))
        panel[: part.shape[0], :depth] = _for_packing(plan, part, p.dtype_a)
        if plan.shifted:
            panel = (panel.view(np.uint8) ^ 0x80).view(np.int8)
        unit = plan.depth_unit
        memory = Guarded.of(panel.reshape(plan.mr, -1, unit).transpose(1, 0, 2))
        return memory.address, memory

    def _panel_b(self, matrix: int, column: int, k: int, depth: int) -> tuple[int, Guarded | None]:
        plan, matrices = self.plan, self._matrices[1]
        matrix = matrix % len(matrices)
        if plan.packs_b is Packing.NONE:
            return self._in_place(matrix, column, k), None
        part = matrices[matrix, k : k + depth, column : column + plan.nr]
        panel = np.zeros((plan.padded(depth), plan.nr), _packed(plan))
        panel[:depth, : part.shape[1]] = _for_packing(plan, part, plan.problem.dtype_b)
        packed = panel.reshape(-1, plan.group, plan.nr).transpose(0, 2, 1)
        raw = np.ascontiguousarray(packed).reshape(-1).view(np.uint8)
        if plan.shifted:
            sums = 128 * panel.view(np.int8).astype(np.int32).sum(0, dtype=np.int32)
            raw = np.concatenate([raw, sums.astype(np.int32).view(np.uint8)])
        memory = Guarded.of(raw)
        return memory.address, memory

    def _in_place(self, matrix: int, column: int, k: int) -> int:
        """Address of an element of B."""
        p, matrix = self.plan.problem, matrix % len(self._matrices[1])
        place = column * p.pitch_b + k if p.transpose_b else k * p.pitch_b + column
        return self.memory[1].address + (matrix * p.operands[1].batch_stride + place) * p.dtype_b.nbytes

    # Outputs.

    def _compare_c(self) -> None:
        p = self.plan.problem
        c = p.c
        view = self.buffers[2].reshape(-1)
        for matrix in range(p.batch):
            bounds = self.reference.bounds_of_c(matrix, slice(0, p.m), slice(0, p.n))
            start = matrix * c.batch_stride
            stored = np.lib.stride_tricks.as_strided(view[start:], (p.m, p.n), (c.pitch * view.itemsize, view.itemsize))
            got = decode(stored, p.dtype_c).astype(np.float64)
            wrong = np.argwhere(~bounds.holds(got))
            assert not len(wrong), (
                f"{len(wrong)} of {got.size}, first {wrong[0]}: {got[tuple(wrong[0])]}, "
                f"expected {bounds.value[tuple(wrong[0])]}"
            )
        assert outside_is_poison(view, c, p.batch)

    def _compare_sums(self) -> None:
        p = self.plan.problem
        operands = [o for o in p.operands if o.role == "output" and o.step is not None]
        for operand, partial in zip(operands, self.partials, strict=True):
            total = partial.sum(1, dtype=np.float32)
            for matrix in range(p.batch):
                length = p.m if p.epilogue[operand.step or 0].axis is Axis.ROW else p.n
                bounds = self.reference.bounds_of_sums(operand, matrix, slice(0, length))
                assert bounds.holds(total[matrix, :length].astype(np.float64)).all()


def _last(o: Operand, batch: int) -> int:
    """Number of elements up to the last one inside the matrix."""
    return (batch - 1) * o.batch_stride + (o.rows - 1) * o.pitch + o.columns


def _aligned(nbytes: int) -> Buffer:
    memory = np.zeros(nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + nbytes]


def _packed(plan: Plan) -> type[np.generic]:
    return {Multiply.F32: np.float32, Multiply.BF16: np.uint16, Multiply.S8: np.int8, Multiply.S16: np.int16}[
        plan.multiply
    ]


def _for_packing(plan: Plan, part: np.ndarray, dtype: DType) -> np.ndarray:
    if plan.multiply is Multiply.F32:
        return decode(part, dtype)
    if plan.multiply is Multiply.S8:
        return part.view(np.int8) if part.flags.c_contiguous else np.ascontiguousarray(part).view(np.int8)
    return part


def lines_of_c(plan: Plan) -> set[int]:
    """Offsets from C of what tiles prefetch to write, within the rows of C and as many below."""
    prefetches = Prefetches()
    run = Run(plan, tiles=prefetches)
    run()
    c, p = run.memory[2].address, plan.problem
    return {address - c for address in prefetches.stores if 0 <= address - c < 2 * p.m * p.pitch_c * p.dtype_c.nbytes}
