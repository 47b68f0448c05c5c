"""Random work-group kernels whose layouts stand on descriptors, on operations, on some of both, or nowhere."""

from dataclasses import dataclass
from random import Random

from tests.codegen.xe.fuzz.draw import Draw, Level
from tests.codegen.xe.fuzz.kernel import Memory
from tests.codegen.xe.fuzz.numbers import Numbers

Shape = tuple[int, int]
_STYLES = ("descriptors", "operations", "mixed", "none")
_LANES = 16
_ONE_ROUND = "one round"
_ORDERS = ("order = [0, 1]", "order = [1, 0]", "no order")
"""Of several in a kernel, the first counts."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """A layout, and how it divides its value: rounds other than one, and the order of ids."""

    text: str
    rounds: set[str]
    order: str


class _Writer:
    """Writes one kernel; each value may have a layout of its own."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.style = rng.choice(_STYLES)
        self.subgroups = rng.choice((2, 4, 8))
        self.lines: list[str] = []
        self.arguments: list[Memory] = []
        self.layouts: dict[str, str | None] = {}
        self.rounds: set[str] = set()
        self.orders: set[str] = set()

    def draw_layout(self, shape: Shape, least: Shape) -> "_Layout":
        """A layout of a value: any factors of the sub-groups, one or several rounds or shared parts, any order."""
        rows = self.rng.choice([n for n in (1, 2, 4, 8) if self.subgroups % n == 0])
        counts = rows, self.subgroups // rows
        data = [self._data(*entry) for entry in zip(shape, counts, least, strict=True)]
        order = self.rng.choice(("", "", ", order = [0, 1]", ", order = [1, 0]"))
        rounds = {_rounds(*entry) for entry in zip(shape, counts, data, strict=True)} - {_ONE_ROUND}
        text = f"#xegpu.layout<sg_layout = {list(counts)}, sg_data = {data}{order}>"
        return _Layout(text, rounds, order.removeprefix(", ") or "no order")

    def layout(self, shape: Shape, least: Shape) -> str:
        """The text of a layout that the kernel has."""
        return self.use(self.draw_layout(shape, least))

    def use(self, layout: "_Layout") -> str:
        """Note a layout that the kernel has; its text."""
        self.rounds |= layout.rounds
        self.orders.add(layout.order)
        return layout.text

    def _data(self, extent: int, count: int, least: int) -> int:
        fitting = [d for d in range(least, extent + 1, least) if extent % d == 0]
        fitting = [d for d in fitting if extent % (d * count) == 0 or (d * count) % extent == 0]
        return self.rng.choice(fitting)

    def places(self) -> tuple[bool, bool]:
        """Return two flags: a layout on the descriptor, and one on the operation."""
        match self.style:
            case "descriptors":
                return True, False
            case "operations":
                return False, True
            case "mixed":
                return self.rng.choice(((True, True), (True, False), (False, True), (False, False)))
            case _:
                return False, False

    def descriptor(self, name: str, shape: Shape, element: str, least: Shape) -> tuple[str, str]:
        """Describe a matrix; the type of the descriptor, and the properties of its load or store."""
        size = f"{shape[0]}x{shape[1]}x{element}"
        on_type, on_operation = self.places()
        drawn = self.draw_layout(shape, least)
        layout = self.use(drawn) if on_type or on_operation else None
        self.layouts[name] = layout
        kind = f"!xegpu.tensor_desc<{size}{f', {layout}' if on_type else ''}>"
        self.arguments.append(_memory(name, element, shape))
        self.lines.append(f"%t{name} = xegpu.create_nd_tdesc %{name} : memref<{size}> -> {kind}")
        return kind, f" <{{layout = {layout}}}>" if on_operation else ""

    def load(self, name: str, shape: Shape, element: str, least: Shape) -> str:
        """Load a matrix."""
        kind, extra = self.descriptor(name, shape, element, least)
        vector = f"vector<{shape[0]}x{shape[1]}x{element}>"
        self.lines.append(f"%v{name} = xegpu.load_nd %t{name}[0, 0]{extra} : {kind} -> {vector}")
        return f"%v{name}"

    def store(self, value: str, name: str, shape: Shape, element: str, least: Shape) -> None:
        """Store a value to a matrix."""
        kind, extra = self.descriptor(name, shape, element, least)
        vector = f"vector<{shape[0]}x{shape[1]}x{element}>"
        self.lines.append(f"xegpu.store_nd {value}, %t{name}[0, 0]{extra} : {vector}, {kind}")


def _rounds(extent: int, count: int, data: int) -> str:
    if count * data == extent:
        return _ONE_ROUND
    return "several rounds" if count * data < extent else "shared parts"


def _memory(name: str, element: str, shape: Shape) -> Memory:
    return Memory(name, element, shape, numbers=Numbers(element, 4096.0, 0.0625, 0.0))


