"""Control flow that kernels use: scf, whose loops may list one result type without parentheses, and branches of cf."""

from collections.abc import Sequence

from xdsl.dialects import cf, scf
from xdsl.dialects.builtin import IndexType, i1
from xdsl.dialects.utils import parse_assignment
from xdsl.ir import Attribute, Block, Dialect, Operation, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.traits import SingleBlockImplicitTerminator, ensure_terminator
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.spellings import spelling

__all__ = ["BranchOp", "ConditionalBranchOp", "ControlFlow", "Scf"]


def _parse_for(parser: Parser) -> scf.ForOp:
    counter = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    names = [parser.parse_unresolved_operand()]
    for keyword in ("to", "step"):
        parser.parse_keyword(keyword)
        names.append(parser.parse_unresolved_operand())
    pairs: list[tuple[Parser.UnresolvedArgument, UnresolvedOperand]] = []
    types, at = list[Attribute](), parser.pos
    if parser.parse_optional_keyword("iter_args"):
        pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_assignment(parser))
        parser.parse_punctuation("->")
        types = _parse_result_types(parser)
    starts = parser.resolve_operands([start for _, start in pairs], types, at)
    of_counter = parser.parse_type() if parser.parse_optional_punctuation(":") else IndexType()
    bounds = [parser.resolve_operand(name, of_counter) for name in names]
    carried = [argument.resolve(type_) for (argument, _), type_ in zip(pairs, types, strict=True)]
    body = parser.parse_region((counter.resolve(of_counter), *carried))
    loop = scf.ForOp(bounds[0], bounds[1], bounds[2], starts, body)
    loop.attributes |= parser.parse_optional_attr_dict()
    if not carried:
        for trait in loop.get_traits_of_type(SingleBlockImplicitTerminator):
            ensure_terminator(loop, trait)
    return loop


def _parse_if(parser: Parser) -> scf.IfOp:
    condition = parser.parse_unresolved_operand()
    condition = parser.resolve_operand(condition, i1)
    types = _parse_result_types(parser) if parser.parse_optional_punctuation("->") else ()
    regions = [scf.IfOp.parse_region_with_yield(parser)]
    if parser.parse_optional_keyword("else"):
        regions.append(scf.IfOp.parse_region_with_yield(parser))
    return scf.IfOp(condition, types, *regions, attr_dict=parser.parse_optional_attr_dict())


def _parse_result_types(parser: Parser) -> list[Attribute]:
    """Parse `(a, b)`, or one type without parentheses."""
    listed = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if listed is None else list(listed)


class BranchOp(cf.BranchOp):
    """`cf.br ^next(%x : f32)`."""

    name = "cf.br"

    def verify_(self) -> None:
        _verify_passed(self, self.successor, self.arguments)


class ConditionalBranchOp(cf.ConditionalBranchOp):
    """`cf.cond_br %yes, ^one(%x : f32), ^other`."""

    name = "cf.cond_br"

    def verify_(self) -> None:
        _verify_passed(self, self.then_block, self.then_arguments)
        _verify_passed(self, self.else_block, self.else_arguments)


def _verify_passed(op: Operation, to: Block, passed: Sequence[SSAValue]) -> None:
    types, expected = [str(value.type) for value in passed], [str(type_) for type_ in to.arg_types]
    if types != expected:
        raise VerifyException(f"{op.name}: expected values of ({', '.join(expected)}), got ({', '.join(types)})")


_READ: dict[type[Operation], type[Operation]] = {
    scf.ForOp: spelling(scf.ForOp.name, scf.ForOp, _parse_for),
    scf.IfOp: spelling(scf.IfOp.name, scf.IfOp, _parse_if),
}

Scf = Dialect("scf", [_READ.get(op, op) for op in scf.Scf.operations])
ControlFlow = Dialect("cf", [BranchOp, ConditionalBranchOp])
