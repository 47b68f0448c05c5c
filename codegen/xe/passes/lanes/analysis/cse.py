"""Values that hang on nothing but their operands: each is made once where it is seen, and goes if nothing uses it.

The same sums are asked for again and again, as every access says its whole place. MLIR and LLVM would find out, after
each of them was made, printed, parsed and converted.
"""

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import Attribute, Block, Operation, SSAValue

Key = tuple[object, ...]
_NONE: Mapping[str, Attribute] = {}


class PureValues:
    """What was made in a block and in those around it.

    Operands, types and properties are told apart by identity: what was made keeps them alive.
    """

    def __init__(self, everywhere: "PureValues | None" = None) -> None:
        self._everywhere = everywhere  # values that are seen from every block, too
        self._made: dict[Key, SSAValue] = {}
        self._operations: list[Operation] = []
        self._kept: list[object] = []

    def value(
        self,
        block: Block,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        type_: Attribute,
        properties: Mapping[str, Attribute] = _NONE,
    ) -> SSAValue:
        """The result of an operation without effects, at the end of a block where there is none yet."""
        key = (kind, id(type_), *map(id, operands), *map(id, properties.values()))
        found = self._find(key)
        if found is None:
            op = kind.create(operands=operands, result_types=(type_,), properties=properties)
            block.add_op(op)
            self._operations.append(op)
            found = self._made[key] = op.results[0]
        return found

    def known(self, of: tuple[SSAValue, Attribute], make: Callable[[], SSAValue]) -> SSAValue:
        """What `make` gives for a value and a type, where it is seen; a kernel has its values until it is lowered."""
        key = tuple(map(id, of))
        found = self._find(key)
        if found is None:
            found = self._made[key] = make()
            self._kept.append(of)
        return found

    def _find(self, key: Key) -> SSAValue | None:
        found = self._made.get(key)
        return found if found is not None or self._everywhere is None else self._everywhere._find(key)

    def mark(self) -> int:
        """A mark of what was made so far."""
        return len(self._made)

    def forget(self, mark: int) -> None:
        """Forget what was made since a mark, in a block that nothing after it sees."""
        while len(self._made) > mark:
            self._made.popitem()

    def drop_unused(self) -> None:
        """Erase what nothing uses."""
        for op in reversed(self._operations):
            if not any(result.uses for result in op.results):
                op.detach()
                op.drop_all_references()
