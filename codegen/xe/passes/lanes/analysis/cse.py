"""Common subexpression elimination: pure values are created once while in scope, and erased if unused.

Every access computes its whole address, so the same sums are requested repeatedly. MLIR and LLVM would also
remove them, but only after each was created, printed, parsed and converted.
"""

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import Attribute, Block, Operation, SSAValue

from codegen.xe.dialects.creation import append, create

Key = tuple[object, ...]
_NONE: Mapping[str, Attribute] = {}


class PureValues:
    """The pure values of a block and its enclosing blocks.

    Operands, types and properties are compared by identity: the created operations keep them alive.
    """

    def __init__(self, everywhere: "PureValues | None" = None) -> None:
        self._everywhere = everywhere  # values visible in every block, too
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
        """Return the result of a pure operation, created at the end of the block unless there is one in scope."""
        key = (kind, id(type_), *map(id, operands), *map(id, properties.values()))
        found = self._made.get(key)
        if found is None and self._everywhere is not None:
            found = self._everywhere._find(key)
        if found is None:
            op = create(kind, operands, (type_,), properties)
            append(block, op)
            self._operations.append(op)
            (found,) = op.results
            self._made[key] = found
        return found

    def known(self, of: tuple[SSAValue, Attribute], make: Callable[[], SSAValue]) -> SSAValue:
        """Return the result of `make` for a value and a type, memoised in scope until the kernel is lowered."""
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
        """Return a mark of the values created so far."""
        return len(self._made)

    def forget(self, mark: int) -> None:
        """Forget the values created since a mark, at the end of their block."""
        while len(self._made) > mark:
            self._made.popitem()

    def drop_unused(self) -> None:
        """Erase unused operations."""
        for op in reversed(self._operations):
            (result,) = op.results
            if result.first_use is None:
                op.detach()
                op.drop_all_references()
