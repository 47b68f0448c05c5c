"""The deep-tiled matmul as MLIR: the IR that the document expects of its rewrite, from the same configuration.

Threads are an `scf.forall`, blocks and tiles nested `scf.for`s over slices, the micro-kernel a
`linalg.batch_reduce_matmul`; threads over K are a second `scf.forall` whose partial results a `linalg.generic` adds.

It differs from the document's listing where that is wrong or incomplete. There, the loop over K of a k thread begins at
`%arg3 * KBlock` and steps by `KThreads * KBlock` up to a K of one block: the second thread has no step, the first does
all, and the offset `%arg3 * 64` is not used. Here, as in the kernels, each k thread has a range of K blocks of its own,
which the o loop over K walks; the document has one more loop for that.
Constants and offsets that are equal are stated once, and what does not divide has slices of variable size.

Source: DOC: deep-Tiled Matmul, "Expected IR Change".
"""

from collections.abc import Callable
from dataclasses import dataclass

from codegen.config.cpu import CpuConfig
from codegen.config.matmul import Extent
from codegen.problem.dtype import DType
from codegen.problem.gemm import GemmProblem
from codegen.xe.rules.sizes import ceil_div

Size = int | str
"""A length that is known, or the value that holds it."""

_ELEMENTS = {DType.F32: "f32", DType.TF32: "f32", DType.F16: "f16", DType.BF16: "bf16", DType.I32: "i32"}
_BYTE = "i8"
_UNSIGNED = "uint8 is not a type of linalg's matmul"


def has_document_form(problem: GemmProblem) -> str | None:
    """Return why a problem has no such module, or None: the document's matmul is one product of plain matrices."""
    if problem.batch > 1:
        return "the document's matmul has no batch"
    if problem.transpose_a or problem.transpose_b:
        return "the document's matmul transposes nothing"
    if problem.has_weights:
        return "the document's matmul decodes nothing"
    if problem.gate is not None or problem.experts is not None:
        return "the document's matmul is one product by one B"
    if DType.U8 in (problem.dtype_a, problem.dtype_b):
        return _UNSIGNED
    return None


