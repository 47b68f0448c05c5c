"""The body of one kernel, rewritten."""

from codegen.emulate.calls import Kind, kind_of, name_of
from codegen.emulate.control.control_flow import Paths
from codegen.emulate.control.lanes import Lanes
from codegen.emulate.dpas_function import dpas_function
from codegen.emulate.memory.block_functions import block_function
from codegen.emulate.memory.byte_moves import move_bytes
from codegen.emulate.memory.lane_memory import atomic, gather, scatter
from codegen.emulate.memory.private_memory import message_bytes, stays_in_memory
from codegen.emulate.memory.shared_memory import (
    byte_offset,
    is_shared,
    offset_rows,
    offsets_of,
    shared_instruction,
)
from codegen.emulate.refusal import not_emulated
from codegen.emulate.rows.elements import FORMS
from codegen.emulate.rows.exchange import exchange, reduce_lanes
from codegen.emulate.rows.math_forms import math_form
from codegen.emulate.rows.rows import Functions
from codegen.emulate.rows.vectors import (
    apply,
    bitcast,
    extract,
    insert,
    resize,
    shuffle,
    single_uses,
)
from codegen.emulate.work_item_ids import (
    Sizes,
    group,
    place,
    size_of,
    subgroup_lines,
)
from codegen.emulate.writer import WHOLE, Writer, local, local_value, renamed
from codegen.simulate.functions.block_shape import block_shape
from codegen.simulate.functions.dpas import MAD_NAME
from codegen.simulate.instructions.flow import segments
from codegen.simulate.llvm_ir.ir import (
    Block,
    Function,
    Instruction,
    Type,
)
from codegen.simulate.values import LANES

_PREFIX = "xetune_emulated_"


