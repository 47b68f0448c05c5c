"""Loads and stores: tiles of new arguments, shared local memory, scattered elements."""

from dataclasses import replace
from math import prod

from tests.codegen.xe.fuzz.kernel import Kernel, Level, Memory, Value, vector
from tests.codegen.xe.fuzz.maps import Map, Shape, any_map
from tests.codegen.xe.fuzz.numbers import INTEGERS, Numbers, given


def tile(shape: Shape, element: str, map_: Map | None, *traits: str) -> str:
    """A tile type."""
    said = ([f"wg_map = {map_}"] if map_ else []) + [trait for trait in traits if trait]
    attribute = f", #xetile.tile_attr<{', '.join(said)}>" if said else ""
    return f"!xetile.tile<{shape[0]}x{shape[1]}x{element}{attribute}>"


def map_of(kernel: Kernel, shape: Shape, least: Shape = (1, 1)) -> Map | None:
    """A map of a shape; none at sub-group level."""
    if kernel.plain:
        least = (min(8, shape[0]), min(16, shape[1]))
    return any_map(kernel.rng, shape, kernel.subgroups, least) if kernel.level is Level.WORKGROUP else None


def load(kernel: Kernel, shape: Shape, element: str, map_: Map | None) -> Value:
    """Load a part of a new argument, in one of many ways."""
    rng = kernel.rng
    padded = not kernel.plain and rng.random() < 0.15
    by_columns = not padded and rng.random() < 0.15
    memory, start = _matrix(kernel, shape, element, by_columns, rng.random() < 0.2, padded)
    order = "order = [0, 1]" if memory.by_columns else ""
    type_ = tile(shape, element, map_, order)
    place = _tile_at(kernel, memory, start, type_)
    if rng.random() < 0.2:
        kernel.line(f"xetile.prefetch_tile {place} : {type_}")
    said, numbers = "", given(element)
    if padded and rng.random() < 0.5:
        said = f" {{padding = {_literal(element, 1)} : {element}}}"
    name = kernel.let(f"xetile.load_tile {place}{said} : {type_} -> {vector(shape, element)}")
    return Value(name, shape, map_, numbers)


def store(kernel: Kernel, value: Value) -> None:
    """Store a value to a new argument."""
    rng = kernel.rng
    by_columns = rng.random() < 0.1
    memory, start = _matrix(kernel, value.shape, value.element, by_columns, rng.random() < 0.2, rng.random() < 0.1)
    kernel.arguments[-1] = memory = replace(memory, numbers=value.numbers)
    type_ = tile(value.shape, value.element, value.map, "order = [0, 1]" if memory.by_columns else "")
    place = _tile_at(kernel, memory, start, type_)
    if value.numbers.is_exact and value.element in ("f32", "i32") and not kernel.plain and rng.random() < 0.1:
        kind = "addi" if value.element == "i32" else "addf"
        kernel.let(f"xetile.atomic_rmw {kind} {value.name}, {place} : {value.type}, {type_} -> {value.type}")
        return
    kernel.line(f"xetile.store_tile {value.name}, {place} : {value.type}, {type_}")


def staged(kernel: Kernel, value: Value) -> Value:
    """Through shared local memory, to others."""
    rows, columns = value.shape
    at_group_level = kernel.level is Level.WORKGROUP
    whole = rows if at_group_level else rows * kernel.subgroups
    memref = f"memref<{whole}x{columns}x{value.element}, 3>"
    start = "0"
    if not at_group_level:
        height = kernel.let(f"arith.constant {rows} : index")
        start = kernel.let(f"arith.muli %subgroup, {height} : index")
    local = kernel.let(f"memref.alloc() : {memref}")
    new = map_of(kernel, value.shape)
    source, target = (tile(value.shape, value.element, m, "memory_space = 3 : i32") for m in (value.map, new))
    written = kernel.let(f"xetile.init_tile {local}[{start}, 0] : {memref} -> {source}")
    kernel.line("gpu.barrier")
    kernel.line(f"xetile.store_tile {value.name}, {written} : {value.type}, {source}")
    kernel.line("gpu.barrier")
    read = kernel.let(f"xetile.init_tile {local}[{start}, 0] : {memref} -> {target}")
    name = kernel.let(f"xetile.load_tile {read} : {target} -> {value.type}")
    return Value(name, value.shape, new, value.numbers)


def gathered(kernel: Kernel, shape: Shape, element: str, map_: Map | None) -> Value:
    """Elements of a new argument, each `stride` elements apart, under a mask or not."""
    rng, count = kernel.rng, prod(shape)
    stride = rng.choice((1, 2, 3))
    memory = _line(kernel, count * stride, element, given(element))
    place, indices = _places(kernel, memory, shape, map_, stride)
    scattered = tile(shape, element, map_, "scattered = true")
    if rng.random() < 0.5:
        most = kernel.let(f"arith.constant dense<{count * stride // 2}> : {indices[1]}")
        mask = kernel.let(f"arith.cmpi ult, {indices[0]}, {most} : {indices[1]}")
        said = f"{place}, {mask} {{padding = {_literal(element, 1)} : {element}}} : {scattered}, {vector(shape, 'i1')}"
    else:
        said = f"{place} : {scattered}"
    return Value(kernel.let(f"xetile.load {said} -> {vector(shape, element)}"), shape, map_, given(element))


