"""The kernels of a GEMM as work-group-level XeTile.

`gemm` multiplies. `pad_...` and `decode_...` run before it and prepare operands; `clear` runs before it and zeroes C
where partial sums are added to C in memory. `finish` runs after it and adds partial sums that were stored; `sum_...`
adds those of a reduction.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Block, Region, SSAValue

from codegen.config.xe import SplitK, XeConfig
from codegen.problem.epilogue import EpilogueKind
from codegen.problem.gemm import OFFSETS, GemmProblem, Operand
from codegen.target import Target, target_of
from codegen.workers.code_key import PARTIALS
from codegen.xe.build.epilogue import Epilogue
from codegen.xe.build.experts import ExpertTiles
from codegen.xe.build.gate import columns_of_b, sums_of_products
from codegen.xe.build.k_parts import k_parts
from codegen.xe.build.matrices import (
    Matrix,
    launch_sizes,
    matrix_of,
    stored_element,
)
from codegen.xe.build.multiply import Multiply
from codegen.xe.build.prepare import as_bits, workspace_of, write_prepared
from codegen.xe.build.raster import (
    for_each_tile,
    grid_of,
)
from codegen.xe.build.sources import (
    Place,
    sources,
)
from codegen.xe.build.split_k import (
    add_atomically,
    add_partials,
    clear,
    k_range,
    part_to_finish,
    store_partials,
)
from codegen.xe.build.sums import sum_partials
from codegen.xe.build.tiles import (
    Shared,
    Tiles,
    tiles,
)
from codegen.xe.build.workspace import (
    partials,
    sums,
)
from codegen.xe.build.writer import (
    Writer,
    named,
)
from codegen.xe.dialects import gpu
from codegen.xe.dialects.index_list import (
    Index,
    index,
)
from codegen.xe.dialects.kernel_attributes import ACCESSES_INSIDE, ARGUMENTS_APART, EXTENTS
from codegen.xe.operand_access import (
    AccessBy,
    memory_path,
)
from codegen.xe.prepare import in_workspace, is_decoded, multiplied, prepare_kernel, prepared_operands
from codegen.xe.rules.sizes import is_persistent
from codegen.xe.workspace import sums_name
from hal import DeviceSpec

KERNEL_NAME = "gemm"
CLEAR, FINISH = "clear", "finish"


@dataclass(frozen=True, slots=True)
class Kernel:
    """The body of one kernel while it is written: its sizes, and all matrices by name."""

    problem: GemmProblem
    config: XeConfig
    tiles: Tiles
    sizes: Mapping[str, Index]
    matrices: Mapping[str, Matrix]
    stays_inside: bool
    target: Target

    def epilogue(self, c: Shared) -> Epilogue:
        """Return the epilogue, which converts the accumulator of a tile, or of a part of it, to C."""
        by_step = {None: self.matrices["C"]}
        by_step |= {o.step: self.matrices[o.name] for o in self.problem.operands if o.step is not None}
        reducing = [i for i, step in enumerate(self.problem.epilogue) if step.kind is EpilogueKind.REDUCE]
        return Epilogue(self.problem, c, by_step, {i: self.matrices[sums_name(i)] for i in reducing})

    def for_each_tile(self, w: Writer, body: Callable[[Writer, Index, Index], None]) -> None:
        """Write `body` for the row and column, in elements, at which each tile of the work-group begins."""
        block = self.config.matmul.block
        grid = grid_of(w, self.problem, self.config, self.sizes["m"], self.sizes["n"])

        def at(w: Writer, row: Index, column: Index) -> None:
            body(w, w.mul(row, block.m), w.mul(column, block.n))

        for_each_tile(w, self.config, grid, at)


Body = Callable[[Writer, Kernel], None]


def build_gemm(problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> ModuleOp:
    """Return the kernels of a combination that the rules accept, as a `gpu.module`. Each takes all launch arguments.

    Blocks that overhang edges rely on the hardware: loads outside a matrix return zero, stores are dropped.

    Raises:
        Refused: codegen cannot target the device.
    """
    target = target_of(spec)
    functions = [
        _function(problem, config, target, name, body, subgroups)
        for name, (body, subgroups) in kernels_of(problem, config).items()
    ]
    return ModuleOp([gpu.ModuleOp(KERNEL_NAME, functions)], {"gpu.container_module": UnitAttr()})


def kernels_of(problem: GemmProblem, config: XeConfig) -> dict[str, tuple[Body, int]]:
    """Return the kernels by name, in launch order, each with its number of sub-groups."""
    operands = prepared_operands(problem, config.strategy.workspace)
    made: dict[str, tuple[Body, int]] = {prepare_kernel(problem, o): (_prepare(problem, o), 1) for o in operands}
    sharing_c = config.subgroups // config.strategy.k_subgroups
    if config.strategy.split_k is SplitK.ATOMIC:
        made[CLEAR] = _clear, sharing_c
    made[KERNEL_NAME] = _gemm, config.subgroups
    if config.strategy.split_k is SplitK.PARTIAL_SUMS:
        made[FINISH] = _finish, sharing_c
    for number, step in enumerate(problem.epilogue):
        if step.kind is EpilogueKind.REDUCE:
            made[f"sum_{number}"] = _sum_of(number), 1
    return made


def stays_inside(problem: GemmProblem, config: XeConfig, target: Target) -> bool:
    """True if tiles never reach beyond the edges, where the hardware does not compare coordinates."""
    p, block = problem, config.matmul.block
    divides = p.experts is None and not (p.m % block.m or p.n % block.n or p.k % config.k_step)
    return divides and not p.dynamic and not target.block2d


def _function(
    problem: GemmProblem, config: XeConfig, target: Target, name: str, body: Body, subgroups: int
) -> gpu.FuncOp:
    block = Block(arg_types=[index] * len(launch_sizes(problem)))
    given = {size: named(argument, size) for size, argument in zip(launch_sizes(problem), block.args, strict=True)}
    sizes: dict[str, Index] = {"m": problem.m, "n": problem.n, "k": problem.k, **given}
    w = Writer(block)
    matrices: dict[str, Matrix] = {}
    for place, matrix in enumerate(_matrices(w, problem, config, target, sizes, name)):
        memory = named(block.insert_arg(matrix.type, place), matrix.name)
        matrices[matrix.name] = replace(matrix, memory=memory)
    for operand in prepared_operands(problem, config.strategy.workspace) if name == KERNEL_NAME else ():
        matrices[operand.name] = replace(matrices[in_workspace(problem, operand).name], name=operand.name)
    inside, solved = stays_inside(problem, config, target), multiplied(problem, config.strategy.workspace)
    body(w, Kernel(solved, config, tiles(solved, config, target.load_shape[1]), sizes, matrices, inside, target))
    w.insert(gpu.ReturnOp())
    function = gpu.FuncOp(name, Region(block), known_block_size=(subgroups * target.subgroup_size, 1, 1))
    function.attributes[ARGUMENTS_APART] = UnitAttr()  # launches that overlap are refused
    if given:
        function.attributes[EXTENTS] = UnitAttr()
    if inside and name in (CLEAR, KERNEL_NAME, FINISH):
        function.attributes[ACCESSES_INSIDE] = UnitAttr()
    return function


def _matrices(
    w: Writer, problem: GemmProblem, config: XeConfig, target: Target, sizes: Mapping[str, Index], kernel: str
) -> list[Matrix]:
    """Return the operands, then the workspace, as a kernel accesses them: the launch arguments in order."""
    made = [
        matrix_of(w, problem, operand, sizes, memory_path(problem, operand, target).by is AccessBy.LANES)
        for operand in problem.operands
    ]
    for operand in prepared_operands(problem, config.strategy.workspace):
        written, place = workspace_of(problem, operand), problem.operands.index(operand)
        if kernel == prepare_kernel(problem, operand) and not is_decoded(problem, operand):
            made[place], written = as_bits(made[place], operand), as_bits(written, operand)
        made.append(written)
    if config.strategy.split_k is SplitK.PARTIAL_SUMS:
        made.append(partials(w, problem, config, sizes))
    reducing = [i for i, step in enumerate(problem.epilogue) if step.kind is EpilogueKind.REDUCE]
    return [*made, *(sums(w, problem, config, sizes, step) for step in reducing)]


def _gemm(w: Writer, kernel: Kernel) -> None:
    config, tiles, parts = kernel.config, kernel.tiles, kernel.config.strategy.k_subgroups
    z = w.insert(gpu.BlockIdOp(gpu.Dimension.Z)).result if kernel.problem.batch * config.matmul.threads.k > 1 else 0
    split, batch = w.rem(z, config.matmul.threads.k), w.div(z, config.matmul.threads.k)
    k_first, k_end = k_range(w, config, split, kernel.sizes["k"])
    part = w.insert(gpu.SubgroupIdOp()).result if parts > 1 else 0
    columns = columns_of_b(kernel.problem, config, kernel.sizes["n"])
    ab = sources(w, kernel.problem, config, kernel.matrices, tiles, part, columns)
    repeated = is_persistent(kernel.problem, config)
    multiply = Multiply(kernel.problem, config, tiles, ab, repeated, kernel.stays_inside, kernel.target.block2d)
    element = stored_element(kernel.problem.dtype_acc)
    products = kernel.problem.products
    sums = k_parts(w, tiles, element, parts, products, part, repeated=repeated) if parts > 1 else None

    def store(w: Writer, kernel: Kernel, place: Place, products: Sequence[SSAValue]) -> None:
        match config.strategy.split_k:
            case SplitK.NONE:
                kernel.epilogue(tiles.stored).write(w, place, products)
            case SplitK.ATOMIC:
                add_atomically(w, kernel.problem, kernel.matrices["C"], tiles.stored, place, *products)
            case SplitK.PARTIAL_SUMS:
                store_partials(w, kernel.matrices[PARTIALS], tiles.stored, place, z, products)

    def tile(w: Writer, kernel: Kernel, multiply: Multiply, place: Place) -> None:
        products = sums_of_products(w, kernel.problem, tiles.c, multiply.write(w, place))
        if sums is None:
            store(w, kernel, place, products)
        else:
            sums.write(w, place, products, lambda w, place, totals: store(w, kernel, place, totals))

    def plain(w: Writer, row: Index, column: Index) -> None:
        tile(w, kernel, multiply, Place(batch, row, column, k_first, k_end))

    def of_expert(w: Writer, expert: Index, row: Index, column: Index, end: Index) -> None:
        a, *bs = ab
        by_row = [operand.name for operand in kernel.problem.operands if "m" in operand.axes]
        until = {name: kernel.matrices[name].until(w, end) for name in by_row}
        of = replace(kernel, matrices={**kernel.matrices, **until})
        place = Place(expert, row, column, k_first, k_end)
        tile(w, of, replace(multiply, ab=(replace(a, matrix=until["A"]), *bs)), place)

    if kernel.problem.experts is None:
        kernel.for_each_tile(w, plain)
    else:
        offsets, n = kernel.matrices[OFFSETS], kernel.sizes["n"]
        ExpertTiles(offsets, kernel.problem.experts, n, config).for_each(w, of_expert)


def _clear(w: Writer, kernel: Kernel) -> None:
    batch = _batch(w, kernel)
    kernel.for_each_tile(
        w, lambda w, row, column: clear(w, kernel.matrices["C"], kernel.tiles.c, Place(batch, row, column, 0, 0))
    )


def _finish(w: Writer, kernel: Kernel) -> None:
    batch, splits, problem = _batch(w, kernel), kernel.config.matmul.threads.k, kernel.problem
    register_bytes = kernel.config.strategy.grf_mode * kernel.target.grf_bytes
    part = part_to_finish(problem, kernel.tiles.c, splits, register_bytes)
    epilogue, (rows, columns), whole = kernel.epilogue(part), part.shape, kernel.tiles.c.shape

    def tile(w: Writer, row: Index, column: Index) -> None:
        def finish(w: Writer, down: Index, right: Index) -> None:
            place = Place(batch, w.add(row, down), w.add(column, right), 0, 0)
            epilogue.write(w, place, add_partials(w, kernel.matrices[PARTIALS], part, place, splits, problem.products))

        w.for_each(
            whole[0], rows, lambda w, down: w.for_each(whole[1], columns, lambda w, right: finish(w, down, right))
        )

    kernel.for_each_tile(w, tile)


def _batch(w: Writer, kernel: Kernel) -> Index:
    return w.insert(gpu.BlockIdOp(gpu.Dimension.Z)).result if kernel.problem.batch > 1 else 0


def _prepare(problem: GemmProblem, operand: Operand) -> Body:
    def body(w: Writer, kernel: Kernel) -> None:
        batch = _batch(w, kernel) if operand.batch_stride else 0
        write_prepared(w, problem, operand, kernel.matrices, batch)

    return body


def _sum_of(step: int) -> Body:
    def body(w: Writer, kernel: Kernel) -> None:
        axis = kernel.problem.epilogue[step].axis
        (result,) = (kernel.matrices[o.name] for o in kernel.problem.operands if o.step == step)
        sum_partials(w, axis, kernel.matrices[sums_name(step)], result, _batch(w, kernel))

    return body
