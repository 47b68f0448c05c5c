"""Operations on whole vectors: transposition, reduction, broadcast, other layouts, products."""

from dataclasses import replace

from tests.codegen.xe.fuzz import memory
from tests.codegen.xe.fuzz.arithmetic import cast, combined, kept, may_be_cast
from tests.codegen.xe.fuzz.kernel import Kernel, Level, Value
from tests.codegen.xe.fuzz.maps import Map, Shape
from tests.codegen.xe.fuzz.numbers import INTEGERS, accumulated, multiplied, summed

_WIDTHS, _NARROW = (32, 48, 64, 96), (1, 4, 8, 16, 24, 40)
_PRODUCTS = {"f16": ("f32", "f16"), "bf16": ("f32", "bf16"), "i8": ("i32",)}


def converted(kernel: Kernel, value: Value, map_: Map | None) -> Value:
    """Owned by others."""
    if map_ is None or map_ == value.map:
        return value
    source = f", wg_map_source = {value.map}" if kernel.rng.random() < 0.3 else ""
    name = kernel.let(f"xetile.convert_layout {value.name} {{wg_map_result = {map_}{source}}} : {value.type}")
    return replace(value, name=name, map=map_)


def turned(kernel: Kernel, value: Value) -> Value:
    """The transposed value."""
    map_ = value.map.turned() if value.map else None
    said = f" {{wg_map_result = {map_}}}" if map_ and kernel.rng.random() < 0.5 else ""
    new = replace(value, shape=value.shape[::-1], map=map_)
    return replace(new, name=kernel.let(f"xetile.transpose {value.name}, [1, 0]{said} : {value.type} -> {new.type}"))


def reduced(kernel: Kernel, value: Value, dim: int, *, largest: bool = False) -> Value:
    """One row or column of a value."""
    kinds, numbers = _kinds(value), value.numbers
    kind = "maxsi" if value.element in INTEGERS else "maximumf"
    kind = kind if largest else kernel.rng.choice(kinds)
    if kind == "add":
        numbers = accumulated(numbers, value.shape[dim])
        if not numbers.fits:
            kind, numbers = "maximumf", value.numbers
    shape: Shape = (1, value.shape[1]) if dim == 0 else (value.shape[0], 1)
    map_ = value.map.reduced(dim) if value.map else None
    whole = value.map is not None and value.map.data[dim] == value.shape[dim]
    said = f" {{wg_map_result = {map_}}}" if map_ and whole and kernel.rng.random() < 0.5 else ""
    new = Value("", shape, map_, numbers)
    text = f"xetile.reduction <{kind}>, {value.name} [{dim}]{said} : {value.type} -> {new.type}"
    return replace(new, name=kernel.let(text))


def collapsed(kernel: Kernel, value: Value) -> Value:
    """All of a value as one element, the largest or the smallest."""
    kind = kernel.rng.choice(("maxsi", "minui") if value.element in INTEGERS else ("maximumf", "minnumf"))
    new = Value("", (1, 1), value.map.reduced(0).reduced(1) if value.map else None, value.numbers)
    return replace(new, name=kernel.let(f"xetile.reduction <{kind}>, {value.name} [0, 1] : {value.type} -> {new.type}"))


def blocked(kernel: Kernel, value: Value) -> Value:
    """The value again, after it was blocked."""
    if value.map:  # blocked values take none
        return value
    rows, columns = (kernel.rng.choice([d for d in (1, 2, 4, 8, 16) if extent % d == 0]) for extent in value.shape)
    blocks = f"{value.shape[0] // rows}x{value.shape[1] // columns}x{rows}x{columns}"
    said, type_ = f"{{inner_blocks = array<i64: {rows}, {columns}>}}", f"vector<{blocks}x{value.element}>"
    packed = kernel.let(f"xetile.tile_pack {value.name} {said} : {value.type} -> {type_}")
    name = "absi" if value.element in INTEGERS else "absf"
    made = kernel.let(f"math.{name} {packed} : {type_}")
    return replace(value, name=kernel.let(f"xetile.tile_unpack {made} {said} : {type_} -> {value.type}"))


def spread(kernel: Kernel, value: Value, like: Value) -> Value:
    """A row or a column as large as another value."""
    dims = [d for d in (0, 1) if value.shape[d] == 1 and like.shape[d] > 1]
    said = f" {{wg_map_result = {like.map}}}" if like.map and kernel.rng.random() < 0.5 else ""
    new = replace(value, shape=like.shape, map=like.map)
    return replace(new, name=kernel.let(f"xetile.broadcast {value.name} {dims}{said} : {value.type} -> {new.type}"))


def normalised(kernel: Kernel, value: Value) -> Value:
    """Combined with its rows' or columns' sums, products or largest."""
    dims = [d for d in (0, 1) if value.shape[d] > 1]
    if not dims:
        return value
    row = reduced(kernel, value, kernel.rng.choice(dims))
    if kernel.rng.random() < 0.3:
        kernel.values.append(row)
    return combined(kernel, value, spread(kernel, row, value))


