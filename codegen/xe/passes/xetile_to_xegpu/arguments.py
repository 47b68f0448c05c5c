"""Kernel arguments in the form that MLIR passes: matrices stored by columns have strides."""

from xdsl.dialects.builtin import AffineMapAttr, FunctionType, MemRefType, ModuleOp, StridedLayoutAttr
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap
from xdsl.rewriter import Rewriter

from codegen.xe.dialects import gpu
from codegen.xe.dialects.creation import walk

_SWAPPED = AffineMap.from_callable(lambda d0, d1: (d1, d0))


def state_strides(module: ModuleOp) -> None:
    """Write the strides of kernel arguments whose layout is `affine_map<(d0, d1) -> (d1, d0)>`."""
    for kernel in walk(module):
        if type(kernel) is not gpu.FuncOp:
            continue
        block, inputs = kernel.body.blocks[0], tuple(kernel.function_type.inputs)
        types = [_strided(type_) for type_ in inputs]
        if all(before is after for before, after in zip(inputs, types, strict=True)):
            continue
        for argument, before, after in zip(tuple(block.args), inputs, types, strict=False):
            if before != after:
                Rewriter.replace_value_with_new_type(argument, after)
        kernel.function_type = FunctionType.from_lists(types, list(kernel.function_type.outputs))


def _strided(argument: Attribute) -> Attribute:
    if not isinstance(argument, MemRefType) or not isinstance(argument.layout, AffineMapAttr):
        return argument
    if argument.layout.data != _SWAPPED or not argument.has_static_shape():
        return argument
    layout = StridedLayoutAttr([1, argument.get_shape()[0]])
    return MemRefType(argument.element_type, argument.get_shape(), layout, argument.memory_space)
