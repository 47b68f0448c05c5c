"""C header of a kernel: its functions, and the requirements on their arguments."""

from codegen.config.cpu import Isa, Packing
from codegen.cpu.emit.memory import Layout
from codegen.cpu.nest.entries import (
    PACKED,
    pack_b_name,
    parameters_of,
)
from codegen.cpu.nest.plan import (
    LINE,
    Plan,
)
from codegen.cpu.nest.pool_runtime import (
    POOL_CREATE,
    POOL_DESTROY,
)
from codegen.cpu.status import MEANINGS, Status
from codegen.problem.dtype import DType
from codegen.problem.gemm import OFFSETS, Operand

_TYPES = {
    DType.F16: "uint16_t",
    DType.BF16: "uint16_t",
    DType.TF32: "float",
    DType.F32: "float",
    DType.S8: "int8_t",
    DType.U8: "uint8_t",
    DType.I32: "int32_t",
    DType.S4: "uint32_t",
    DType.U4: "uint32_t",
    DType.E2M1: "uint32_t",
    DType.E4M3: "uint8_t",
    DType.E5M2: "uint8_t",
    DType.E8M0: "uint8_t",
}


def header_text(plan: Plan, name: str, needs: tuple[str, ...]) -> str:
    """Return the header of the object whose public functions begin with `name`; `needs` are flags of /proc/cpuinfo."""
    guard = f"{name.upper()}_H"
    parts = [_intro(plan, needs), f"#ifndef {guard}\n#define {guard}\n", "#include <stddef.h>\n#include <stdint.h>\n"]
    parts += [
        _statuses(),
        _numbers(plan, name),
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
        _pool(),
        _functions(plan, name),
    ]
    return "\n".join([*parts, "#ifdef __cplusplus\n}\n#endif\n", f"#endif /* {guard} */", ""])


def _intro(plan: Plan, needs: tuple[str, ...]) -> str:
    return (
        f"/* {plan.problem}\n"
        f" * {plan.config}\n"
        " *\n"
        f" * Needs {', '.join(needs)} (flags of /proc/cpuinfo), Linux on x86-64, and linking with -pthread.\n"
        " */\n"
    )


def _statuses() -> str:
    """Return the enum that the headers of all kernels share."""
    lines = ["#ifndef XETUNE_STATUS", "#define XETUNE_STATUS", "/* What calls return. */", "enum xetune_status {"]
    for status in Status:
        why = f" /* {MEANINGS[status]} */" if status in MEANINGS else ""
        lines.append(f"  XETUNE_{status.name} = {status.value},{why}")
    return "\n".join([*lines, "};", "#endif", ""])


def _numbers(plan: Plan, name: str) -> str:
    prefix = name.upper()
    lines = [
        "/* Threads that the kernel uses; its pool needs at least as many. */",
        f"#define {prefix}_THREADS {plan.config.thread_count}",
        f"/* Scratch memory of a call, aligned to {LINE} bytes; its initial content is ignored. */",
        f"#define {prefix}_WORKSPACE_BYTES {_size(Layout(plan).workspace.nbytes)}",
    ]
    if plan.packs_b is Packing.BEFOREHAND:
        lines += [
            f"/* Memory of the packed B, aligned to {LINE} bytes. */",
            f"#define {prefix}_PACKED_B_BYTES {_size(plan.packed_b_bytes)}",
        ]
    return "\n".join([*lines, ""])


def _size(nbytes: int) -> str:
    return f"((size_t){nbytes})"


def _pool() -> str:
    return (
        "/* Threads that wait for calls. The caller of create is thread number 0. cpus: a CPU for each, or null to\n"
        " * leave that to the system; the caller stays on its CPU until destroy. Null if it cannot be made. One call\n"
        " * at a time uses a pool; kernels of one release of XeTune can share it. */\n"
        f"void *{POOL_CREATE}(int32_t threads, const int32_t *cpus);\n"
        f"void {POOL_DESTROY}(void *pool);\n"
    )


def _functions(plan: Plan, name: str) -> str:
    operands = {operand.name: operand for operand in plan.problem.operands}
    parts = ["/* Row by row; a matrix begins where the one before it ends, or as many elements on as its stride says."]
    parts += [f" * {_described(plan, operand)}" for operand in operands.values()]
    parts += [
        f" * Addresses are multiples of {plan.problem.alignment} bytes; buffers do not overlap where one is written."
    ]
    if plan.packs_b is Packing.BEFOREHAND:
        parts += [" * packed_B is what _pack_b made of B, once for any number of calls; B itself is not read."]
    parts += [f" * Returns {returned(plan)}. */"]
    names = parameters_of(plan)
    parameters = ["void *pool", *(_parameter(operands.get(parameter), parameter) for parameter in names)]
    text = "\n".join(parts) + f"\nint32_t {name}({', '.join(parameters)});\n"
    if plan.packs_b is Packing.BEFOREHAND:
        read = ", ".join(_parameter(operands[name], name) for name in PACKED if name in operands)
        packed = f"void *pool, {read}, void *packed_B"
        text += f"\nint32_t {pack_b_name(name)}({packed});\n"
    return text


def returned(plan: Plan) -> str:
    """Return a description of the values that a kernel's functions return."""
    possible = [Status.OVERLAP]
    if plan.isa is Isa.AMX:
        possible.insert(0, Status.NO_AMX)
    if plan.config.thread_count > 1:
        possible.insert(0, Status.TOO_FEW_THREADS)
    done = f"{Status.DONE}{'' if plan.config.thread_count > 1 else ' (the pool may be null)'}"
    return ", ".join([done, *(f"{status} if {MEANINGS[status]}" for status in possible)])


def _described(plan: Plan, operand: Operand) -> str:
    """Return an operand's shape, type and strides."""
    o = operand
    shape = f"{o.name}[{o.rows if o.rows > 1 or not o.is_vector else o.columns}]"
    if not o.is_vector:
        shape = f"{o.name}[{o.rows}][{o.columns}], rows {o.pitch} elements apart"
    batch = plan.problem.batch
    if batch > 1:
        shape += f", {batch} matrices {o.batch_stride} elements apart" if o.batch_stride else ", the same for all"
    if o.experts > 1:
        shape += f", {o.experts} experts {o.batch_stride} elements apart"
    if o.name == OFFSETS:
        shape += ", first rows of the experts and the end of the last, ascending from 0 to at most M"
    bits = " (its bits)" if o.dtype in (DType.F16, DType.BF16, DType.E4M3, DType.E5M2, DType.E8M0) else ""
    if o.dtype.packed > 1:
        bits = f" (words of {o.dtype.packed} along K, the first in the lowest bits)"
    return f"{shape}: {o.dtype.value}{bits}, {o.role}"


def _parameter(operand: Operand | None, name: str) -> str:
    if operand is None:
        return f"{'const ' if name == 'packed_B' else ''}void *{name}"
    return f"{'const ' if operand.role == 'input' else ''}{_TYPES[operand.dtype]} *{name}"