def biased(kernel: Kernel, value: Value) -> Value:
    """Combined with a row or a column of a new argument."""
    dims = [d for d in (0, 1) if value.shape[d] > 1]
    if not dims:
        return value
    dim = kernel.rng.choice(dims)
    shape: Shape = (1, value.shape[1]) if dim == 0 else (value.shape[0], 1)
    row = memory.load(kernel, shape, value.element, value.map.reduced(dim) if value.map else None)
    return combined(kernel, value, spread(kernel, row, value))


def kept_in_place(kernel: Kernel, value: Value) -> Value:
    """A value that is no larger, owned by the same, after a way that elements move."""
    ways = ("largest", "itself") if kernel.plain else ("turned", "converted", "staged", "largest", "itself")
    way = kernel.rng.choice(ways)
    if way == "turned":
        return turned(kernel, turned(kernel, value))
    if way == "converted" and value.map:
        moved = converted(kernel, value, memory.map_of(kernel, value.shape))
        return converted(kernel, kept(kernel, moved, moved), value.map)
    if way == "staged":
        return converted(kernel, memory.staged(kernel, value), value.map)
    if way == "largest" and max(value.shape) > 1:
        row = reduced(kernel, value, 0 if value.shape[0] > 1 else 1, largest=True)
        return kept(kernel, value, spread(kernel, row, value))
    return value


def product(kernel: Kernel) -> Value | None:
    """Of new arguments, or of a value and a new argument; in a loop over K or not. None where no map serves."""
    rng = kernel.rng
    element = rng.choice([name for name in _PRODUCTS if name != "i8" or not kernel.plain])
    step = 32 if element == "i8" else 16
    m, k = rng.choice((8, 16, 24, 32, 48)), step * rng.choice((1, 2, 3)) + (8 if rng.random() < 0.03 else 0)
    n = rng.choice(_WIDTHS if kernel.plain or rng.random() < 0.8 else _NARROW)
    c_map = memory.map_of(kernel, (m, n), (1, 16) if n % 16 == 0 and rng.random() < 0.9 else (1, 1))
    if kernel.level is Level.WORKGROUP and c_map is None:
        return None
    a_map = Map(c_map.layout, (c_map.data[0], k)) if c_map else None
    b_map = Map(c_map.layout, (k, c_map.data[1])) if c_map else None
    a, b = _operand(kernel, (m, k), element, a_map), memory.load(kernel, (k, n), element, b_map)
    result = rng.choice(_PRODUCTS[element])
    terms = multiplied(replace(a.numbers, element="f32"), replace(b.numbers, element="f32"))
    numbers = accumulated(terms, k)
    if not numbers.rounded(result).fits:
        return None
    return _multiplied(kernel, a, b, Value("", (m, n), c_map, numbers.rounded(result)))


def _multiplied(kernel: Kernel, a: Value, b: Value, c: Value) -> Value:
    said = ""
    if c.map and kernel.rng.random() < 0.7:
        said = f" {{wg_map_a = {a.map}, wg_map_b = {b.map}, wg_map_c = {c.map}}}"
    way = kernel.rng.choice(("alone", "sum", "loop"))
    types = f"{a.type}, {b.type}"
    if way == "alone":
        return replace(c, name=kernel.let(f"xetile.tile_mma {a.name}, {b.name}{said} : {types} -> {c.type}"))
    start = memory.load(kernel, c.shape, c.element, c.map)
    numbers = summed(c.numbers, start.numbers)
    if way == "sum" or c.element in ("f16", "bf16"):
        text = f"xetile.tile_mma {a.name}, {b.name}, {start.name}{said} : {types}, {c.type} -> {c.type}"
        return replace(c, name=kernel.let(text), numbers=numbers)
    name = kernel.name()
    carried = f"%acc{name[1:]} = {start.name}"
    kernel.line(f"{name} = scf.for %k{name[1:]} = %c0 to %c2 step %c1 iter_args({carried}) -> ({c.type}) {{")
    with kernel.nested():
        text = f"xetile.tile_mma {a.name}, {b.name}, %acc{name[1:]}{said} : {types}, {c.type} -> {c.type}"
        kernel.line(f"scf.yield {kernel.let(text)} : {c.type}")
    kernel.line("}")
    return replace(c, name=name, numbers=summed(summed(c.numbers, c.numbers), start.numbers))


def _operand(kernel: Kernel, shape: Shape, element: str, map_: Map | None) -> Value:
    """A value of the shape if there is one that may be cast, or a new argument."""
    fitting = [v for v in kernel.values if v.shape == shape and may_be_cast(v, element) and v.numbers.bound <= 64]
    if not fitting or kernel.rng.random() < 0.4:
        return memory.load(kernel, shape, element, map_)
    return converted(kernel, cast(kernel, kernel.rng.choice(fitting), element), map_)


def _kinds(value: Value) -> tuple[str, ...]:
    if value.element in INTEGERS:
        return ("add", "maxsi", "minui", "xor", "mul")
    return ("add", "maximumf", "minimumf", "maxnumf", "minnumf")