def deep_tiled_mlir(problem: GemmProblem, config: CpuConfig) -> str:
    """Return the module of a problem whose `has_document_form` is None: C + A @ B as tensors, before the epilogue."""
    return _Module(problem, config).text()


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A value that holds a matrix."""

    name: str
    rows: Size
    columns: Size
    element: str

    @property
    def type(self) -> str:
        return tensor_type(self.rows, self.columns, element=self.element)


def tensor_type(*sizes: Size, element: str) -> str:
    """Return the type of a tensor; unknown sizes are `?`."""
    lengths = [str(size) if isinstance(size, int) else "?" for size in sizes]
    return f"tensor<{'x'.join([*lengths, element])}>"


class _Module:
    """Writes one module."""

    def __init__(self, problem: GemmProblem, config: CpuConfig) -> None:
        self.problem, self.config = problem, config
        self._lines: list[str] = []
        self._constants: dict[int, str] = {}
        self._count = 0
        self._depth = 2

    def text(self) -> str:
        """The module's text."""
        p = self.problem
        element = _ELEMENTS.get(p.dtype_a, _BYTE)
        sums = "i32" if p.dtype_a.is_integer else "f32"
        a, b = _Tensor("%a", p.m, p.k, element), _Tensor("%b", p.k, p.n, element)
        c = _Tensor("%c", p.m, p.n, sums)
        result = self._over_threads(a, b, c)
        self._write(f"return {result} : {c.type}")
        constants = [f"    {name} = arith.constant {value} : index" for value, name in self._constants.items()]
        head = f"  func.func @matmul(%a: {a.type}, %b: {b.type}, %c: {c.type}) -> {c.type} {{"
        return "\n".join(["module {", head, *constants, *self._lines, "  }", "}", ""])

    # Loops, outermost first.

    def _over_threads(self, a: _Tensor, b: _Tensor, c: _Tensor) -> str:
        threads, p = self.config.matmul.threads, self.problem
        by_m_first = self.config.matmul.loop_order.walks_along_n
        first, second = (threads.m, threads.n) if by_m_first else (threads.n, threads.m)
        result, outer, inner = self._new(), self._new("thread"), self._new("thread")
        whole = self._new("shared")
        self._write(
            f"{result} = scf.forall ({outer}, {inner}) in ({first}, {second}) shared_outs({whole} = {c.name}) "
            f"-> ({c.type}) {{"
        )
        self._depth += 1
        tm, tn = (outer, inner) if by_m_first else (inner, outer)
        tiles = self.config.matmul.innermost
        row, rows = self._part(tm, p.m, tiles.m, threads.m)
        column, columns = self._part(tn, p.n, tiles.n, threads.n)
        rows_of_a = self._slice(a, row, 0, rows, p.k)
        columns_of_b = self._slice(b, 0, column, p.k, columns)
        mine = self._slice(_Tensor(whole, p.m, p.n, c.element), row, column, rows, columns)
        done = (self._over_k_threads if threads.k > 1 else self._over_blocks)(rows_of_a, columns_of_b, mine)
        self._write("scf.forall.in_parallel {")
        place = f"[{row}, {column}] [{rows}, {columns}] [1, 1]"
        self._write(f"  tensor.parallel_insert_slice {done.name} into {whole}{place} : {done.type} into {c.type}")
        self._write("}")
        self._end("}")
        return result

    def _over_k_threads(self, a: _Tensor, b: _Tensor, c: _Tensor) -> _Tensor:
        """Sum the K blocks of each k thread from zero, then add the partial results to C."""
        splits, block = self.config.matmul.threads.k, self.config.matmul.block
        partial = tensor_type(c.rows, c.columns, splits, element=c.element)
        sizes = ", ".join(size for size in (c.rows, c.columns) if isinstance(size, str))
        empty, zero, filled = self._new("empty"), self._new("zero"), self._new("filled")
        self._write(f"{empty} = tensor.empty({sizes}) : {partial}")
        self._write(f"{zero} = arith.constant {'0' if c.element == 'i32' else '0.0'} : {c.element}")
        self._write(f"{filled} = linalg.fill ins({zero} : {c.element}) outs({empty} : {partial}) -> {partial}")
        sums, thread, shared = self._new("sums"), self._new("thread"), self._new("shared")
        self._write(f"{sums} = scf.forall ({thread}) in ({splits}) shared_outs({shared} = {filled}) -> ({partial}) {{")
        self._depth += 1
        start, depth = self._part(thread, self.problem.k, block.k, splits)
        part = _Tensor(self._new("part"), c.rows, c.columns, c.element)
        place = f"[0, 0, {thread}] [{c.rows}, {c.columns}, 1] [1, 1, 1]"
        self._write(f"{part.name} = tensor.extract_slice {shared}{place} : {partial} to {part.type}")
        mine_a = self._slice(a, 0, start, a.rows, depth)
        mine_b = self._slice(b, start, 0, depth, b.columns)
        done = self._over_blocks(mine_a, mine_b, part)
        self._write("scf.forall.in_parallel {")
        self._write(f"  tensor.parallel_insert_slice {done.name} into {shared}{place} : {done.type} into {partial}")
        self._write("}")
        self._end("}")
        result = _Tensor(self._new("sum"), c.rows, c.columns, c.element)
        add = "arith.addi" if c.element == "i32" else "arith.addf"
        maps = "affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>"
        kinds = '"parallel", "parallel", "reduction"'
        self._write(
            f"{result.name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
            f"ins({sums} : {partial}) outs({c.name} : {c.type}) {{"
        )
        self._write(f"^bb0(%in: {c.element}, %out: {c.element}):")
        self._write(f"  %added = {add} %in, %out : {c.element}")
        self._write(f"  linalg.yield %added : {c.element}")
        self._write(f"}} -> {c.type}")
        return result

    def _over_blocks(self, a: _Tensor, b: _Tensor, c: _Tensor) -> _Tensor:
        return self._nest(a, b, c, self.config.matmul.block, self.config.matmul.loop_order.blocks, self._over_tiles)

    def _over_tiles(self, a: _Tensor, b: _Tensor, c: _Tensor) -> _Tensor:
        order = ("n", "m", "k") if self.config.matmul.loop_order.innermost_along_m else ("m", "n", "k")
        return self._nest(a, b, c, self.config.matmul.innermost, order, self._multiply)

    def _nest(
        self,
        a: _Tensor,
        b: _Tensor,
        c: _Tensor,
        step: Extent,
        order: tuple[str, str, str],
        inside: Callable[[_Tensor, _Tensor, _Tensor], _Tensor],
    ) -> _Tensor:
        """Three loops, the innermost over slices of A, B and C; the results of each are those of the next inner one."""
        lengths: dict[str, Size] = {"m": c.rows, "n": c.columns, "k": a.columns}
        steps = {"m": step.m, "n": step.n, "k": step.k}
        at: dict[str, str] = {}
        results: list[str] = []
        carried = c.name
        for axis in order:
            at[axis], results = self._new(f"at_{axis}"), [*results, self._new()]
            bounds = f"{self._value(0)} to {self._value(lengths[axis])} step {self._value(steps[axis])}"
            inner = self._new("c")
            self._write(
                f"{results[-1]} = scf.for {at[axis]} = {bounds} iter_args({inner} = {carried}) -> ({c.type}) {{"
            )
            self._depth += 1
            carried = inner
        sizes = {axis: self._rest(at[axis], lengths[axis], steps[axis]) for axis in "mnk"}
        whole = _Tensor(carried, c.rows, c.columns, c.element)
        done = inside(
            self._slice(a, at["m"], at["k"], sizes["m"], sizes["k"]),
            self._slice(b, at["k"], at["n"], sizes["k"], sizes["n"]),
            self._slice(whole, at["m"], at["n"], sizes["m"], sizes["n"]),
        )
        inserted = self._new()
        place = f"[{at['m']}, {at['n']}] [{sizes['m']}, {sizes['n']}] [1, 1]"
        self._write(f"{inserted} = tensor.insert_slice {done.name} into {carried}{place} : {done.type} into {c.type}")
        for result in (inserted, *results[:0:-1]):
            self._write(f"scf.yield {result} : {c.type}")
            self._end("}")
        return _Tensor(results[0], c.rows, c.columns, c.element)

    def _multiply(self, a: _Tensor, b: _Tensor, c: _Tensor) -> _Tensor:
        pair: list[tuple[str, str]] = []
        for tensor in (a, b):
            batched = tensor_type(1, tensor.rows, tensor.columns, element=tensor.element)
            name = self._new("batch")
            self._write(
                f"{name} = tensor.expand_shape {tensor.name} [[0, 1], [2]] "
                f"output_shape [1, {tensor.rows}, {tensor.columns}] : {tensor.type} into {batched}"
            )
            pair.append((name, batched))
        result = _Tensor(self._new(), c.rows, c.columns, c.element)
        (name_a, type_a), (name_b, type_b) = pair
        self._write(
            f"{result.name} = linalg.batch_reduce_matmul ins({name_a}, {name_b} : {type_a}, {type_b}) "
            f"outs({c.name} : {c.type}) -> {c.type}"
        )
        return result

    # Lengths and places.

    def _part(self, thread: str, length: int, unit: int, parts: int) -> tuple[Size, Size]:
        """Return the begin and length of a thread's part: whole units, distributed evenly, larger parts first."""
        if parts == 1:
            return 0, length
        each, over = divmod(ceil_div(length, unit), parts)
        if not over and length == parts * each * unit:
            return self._apply(f"d0 * {each * unit}", thread), each * unit
        ends = f"d0 * {(each + 1) * unit}, d0 * {each * unit} + {over * unit}"
        after = f"(d0 + 1) * {(each + 1) * unit}, (d0 + 1) * {each * unit} + {over * unit}, {length}"
        begin, end = self._new("begin"), self._new("end")
        self._write(f"{begin} = affine.min affine_map<(d0) -> ({ends}, {length})>({thread})")
        self._write(f"{end} = affine.min affine_map<(d0) -> ({after})>({thread})")
        size = self._new("size")
        self._write(f"{size} = affine.apply affine_map<(d0, d1) -> (d1 - d0)>({begin}, {end})")
        return begin, size

    def _rest(self, at: str, length: Size, step: int) -> Size:
        """Return the length of a step that begins at `at`; the last may be shorter."""
        if isinstance(length, int) and length % step == 0:
            return step
        if isinstance(length, int) and length < step:
            return length
        size = self._new("size")
        self._write(f"{size} = affine.min affine_map<(d0)[s0] -> ({step}, s0 - d0)>({at})[{self._value(length)}]")
        return size

    def _slice(self, of: _Tensor, row: Size, column: Size, rows: Size, columns: Size) -> _Tensor:
        if (row, column, rows, columns) == (0, 0, of.rows, of.columns):
            return of
        part = _Tensor(self._new("slice"), rows, columns, of.element)
        place = f"[{row}, {column}] [{rows}, {columns}] [1, 1]"
        self._write(f"{part.name} = tensor.extract_slice {of.name}{place} : {of.type} to {part.type}")
        return part

    def _apply(self, expression: str, of: str) -> str:
        name = self._new("offset")
        self._write(f"{name} = affine.apply affine_map<(d0) -> ({expression})>({of})")
        return name

    def _value(self, size: Size) -> str:
        """Return a size as a value."""
        return size if isinstance(size, str) else self._constants.setdefault(size, f"%c{size}")

    def _new(self, stem: str = "") -> str:
        self._count += 1
        return f"%{stem}{'_' if stem else 'v'}{self._count}"

    def _write(self, line: str) -> None:
        self._lines.append("  " * self._depth + line)

    def _end(self, line: str) -> None:
        self._depth -= 1
        self._write(line)
