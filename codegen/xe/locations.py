"""Places of operations in the source: new operations take them over from those they replace, and errors name them."""

import re
from collections.abc import Callable, Iterable
from types import TracebackType

from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, StringAttr
from xdsl.ir import Block, Operation
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import PassFailedException, VerifyException

from codegen.errors import Place
from codegen.xe.dialects.creation import walk
from codegen.xe.dialects.upstream.missing_rules import check_missing_rules

_OTHER_TYPE = re.compile(
    r"(?P<kind>operand|result) '(?P<name>\w+)' at position \d+ does not verify:\n"
    r"(?P<got>.*) should be of base attribute (?P<expected>\S+)"
)
_FAILURES = (PassFailedException, VerifyException, ArithmeticError, ValueError)


class OperationFailed(PassFailedException):
    """A failure at an operation: its place in the source, if known. `rule` is set where a legality rule refuses it."""

    def __init__(self, message: str, place: Place | None, rule: str | None = None) -> None:
        super().__init__(message)
        self.place, self.rule = place, rule

    @classmethod
    def at(cls, op: Operation, message: str, rule: str | None = None) -> "OperationFailed":
        """Create the error of an operation."""
        return cls(message, place_of(op), rule)


class Rewriting:
    """Context in which one operation is rewritten.

    New operations that are inserted around it, or at the end of the block `into`, take over its location, and an error
    that ends the context becomes an `OperationFailed` at its place.
    """

    __slots__ = ("_block", "_following", "_location", "_op")

    def __init__(self, op: Operation, into: Block | None = None) -> None:
        self._op, self._location, self._block = op, _location_of(op), into

    def __enter__(self) -> None:
        if self._location is not None:
            self._following = None if self._block is not None else self._op.next_op
            self._block = self._block or self._op.parent

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            if self._location is not None:
                self._take_over(self._location)
        elif isinstance(error, _FAILURES) and not isinstance(error, OperationFailed):
            raise OperationFailed(str(error) or type(error).__name__, _place(self._location)) from error

    def _take_over(self, location: FileLineColLoc) -> None:
        if self._block is None:
            return
        following = self._following
        op = following.prev_op if following is not None and following.parent is self._block else self._block.last_op
        while op is not None and (op is self._op or op.location is UNKNOWN_LOC):
            _locate(op, location)
            op = op.prev_op


def locate(op: Operation, origin: Operation) -> None:
    """Give an operation that has no location, and those in it, that of the operation from which it was made."""
    if (location := _location_of(origin)) is not None:
        _locate(op, location)


def place_of(op: Operation) -> Place | None:
    """Return the place of an operation, or of the one around it; None if the source is not known."""
    return _place(_location_of(op))


def check_symbols(ops: Iterable[Operation]) -> None:
    """Check that the operations of a symbol table have different names.

    Raises:
        OperationFailed: two have one name; it is at the second.
    """
    known: set[str] = set()
    for op in ops:
        name = op.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr):
            if name.data in known:
                raise OperationFailed.at(op, f"expected symbols of different names, got {name.data} twice")
            known.add(name.data)


def verify_at_places(module: Operation) -> None:
    """Verify a module.

    Raises:
        OperationFailed: an operation is not valid.
    """
    for op in walk(module):
        _check(op, check_missing_rules)
        if op.has_trait(SymbolTable, value_if_unregistered=False):
            check_symbols(op.regions[0].block.ops)
    try:
        module.verify()
    except VerifyException as error:
        for op in walk(module):
            _check(op, lambda op: op.verify(verify_nested_ops=False))
        for op in reversed(tuple(walk(module))):  # a region is not valid: the innermost operation with it
            _check(op, lambda op: op.verify())
        raise OperationFailed.at(module, str(error)) from error


def _check(op: Operation, rule: Callable[[Operation], None]) -> None:
    try:
        rule(op)
    except VerifyException as error:
        raise OperationFailed.at(op, _in_words(op, str(error))) from error


def _in_words(op: Operation, message: str) -> str:
    """Return xDSL's message about the type of an operand or result in the words of the others."""
    found = _OTHER_TYPE.fullmatch(message)
    if found is None:
        return message
    return f"{op.name}: expected a type {found['expected']} as {found['kind']} {found['name']}, got {found['got']}"


def _locate(op: Operation, location: FileLineColLoc) -> None:
    for inner in walk(op) if op.regions else (op,):
        if inner.location is UNKNOWN_LOC:
            inner.location = location


def _location_of(op: Operation) -> FileLineColLoc | None:
    at: Operation | None = op
    while at is not None:
        # Most have none, and `isinstance` with xDSL's abstract classes takes long.
        if (location := at.location) is not UNKNOWN_LOC and isinstance(location, FileLineColLoc):
            return location
        block = at.parent
        region = None if block is None else block.parent
        at = None if region is None else region.parent
    return None


def _place(location: FileLineColLoc | None) -> Place | None:
    return None if location is None else Place(location.line.data, location.column.data)
