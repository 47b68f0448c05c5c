"""Random kernels, each made of a seed."""

from dataclasses import dataclass
from random import Random

from tests.codegen.xe.fuzz import arithmetic, control, memory, vectors
from tests.codegen.xe.fuzz.kernel import Kernel, Level, Memory, Value
from tests.codegen.xe.fuzz.maps import Shape

_ELEMENTS = ("f32", "f32", "f16", "bf16", "i32", "i8")
_ROWS, _COLUMNS = (1, 2, 3, 4, 5, 8, 12, 16, 24, 32, 40, 48), (1, 2, 4, 8, 12, 16, 16, 20, 24, 32, 40, 48, 64, 96)
_PLAIN_ROWS, _PLAIN_COLUMNS, _PLAIN_ELEMENTS = (8, 16, 24, 32, 48), (32, 64, 96), ("f32", "f32", "f16", "bf16", "i32")
_SUBGROUPS = (1, 2, 3, 4, 6, 8)


@dataclass(frozen=True, slots=True)
class Draw:
    """A kernel `k` and what it is run on; `steps` are what it was made of."""

    seed: int
    source: str
    level: Level
    arguments: tuple[Memory, ...]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    steps: tuple[str, ...]


def draw(seed: int) -> Draw:
    """The kernel of a seed."""
    rng = Random(seed)
    level = rng.choice((Level.WORKGROUP, Level.WORKGROUP, Level.SUBGROUP, Level.THREADS))
    plain = level is Level.WORKGROUP and rng.random() < 0.5
    kernel = Kernel(rng, level, rng.choice(_SUBGROUPS), rng.choice((1, 1, 2)), plain)
    kernel.values.append(_loaded(kernel))
    for _ in range(rng.randint(2, 6)):
        step = rng.choices(list(_STEPS), [0 if plain and s in _NOT_PLAIN else w for s, w in _STEPS.items()])[0]
        kernel.steps.append(step.__name__.strip("_"))
        kernel.values += step(kernel)
    for value in kernel.values[-3:]:
        (memory.scatter if not plain and rng.random() < 0.1 else memory.store)(kernel, value)
    if rng.random() < 0.2:
        control.stored_by_some(kernel, rng.choice(kernel.values))
    threads = kernel.subgroups * (1 if level is Level.THREADS else 16)
    grid = kernel.groups, 1, 1
    return Draw(seed, kernel.text, level, tuple(kernel.arguments), grid, (threads, 1, 1), tuple(kernel.steps))


def _loaded(kernel: Kernel) -> Value:
    rows, columns = (_PLAIN_ROWS, _PLAIN_COLUMNS) if kernel.plain else (_ROWS, _COLUMNS)
    while True:
        shape: Shape = kernel.rng.choice(rows), kernel.rng.choice(columns)
        map_ = memory.map_of(kernel, shape)
        if kernel.level is not Level.WORKGROUP or map_ is not None:
            break
    element = kernel.rng.choice(_PLAIN_ELEMENTS if kernel.plain else _ELEMENTS)
    if not kernel.plain and shape[0] * shape[1] <= 512 and kernel.rng.random() < 0.15:
        return memory.gathered(kernel, shape, element, map_)
    return memory.load(kernel, shape, element, map_)


def _any(kernel: Kernel) -> Value:
    return kernel.rng.choice(kernel.values)


def _like(kernel: Kernel, value: Value) -> Value:
    """A value of the same type that is owned by the same: another, or a new one."""
    rng = kernel.rng
    others = [
        other for other in kernel.values if other.shape == value.shape and arithmetic.may_be_cast(other, value.element)
    ]
    if rng.random() < 0.6:
        other = arithmetic.cast(kernel, rng.choice(others), value.element)
        return vectors.converted(kernel, other, value.map)
    if rng.random() < 0.4:
        return arithmetic.splat(kernel, value)
    return memory.load(kernel, value.shape, value.element, value.map)


def _new(kernel: Kernel) -> list[Value]:
    return [_loaded(kernel)]


def _combine(kernel: Kernel) -> list[Value]:
    value = _any(kernel)
    return [arithmetic.combined(kernel, value, _like(kernel, value))]


def _choose(kernel: Kernel) -> list[Value]:
    value = _any(kernel)
    other = _like(kernel, value)
    return [arithmetic.chosen(kernel, value, other)] if value.numbers.is_exact and other.numbers.is_exact else []


def _change(kernel: Kernel) -> list[Value]:
    return [arithmetic.changed(kernel, _any(kernel))]


def _cast(kernel: Kernel) -> list[Value]:
    value, element = _any(kernel), kernel.rng.choice(_PLAIN_ELEMENTS if kernel.plain else _ELEMENTS)
    return [arithmetic.cast(kernel, value, element)] if arithmetic.may_be_cast(value, element) else []


def _turn(kernel: Kernel) -> list[Value]:
    return [vectors.turned(kernel, _any(kernel))]


def _convert(kernel: Kernel) -> list[Value]:
    value = _any(kernel)
    return [vectors.converted(kernel, value, memory.map_of(kernel, value.shape))]


def _stage(kernel: Kernel) -> list[Value]:
    return [memory.staged(kernel, _any(kernel))]


def _reduce(kernel: Kernel) -> list[Value]:
    value = _any(kernel)
    return [vectors.reduced(kernel, value, kernel.rng.choice((0, 1)))]


def _normalise(kernel: Kernel) -> list[Value]:
    return [vectors.normalised(kernel, _any(kernel))]


def _bias(kernel: Kernel) -> list[Value]:
    return [vectors.biased(kernel, _any(kernel))]


def _product(kernel: Kernel) -> list[Value]:
    value = vectors.product(kernel)
    return [value] if value else []


def _swap(kernel: Kernel) -> list[Value]:
    value = _any(kernel)
    return list(control.swapped(kernel, value, _like(kernel, value)))


def _collapse(kernel: Kernel) -> list[Value]:
    value = _any(kernel)
    return [vectors.spread(kernel, vectors.collapsed(kernel, value), value)] if min(value.shape) > 1 else []


def _block(kernel: Kernel) -> list[Value]:
    return [vectors.blocked(kernel, _any(kernel))]


def _part(kernel: Kernel) -> list[Value]:
    return [control.changed_by_some(kernel, _any(kernel))]


def _walk(kernel: Kernel) -> list[Value]:
    return [control.walked(kernel, _any(kernel))]


def _branch(kernel: Kernel) -> list[Value]:
    value = _any(kernel)
    return [control.branched(kernel, value, _like(kernel, value))]


_STEPS = {
    _new: 2,
    _combine: 4,
    _choose: 2,
    _change: 3,
    _cast: 3,
    _turn: 2,
    _convert: 2,
    _stage: 2,
    _reduce: 2,
    _normalise: 2,
    _bias: 2,
    _product: 4,
    _swap: 2,
    _walk: 1,
    _collapse: 1,
    _block: 1,
    _part: 1,
    _branch: 1,
}
_NOT_PLAIN = (_turn, _convert, _stage, _collapse)