def draw_layouts(seed: int) -> Draw:
    """The kernel of a seed: a copy, a product or a reduction. Its steps: style, rounds, order, and which of these."""
    rng = Random(seed)
    w = _Writer(rng)
    kind = rng.choice((_copy, _product, _product, _reduction))(w)
    arguments = ", ".join(f"%{m.name}: memref<{m.shape[0]}x{m.shape[1]}x{m.element}>" for m in w.arguments)
    threads = w.subgroups * _LANES
    body = "\n    ".join(w.lines)
    source = f"""gpu.module @m {{
  gpu.func @k({arguments}) kernel attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
    {body}
    gpu.return
  }}
}}
"""
    rounds = " and ".join(sorted(w.rounds)) or (_ONE_ROUND if w.orders else "no layout")
    order = next((order for order in _ORDERS if order in w.orders), "no layout")
    steps = (w.style, rounds, order, kind)
    return Draw(seed, source, Level.WORKGROUP, tuple(w.arguments), (1, 1, 1), (threads, 1, 1), steps)


def _copy(w: _Writer) -> str:
    element = w.rng.choice(("f32", "f16", "i32", "bf16"))
    shape = w.rng.choice(((32, 64), (64, 32), (16, 128)))
    value = w.load("A", shape, element, (8, 16))
    if w.rng.random() < 0.5:
        value = _converted(w, value, shape, element)
    w.store(value, "B", shape, element, (8, 16))
    return "copy"


def _converted(w: _Writer, value: str, shape: Shape, element: str) -> str:
    source, drawn = w.layouts["A"], w.draw_layout(shape, (8, 16))
    if source is None:
        return value
    target = w.use(drawn)
    vector = f"vector<{shape[0]}x{shape[1]}x{element}>"
    w.lines.append(
        f"%w = xegpu.convert_layout {value} <{{input_layout = {source}, target_layout = {target}}}> : {vector}"
    )
    return "%w"


def _product(w: _Writer) -> str:
    m, n, k = w.rng.choice((16, 32, 64)), w.rng.choice((32, 64, 128)), w.rng.choice((16, 32))
    a, b = w.load("A", (m, k), "f16", (8, 16)), w.load("B", (k, n), "f16", (16, 16))
    operands, types = [a, b], [f"vector<{m}x{k}xf16>", f"vector<{k}x{n}xf16>"]
    if w.rng.random() < 0.5:
        operands.append(w.load("D", (m, n), "f32", (8, 16)))
        types.append(f"vector<{m}x{n}xf32>")
    extras = ""
    if w.style in ("operations", "mixed") and w.rng.random() < 0.7:
        layouts = zip(("a", "b", "cd"), ((m, k), (k, n), (m, n)), ((8, 16), (16, 16), (8, 16)), strict=True)
        extras = ", ".join(f"layout_{name} = {w.layout(shape, least)}" for name, shape, least in layouts)
        extras = f" {{{extras}}}"
    w.lines.append(f"%d = xegpu.dpas {', '.join(operands)}{extras} : {', '.join(types)} -> vector<{m}x{n}xf32>")
    w.store("%d", "C", (m, n), "f32", (8, 16))
    return "product"


def _reduction(w: _Writer) -> str:
    shape, dim = w.rng.choice(((32, 64), (64, 32), (16, 128))), w.rng.randrange(2)
    value = w.load("A", shape, "f32", (8, 16))
    kind, start = w.rng.choice((("add", "0.0"), ("maximumf", "-512.0")))
    vector, left = f"vector<{shape[0]}x{shape[1]}xf32>", shape[1 - dim]
    layout = ""
    if w.style in ("operations", "mixed") and w.rng.random() < 0.5:
        layout = f"{{layout_result_0 = #xegpu.slice<{w.layout(shape, (8, 16))}, dims = [{dim}]>}} "
    w.lines.append(f"%s = arith.constant dense<{start}> : vector<{left}xf32>")
    w.lines.append(
        f"%r = vector.multi_reduction <{kind}>, {value}, %s {layout}[{dim}] : {vector} to vector<{left}xf32>"
    )
    spread = f"vector<{shape[0]}x{shape[1]}xf32>"
    if dim == 0:
        w.lines.append(f"%b = vector.broadcast %r : vector<{left}xf32> to {spread}")
        w.store("%b", "B", shape, "f32", (8, 16))
        return "reduction of dimension 0"
    turned = f"vector<{left}x1xf32>"
    w.lines.append(f"%c = vector.shape_cast %r : vector<{left}xf32> to {turned}")
    w.lines.append(f"%b = vector.broadcast %c : {turned} to {spread}")
    w.store("%b", "B", shape, "f32", (8, 16))
    return "reduction of dimension 1"
