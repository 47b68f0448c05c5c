"""Rewrites a kernel so that one work-item runs a whole sub-group."""

import re

from codegen.emulate.block_functions import block_function
from codegen.emulate.block_rows import row_functions
from codegen.emulate.dpas_function import dpas_function
from codegen.emulate.elements import ELEMENTWISE
from codegen.emulate.lanes import UNIFORM_CALLS, Lanes, analyse
from codegen.emulate.private_memory import stays_in_memory
from codegen.emulate.refusal import STAGE, not_emulated
from codegen.emulate.writer import COPY_FUNCTION, Writer, local, local_value, renamed
from codegen.errors import CompileFailed
from codegen.simulator.block_shape import BlockShape, block_shape
from codegen.simulator.dpas import DPAS_NAME
from codegen.simulator.ir import Block, Function, Instruction
from codegen.simulator.mangling import unmangled
from codegen.simulator.parser import parse_kernel
from codegen.simulator.refusal import SimulationRefused
from codegen.simulator.values import LANES

_PREFIX = "xetune_emulated_"
_KERNEL = "gemm"
_DECLARATION = re.compile(r"^declare [^\n]*@(?P<name>[\w.$-]+)\([^\n]*$", re.MULTILINE)
_HEADER = re.compile(r"^target (?:datalayout|triple) = [^\n]*$", re.MULTILINE)


def emulate(ll: str) -> str:
    """The module of a kernel's final LLVM IR, with one work-item for a sub-group and emulated built-ins.

    Raises:
        CompileFailed: the kernel holds something that is not emulated.
    """
    try:
        function = parse_kernel(ll, _KERNEL)
    except SimulationRefused as refused:
        raise CompileFailed(STAGE, str(refused)) from refused
    if function.work_group_size is None:
        raise CompileFailed(STAGE, "the kernel does not say its work-group size")
    kernel = _Kernel(function, analyse(function))
    size = ", ".join(f"i32 {extent}" for extent in function.work_group_size)
    kept = [m[0] for m in _DECLARATION.finditer(ll) if unmangled(m["name"]) in kernel.uniform_calls]
    return "\n".join(
        [
            *_HEADER.findall(ll),
            "",
            *(re.sub(r" #\d+$", "", line) for line in kept),
            "declare spir_func i64 @_Z12get_local_idj(i32)",
            COPY_FUNCTION,
            *kernel.functions(),
            kernel.text(),
            # One lane to a sub-group: the lanes of ours are explicit.
            f"!0 = !{{{size}}}",
            "!1 = !{i32 1}",
            "",
        ]
    )


