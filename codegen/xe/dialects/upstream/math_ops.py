"""The math dialect: xDSL's, and the operations of MLIR's that it lacks."""

from typing import ClassVar

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import AnyFloat, VectorType
from xdsl.dialects.math import FloatingPointLikeUnaryMathOperation
from xdsl.dialects.math import Math as XdslMath
from xdsl.ir import Dialect
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure, SameOperandsAndResultType
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class ErfcOp(FloatingPointLikeUnaryMathOperation):
    """1 - erf of a float, or of each of a vector: `math.erfc %a : vector<8xf32>`."""

    name = "math.erfc"
    traits = traits_def(Pure(), SameOperandsAndResultType())


@irdl_op_definition
class ClampfOp(IRDLOperation):
    """A float, or each of a vector, kept within bounds: `math.clampf %a to [%low, %high] : vector<8xf32>`."""

    name = "math.clampf"
    T: ClassVar = VarConstraint("T", AnyAttr())
    value = operand_def(T)
    min = operand_def(T)
    max = operand_def(T)
    result = result_def(T)
    fastmath = opt_prop_def(FastMathFlagsAttr)
    traits = traits_def(Pure())
    assembly_format = "$value `to` ` ` `[` $min `,` $max `]` (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def verify_(self) -> None:
        element = self.result.type.element_type if isinstance(self.result.type, VectorType) else self.result.type
        if not isinstance(element, AnyFloat):
            raise VerifyException(f"math.clampf: expected a float or a vector of floats, got {self.result.type}")


Math = Dialect("math", [*XdslMath.operations, ClampfOp, ErfcOp], [*XdslMath.attributes])