def scatter(kernel: Kernel, value: Value) -> None:
    """Store a value to elements of a new argument that are apart."""
    stride = kernel.rng.choice((1, 2))
    memory = _line(kernel, prod(value.shape) * stride, value.element, value.numbers)
    place, _ = _places(kernel, memory, value.shape, value.map, stride)
    type_ = tile(value.shape, value.element, value.map, "scattered = true")
    kernel.line(f"xetile.store {value.name}, {place} : {value.type}, {type_}")


def whole(kernel: Kernel, shape: Shape, element: str) -> Memory:
    """A new argument that is a matrix."""
    name = f"A{len(kernel.arguments)}"
    type_ = f"memref<{shape[0]}x{shape[1]}x{element}>"
    return kernel.argument(Memory(name, element, shape, type_, numbers=given(element)))


def _tile_at(kernel: Kernel, memory: Memory, start: tuple[str, str], type_: str) -> str:
    where = f"%{memory.name}[{', '.join(start)}]{_extents(memory)}"
    return kernel.let(f"xetile.init_tile {where} : {memory.type} -> {type_}")


def _line(kernel: Kernel, part: int, element: str, numbers: Numbers) -> Memory:
    count = part * kernel.parts
    name = f"A{len(kernel.arguments)}"
    return kernel.argument(Memory(name, element, (count,), f"memref<{count}x{element}>", numbers=numbers))


def _places(kernel: Kernel, memory: Memory, shape: Shape, map_: Map | None, stride: int) -> tuple[str, tuple[str, str]]:
    """A scattered tile of a part of memory; its indices from the part's beginning, with their type."""
    count, type_ = prod(shape), vector(shape, "index")
    step = kernel.let(f"vector.step : vector<{count}xindex>")
    line = kernel.let(f"vector.shape_cast {step} : vector<{count}xindex> to {type_}")
    strides = kernel.let(f"arith.constant dense<{stride}> : {type_}")
    within = kernel.let(f"arith.muli {line}, {strides} : {type_}")
    size = kernel.let(f"arith.constant {count * stride} : index")
    first = kernel.let(f"arith.muli %part, {size} : index")
    firsts = kernel.let(f"vector.broadcast {first} : index to {type_}")
    at = kernel.let(f"arith.addi {within}, {firsts} : {type_}")
    scattered = tile(shape, memory.element, map_, "scattered = true")
    return kernel.let(f"xetile.init_tile %{memory.name}, {at} : {memory.type}, {type_} -> {scattered}"), (within, type_)


def _matrix(
    kernel: Kernel, shape: Shape, element: str, by_columns: bool, dynamic: bool, padded: bool
) -> tuple[Memory, tuple[str, str]]:
    """A new argument with a part for each worker, one below the other, and where a worker's part begins in it."""
    rng, name = kernel.rng, f"A{len(kernel.arguments)}"
    rows, columns = shape
    height = kernel.let(f"arith.constant {rows} : index")
    row = kernel.let(f"arith.muli %part, {height} : index")
    whole = [rows * kernel.parts, columns]
    start, column = row, 0
    if kernel.plain:
        by_columns = dynamic = padded = False
    if padded:
        whole[0] = max(1, whole[0] - rng.choice((0, 1, 3)))
        whole[1] = max(1, columns - rng.choice((0, 1, 4)))
    elif rng.random() < 0.25:
        column = 32 if kernel.plain else rng.choice((1, 4, 16))
        whole[1] += column
    by_columns = by_columns and whole[0] > 1
    extents = ["?" if dynamic else str(extent) for extent in whole]
    layout = ""
    if by_columns:
        layout = f", strided<[1, {'?' if dynamic else whole[0]}]>"
    type_ = f"memref<{'x'.join(extents)}x{element}{layout}>"
    memory = Memory(name, element, tuple(whole), type_, by_columns, numbers=given(element))
    kernel.argument(memory)
    place = str(column)
    if column and not kernel.plain and rng.random() < 0.3:
        number = kernel.argument(Memory(f"n{len(kernel.arguments)}", "index", type="index", number=column))
        kernel.arguments[-2:] = kernel.arguments[:-3:-1]
        place = f"%{number.name}"
    return memory, (start, place)


def _extents(memory: Memory) -> str:
    """Sizes and strides, which a dynamic matrix is given."""
    if "?" not in memory.type:
        return ""
    rows, columns = memory.shape
    strides = (1, rows) if memory.by_columns else (columns, 1)
    return f", [{rows}, {columns}], [{strides[0]}, {strides[1]}]"


def _literal(element: str, number: int) -> str:
    return str(number) if element in INTEGERS else f"{number}.0"