class _Kernel:
    """The rewritten body of one kernel."""

    def __init__(self, function: Function, lanes: Lanes) -> None:
        self.uniform_calls: set[str] = set()
        self._function = function
        self._lanes = lanes
        self._needed: dict[str, str] = {}
        self._needed_rows: set[int] = set()
        self._w = Writer(lanes)
        self._staying = stays_in_memory(function)
        self._blocks = [self._block(block) for block in function.blocks]

    def functions(self) -> list[str]:
        """Definitions of the emulated built-ins that the kernel calls."""
        return [row_functions(bits) for bits in sorted(self._needed_rows)] + list(self._needed.values())

    def text(self) -> str:
        """The definition of the kernel."""
        parameters = ", ".join(f"{p.type} %{p.local}" for p in self._function.parameters)
        return "\n".join(
            [
                f"define spir_kernel void @{self._function.name}({parameters}) nounwind "
                "!reqd_work_group_size !0 !intel_reqd_sub_group_size !1 {",
                "emulated.entry:",
                *self._w.arrays,
                "  %emulated.item.wide = call spir_func i64 @_Z12get_local_idj(i32 0)",
                "  %emulated.item = trunc i64 %emulated.item.wide to i32",
                f"  %emulated.lane = urem i32 %emulated.item, {LANES}",
                f"  %emulated.subgroup = udiv i32 %emulated.item, {LANES}",
                "  %emulated.first = icmp eq i32 %emulated.lane, 0",
                f"  br i1 %emulated.first, label %{local(self._function.blocks[0].label)}, label %emulated.return",
                *(line for block in self._blocks for line in block),
                "emulated.return:",
                "  ret void",
                "}",
                "",
            ]
        )

    def _block(self, block: Block) -> list[str]:
        w = self._w
        w.lines = [f"{local(block.label)}:"]
        w.lines += [f"  {renamed(phi)}" for phi in block.phis if phi.result not in self._lanes.varying]
        for phi in block.phis:
            if phi.result in self._lanes.varying:
                w.copy(w.array(phi.result, phi.type), w.array(f"{phi.result}.next", phi.type), phi.type)
        for i in block.body[:-1]:
            self._instruction(i)
        self._leave(block)
        w.lines.append(f"  {renamed(block.body[-1])}")
        return w.lines

    def _leave(self, block: Block) -> None:
        """Values of phis go to `.next` first: a phi's old value may be needed after the branch."""
        for successor in self._function.blocks:
            if successor.label not in block.body[-1].labels:
                continue
            for phi in successor.phis:
                if phi.result in self._lanes.varying:
                    value = phi.operands[phi.labels.index(block.label)]
                    self._w.copy(self._w.array(f"{phi.result}.next", phi.type), self._w.whole(value), phi.type)

    def _instruction(self, i: Instruction) -> None:
        private = self._lanes.element_bytes
        if i.opcode == "call":
            self._call(i)
        elif i.opcode == "alloca":
            self._w.private_array(i.result, i.pointee)
        elif i.opcode == "getelementptr" and i.operands[0].local in private:
            self._private_offset(i)
        elif i.opcode == "load" and i.operands[0].local in private:
            if i.result in self._staying:
                self._w.alias(i.result, local_value(i.operands[0]))
            else:
                self._w.copy(self._w.array(i.result, i.type), local_value(i.operands[0]), i.type)
        elif i.opcode == "store" and i.operands[1].local in private:
            self._w.copy(local_value(i.operands[1]), self._w.whole(i.operands[0]), i.operands[0].type)
        elif i.result not in self._lanes.varying:
            self._w.lines.append(f"  {renamed(i)}")
        elif (write := ELEMENTWISE.get(i.opcode)) is not None:
            write(self._w, i)
        else:
            raise not_emulated(f"instruction {i.opcode}", i.text)

    def _private_offset(self, i: Instruction) -> None:
        if not all(o.is_constant and o.constant[0] is not None for o in i.operands[1:]):
            raise not_emulated("an index into private memory that is not constant", i.text)
        steps = (i.pointee.nbytes, i.pointee.dtype.itemsize)
        offset = sum(int(o.constant[0] or 0) * step for o, step in zip(i.operands[1:], steps, strict=False))
        if offset % self._lanes.element_bytes[i.result]:
            raise not_emulated("an index to the middle of an element", i.text)
        base = local_value(i.operands[0])
        self._w.lines.append(f"  %{local(i.result)} = getelementptr i8, ptr {base}, i64 {offset * LANES}")

    def _call(self, i: Instruction) -> None:
        name = unmangled(i.detail)
        if (m := DPAS_NAME.fullmatch(name)) is not None:
            self._dpas(i, m["type"])
        elif (shape := block_shape(name)) is not None:
            self._block_io(i, name, shape)
        elif name == "get_sub_group_id":
            self._w.lines.append(f"  %{local(i.result)} = add i32 %emulated.subgroup, 0")
        elif name in UNIFORM_CALLS:
            self.uniform_calls.add(name)
            self._w.lines.append(f"  {renamed(i)}")
        else:
            raise not_emulated(f"function {i.detail}", i.text)

    def _block_io(self, i: Instruction, name: str, shape: BlockShape) -> None:
        arguments = ", ".join(f"{o.type} {self._w.uniform(o, i)}" for o in i.operands)
        if shape.action == "prefetch":
            return
        function = _PREFIX + name.removeprefix("intel_sub_group_")
        definition = block_function(function, shape)
        if definition is None:
            raise not_emulated(f"function {name}", i.text)
        self._needed[function] = definition
        self._needed_rows.add(shape.bits)
        self._w.lines.append(f"  call spir_func void @{function}({arguments})")

    def _dpas(self, i: Instruction, type_: str) -> None:
        rows = i.type.count or 1
        function = f"{_PREFIX}{type_}_matrix_mad_{rows}"
        self._needed[function] = dpas_function(function, type_, rows)
        arguments = [self._w.array(i.result, i.type), *(self._w.whole(o) for o in i.operands)]
        self._w.lines.append(f"  call spir_func void @{function}({', '.join(f'ptr {a}' for a in arguments)})")