class Kernel:
    """Rewriter of one kernel; `functions` collects the functions it calls."""

    def __init__(self, function: Function, size: Sizes, lanes: Lanes, functions: Functions) -> None:
        offsets, self.shared_bytes = offsets_of(function)
        self.w = Writer(function, lanes, functions, offsets)
        self._function, self._size, self._lanes, self._functions = function, size, lanes, functions
        self._paths = Paths(self.w, function)
        self._staying = stays_in_memory(function)
        self._in_place = single_uses(function)
        # In running order, so that definitions precede uses.
        blocks = {block.label: block for block in function.blocks}
        self._blocks = [self._block(blocks[segment.label]) for segment in segments(function, lambda i: False)]

    def text(self, number: int) -> str:
        """Return the variable and the definition of the kernel, which names metadata !<number> as its work-group's
        size.
        """
        shared = f"{self.w.shared} = internal addrspace(3) global [{self.shared_bytes} x i8] undef, align 64"
        parameters = ", ".join(f"{p.type} %{p.local}" for p in self._function.parameters)
        self.w.begin([])
        subgroup_lines(self.w, self._size)
        return "\n".join(
            [
                *([shared] if self.shared_bytes else []),
                f"define spir_kernel void @{self._function.name}({parameters}) nounwind "
                f"!reqd_work_group_size !{number} !intel_reqd_sub_group_size !0 {{",
                "emulated.entry:",
                *self.w.arrays,
                *self.w.lines,
                f"  br label %{local(self._function.blocks[0].label)}",
                *(line for block in self._blocks for line in block),
                *self._paths.dispatchers(),
                "}",
                "",
            ]
        )

    def _block(self, block: Block) -> list[str]:
        w = self.w
        w.lines = self._paths.enter(block)
        for i in block.body[:-1]:
            self._instruction(i)
        self._paths.leave(block)
        return w.lines

    def _instruction(self, i: Instruction) -> None:
        private, w = self._lanes.granules, self.w
        if i.opcode == "call":
            self._call(i)
        elif i.opcode == "alloca":
            w.new_bytes(f"%{local(i.result)}", i.pointee.nbytes)
        elif i.opcode == "getelementptr" and i.operands[0].local in private:
            self._private_offset(i)
        elif i.opcode == "select" and i.result in private:
            if self._lanes.differs(i.operands[0]):
                raise not_emulated("a place in private memory that differs between lanes", i.text)
            w.do(renamed(i))
        elif i.opcode == "load" and i.operands[0].local in private:
            self._private_load(i)
        elif i.opcode == "store" and i.operands[1].local in private:
            self._private_store(i)
        elif i.opcode == "store" and any(map(self._lanes.differs, i.operands)):
            scatter(w, i)
        elif i.result not in self._lanes.varying:
            self._same(i)
        else:
            self._differing(i)

    def _same(self, i: Instruction) -> None:
        """Write an instruction that is uniform."""
        if is_shared(i):
            shared_instruction(self.w, i)
        elif i.opcode != "fence":
            self.w.do(renamed(i))

    def _differing(self, i: Instruction) -> None:
        w = self.w
        moves = {"load": gather, "atomicrmw": atomic, "extractelement": extract, "shufflevector": shuffle}
        if (move := moves.get(i.opcode)) is not None:
            move(w, i)
        elif i.opcode == "insertelement":
            insert(w, i, self._in_place)
        elif i.opcode == "bitcast":
            bitcast(w, i)
        elif i.opcode == "getelementptr":
            w.set_row(i, offset_rows(w, i))
        elif (form := FORMS.get(i.opcode)) is not None:
            apply(w, i, form)
        else:
            raise not_emulated(f"instruction {i.opcode}", i.text)

    def _call(self, i: Instruction) -> None:
        w, kind = self.w, kind_of(i)
        if kind is Kind.BARRIER:
            self._functions.declare("_Z7barrierj", "declare spir_func void @_Z7barrierj(i32)")
            w.do(f"call spir_func void @_Z7barrierj(i32 {w.scalar(i.operands[0])})")
        elif kind is Kind.BYTES:
            move_bytes(w, i)
        elif kind is Kind.BLOCK:
            self._block_io(i)
        elif kind is Kind.DPAS:
            self._dpas(i)
        elif kind is Kind.PLACE:
            place(w, i, self._size)
        elif kind is Kind.GROUP:
            group(w, i)
        elif kind is Kind.SIZE:
            size_of(w, i, self._size)
        elif kind is Kind.EXCHANGE:
            exchange(w, i)
        elif kind is Kind.REDUCTION:
            reduce_lanes(w, i)
        elif kind is Kind.SAME:
            self._passed_on(i)
        elif kind is Kind.MATH and i.result in self._lanes.varying:
            apply(w, i, math_form(i))
        elif kind is Kind.MATH:
            self._functions.declare(i.detail, _declaration(i))
            w.do(renamed(i))

    def _passed_on(self, i: Instruction) -> None:
        if i.result in self._lanes.varying:
            self.w.set_row(i, self.w.row(i.operands[0]))
        else:
            type_, value = i.type, self.w.scalar(i.operands[0])
            self.w.do(f"%{local(i.result)} = select i1 true, {type_} {value}, {type_} {value}")

    def _private_offset(self, i: Instruction) -> None:
        if any(self._lanes.differs(o) for o in i.operands):
            raise not_emulated("a place in private memory that differs between lanes", i.text)
        offset = self.w.line(f"mul i64 {byte_offset(self.w, i)}, {LANES}")
        self.w.do(f"%{local(i.result)} = getelementptr i8, ptr {local_value(i.operands[0])}, i64 {offset}")

    def _private_load(self, i: Instruction) -> None:
        w, granule = self.w, self._lanes.granules[i.operands[0].local]
        pointer = local_value(i.operands[0])
        if granule == i.type.dtype.itemsize and w.is_row(i):
            w.set_row(i, w.load_row(i.type.element, pointer))
        elif granule == i.type.dtype.itemsize and i.result in self._staying and w.may_alias(i) and w.mask == WHOLE:
            w.alias(i.result, pointer)
        else:
            target = w.target(i)
            resize(w, target, pointer, granule, i.type.dtype.itemsize, i.type.nbytes)
            w.written(i, target)

    def _private_store(self, i: Instruction) -> None:
        w, type_, pointer = self.w, i.operands[0].type, local_value(i.operands[1])
        granule = self._lanes.granules[i.operands[1].local]
        array = w.whole(i.operands[0])
        if granule == type_.dtype.itemsize:
            w.blend(pointer, array, type_, w.mask)
            return
        small = Type(f"i{granule * 8}", type_.nbytes // granule)
        resized = w.new_array(small)
        resize(w, resized, array, type_.dtype.itemsize, granule, type_.nbytes)
        w.blend(pointer, resized, small, w.mask)

    def _block_io(self, i: Instruction) -> None:
        w, name = self.w, name_of(i)
        shape = block_shape(name)
        assert shape is not None  # or it is no such call
        function = _PREFIX + name.removeprefix("intel_sub_group_")
        block_function(self._functions, function, shape)
        surface = ", ".join(f"{o.type} {w.scalar(o)}" for o in i.operands[:5])
        memory, granule = local_value(i.operands[5]), self._lanes.granules[i.operands[5].local]
        element = message_bytes(shape.layout, shape.nbytes)
        if granule == element:
            w.do(f"call spir_func void @{function}({surface}, ptr {memory})")
            return
        nbytes = max(shape.rows * shape.columns * shape.count * shape.nbytes // LANES, element)
        block = w.new_array(Type(f"i{element * 8}", nbytes // element))
        if shape.action == "write":
            resize(w, block, memory, granule, element, nbytes)
        w.do(f"call spir_func void @{function}({surface}, ptr {block})")
        if shape.action == "read":
            resize(w, memory, block, element, granule, nbytes)

    def _dpas(self, i: Instruction) -> None:
        m = MAD_NAME.fullmatch(name_of(i))
        assert m is not None  # or it is no such call
        if i.type.element not in ("float", "i32"):
            raise not_emulated(f"an accumulator of {i.type}", i.text)
        rows = i.type.count or 1
        function = f"{_PREFIX}{m['a']}_{m['b']}_matrix_mad_{rows}"
        self._functions.define(function, dpas_function(function, m["a"], m["b"], rows))
        arguments = [self.w.whole(o) for o in i.operands]
        target = self.w.target(i)
        self.w.do(f"call spir_func void @{function}({', '.join(f'ptr {pointer}' for pointer in (target, *arguments))})")
        self.w.written(i, target)


def _declaration(i: Instruction) -> str:
    convention = "" if i.detail.startswith("llvm.") else "spir_func "
    return f"declare {convention}{i.type} @{i.detail}({', '.join(str(o.type) for o in i.operands)})"
