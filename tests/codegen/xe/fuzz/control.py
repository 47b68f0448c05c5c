"""Loops and branches that carry vectors."""

from dataclasses import replace

from tests.codegen.xe.fuzz import memory
from tests.codegen.xe.fuzz.arithmetic import combined, kept
from tests.codegen.xe.fuzz.kernel import Kernel, Level, Value
from tests.codegen.xe.fuzz.numbers import accumulated, either, given, summed
from tests.codegen.xe.fuzz.vectors import kept_in_place, turned


def swapped(kernel: Kernel, a: Value, b: Value) -> tuple[Value, Value]:
    """A loop that changes two values and lets them swap places; they become no larger."""
    numbers = either(a.numbers, b.numbers)
    x, y, result = kernel.name(), kernel.name(), kernel.name()
    rounds = kernel.rng.choice(("%c0", "%c1", "%c2", "%c3"))
    types = f"{a.type}, {b.type}"
    kernel.line(
        f"{result}:2 = scf.for %k{result[1:]} = %c0 to {rounds} step %c1 "
        f"iter_args({x} = {a.name}, {y} = {b.name}) -> ({types}) {{"
    )
    with kernel.nested():
        first, second = replace(a, name=x, numbers=numbers), replace(b, name=y, numbers=numbers)
        new = kept_in_place(kernel, first)
        new = kept(kernel, new, second) if kernel.rng.random() < 0.6 else new
        kernel.line(f"scf.yield {second.name}, {new.name} : {types}")
    kernel.line("}")
    return replace(a, name=f"{result}#0", numbers=numbers), replace(b, name=f"{result}#1", numbers=numbers)


def walked(kernel: Kernel, a: Value) -> Value:
    """A loop in which a tile of a new argument moves and its values are added."""
    rounds = kernel.rng.choice((2, 3))
    rows, columns = a.shape
    whole = (rows * kernel.parts, columns * rounds)
    numbers = summed(accumulated(given(a.element), rounds), a.numbers)
    if not numbers.fits:
        return a
    matrix = memory.whole(kernel, whole, a.element)
    height = kernel.let(f"arith.constant {rows} : index")
    row = kernel.let(f"arith.muli %part, {height} : index")
    width = kernel.let(f"arith.constant {columns} : index")
    type_ = memory.tile(a.shape, a.element, a.map)
    place = kernel.let(f"xetile.init_tile %{matrix.name}[{row}, %c0] : {matrix.type} -> {type_}")
    x, t, result = kernel.name(), kernel.name(), kernel.name()
    kernel.line(
        f"{result}:2 = scf.for %k{result[1:]} = %c0 to %c{rounds} step %c1 "
        f"iter_args({x} = {a.name}, {t} = {place}) -> ({a.type}, {type_}) {{"
    )
    with kernel.nested():
        loaded = kernel.let(f"xetile.load_tile {t} : {type_} -> {a.type}")
        name = "addi" if a.element.startswith("i") else "addf"
        total = kernel.let(f"arith.{name} {x}, {loaded} : {a.type}")
        next_ = kernel.let(f"xetile.update_tile_offset {t}, [%c0, {width}] : {type_}")
        kernel.line(f"scf.yield {total}, {next_} : {a.type}, {type_}")
    kernel.line("}")
    return replace(a, name=f"{result}#0", numbers=numbers)


def branched(kernel: Kernel, a: Value, b: Value) -> Value:
    """One of two ways, by the group; both give a value like these."""
    on = kernel.let(f"arith.cmpi {kernel.rng.choice(('eq', 'ne'))}, %group, %c0 : index")
    result = kernel.name()
    kernel.line(f"{result} = scf.if {on} -> ({a.type}) {{")
    with kernel.nested():
        first = kept_in_place(kernel, a)
        first = combined(kernel, first, b)
        kernel.line(f"scf.yield {first.name} : {a.type}")
    kernel.line("} else {")
    with kernel.nested():
        second = kept_in_place(kernel, b) if kernel.rng.random() < 0.5 else b
        kernel.line(f"scf.yield {second.name} : {a.type}")
    kernel.line("}")
    return replace(a, name=result, numbers=either(first.numbers, second.numbers))


def changed_by_some(kernel: Kernel, a: Value) -> Value:
    """A value that a number decides whether to change: of the group, or of the sub-group where there is one."""
    by = "%part" if kernel.level is not Level.WORKGROUP else "%group"
    on = kernel.let(f"arith.cmpi eq, {by}, %c0 : index")
    result = kernel.name()
    kernel.line(f"{result} = scf.if {on} -> ({a.type}) {{")
    with kernel.nested():
        new = kept(kernel, turned(kernel, turned(kernel, a)), a)
        kernel.line(f"scf.yield {new.name} : {a.type}")
    kernel.line("} else {")
    kernel.line(f"  scf.yield {a.name} : {a.type}")
    kernel.line("}")
    return replace(a, name=result, numbers=new.numbers)


def stored_by_some(kernel: Kernel, value: Value) -> None:
    """A store that only one group, or only some sub-groups, come to."""
    by = "%part" if kernel.level is not Level.WORKGROUP else "%group"
    on = kernel.let(f"arith.cmpi eq, {by}, %c0 : index")
    kernel.line(f"scf.if {on} {{")
    with kernel.nested():
        memory.store(kernel, value)
    kernel.line("}")
