"""Checks of emitted SPIR-V for known errors of LLVM's SPIR-V target.

It can assign one id to two values, and it can drop the truncation between 64-bit and 32-bit arithmetic.
Drivers misinterpret or reject such modules.
"""

from codegen.errors import CompileFailed
from hal.spirv.words import Instruction, instructions

_STRING, _IMPORT, _TYPES, _GROUP, _LABEL = 7, 11, range(19, 39), 73, 248
_RESULT_FIRST = {_STRING, _IMPORT, *_TYPES, _GROUP, _LABEL}
_NO_RESULT = {*range(3, 7), 10, *range(14, 18), 56, 62, 64, 71, 72, 74, 224, 225, 246, 247, *range(249, 258)}
# Both operands have the type of the result: IAdd to FMod, BitwiseOr to BitwiseAnd. Source: SPIR-V specification, 3.52.
_SAME_TYPE = {*range(128, 142), *range(197, 200)}
_SHIFTS = range(194, 197)  # the shifted operand does


def check_spirv(spirv: bytes) -> tuple[Instruction, ...]:
    """Check that no id is defined twice and that arithmetic is of one type; return the instructions.

    Raises:
        CompileFailed: otherwise, with the id; or the bytes are no module.
    """
    try:
        found = tuple(instructions(spirv))
    except ValueError as error:
        raise CompileFailed("spirv", f"LLVM emitted no module: {error}") from error
    type_of: dict[int, int] = {}
    defined: set[int] = set()
    arithmetic: list[tuple[int, int, tuple[int, ...]]] = []
    for opcode, operands in found:
        if opcode in _RESULT_FIRST:
            result = operands[0]
        elif opcode in _NO_RESULT or len(operands) < 2:
            continue
        else:
            result = operands[1]
            type_of[result] = operands[0]
            if opcode in _SAME_TYPE:
                arithmetic.append((result, operands[0], operands[2:4]))
            elif opcode in _SHIFTS:
                arithmetic.append((result, operands[0], operands[2:3]))
        if result in defined:
            raise CompileFailed("spirv", f"LLVM gave id {result} to two values")
        defined.add(result)
    for result, kind, values in arithmetic:
        if any(type_of.get(value, kind) != kind for value in values):
            raise CompileFailed("spirv", f"LLVM mixed types in the arithmetic of id {result}")
    return found
