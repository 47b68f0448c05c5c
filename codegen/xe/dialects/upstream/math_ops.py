"""The math dialect: xDSL's, and the operations of MLIR's that it lacks."""

from xdsl.dialects.math import FloatingPointLikeUnaryMathOperation
from xdsl.dialects.math import Math as XdslMath
from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition, traits_def
from xdsl.traits import Pure, SameOperandsAndResultType


@irdl_op_definition
class ErfcOp(FloatingPointLikeUnaryMathOperation):
    """1 - erf of a float, or of each of a vector: `math.erfc %a : vector<8xf32>`."""

    name = "math.erfc"
    traits = traits_def(Pure(), SameOperandsAndResultType())


Math = Dialect("math", [*XdslMath.operations, ErfcOp], [*XdslMath.attributes])
