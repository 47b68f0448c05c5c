"""Errata of the RFC of the XeGPU dialect: operations, work-item maps and their examples."""

from codegen.xe.layout.erratum import Erratum

DOCUMENT = "RFC for XeGPU Dialect"


def erratum(where: str, says: str, should_say: str, reason: str) -> Erratum:
    """An entry for this document."""
    return Erratum(DOCUMENT, where, says, should_say, reason)


XEGPU = (
    erratum(
        "table of operations, `dpas`",
        "operands `$matC, $matA, $matB`",
        "`$matA, $matB, $matC`",
        "Its own example and the text have A, B, C.",
    ),
    erratum(
        "table of operations, `init_nbarrier`, `alloc_nbarrier`",
        "examples with `xegpu.alloc_nbarrier` and `xegpu.creat_nbarrier`",
        "`xegpu.init_nbarrier` and `xegpu.alloc_nbarrier`",
        "The examples name other operations than the rows they stand in.",
    ),
    erratum(
        "`create_nd_tdesc`, strides",
        "the innermost stride, `base_stride[0]`, is 1",
        "`base_stride[1]` of two",
        "Shapes and offsets list the outermost dimension first; the RFC of XeTile has `base_strides[1]`.",
    ),
    erratum(
        "`create_nd_tdesc` of a 4-D memref",
        "`%offsets:4` with two types `index`",
        "four types",
        "A value needs a type each.",
    ),
    erratum(
        "`load_nd`, `packed`",
        "the result is always 2-D",
        "the result has a third dimension of the elements in a word",
        "The example beside it gives `vector<8x16x2xbf16>`, which `dpas` takes for B.",
    ),
    erratum(
        "`create_tdesc`",
        "sub-groups, and so offsets, are 16 or 32",
        "8 on ARC",
        "The maps for ARC assert sub-groups of 8.",
    ),
    erratum(
        "`load`, `store`, `update_offset`",
        "`store` with types value, mask, descriptor; `update_offsets`; `vector<16xuint16>` of offsets",
        "value, descriptor, mask; `update_offset`; `vector<16xindex>`",
        "The table of operations gives these.",
    ),
    erratum(
        "sg_map, transposed `load_nd` of 16x8xf32 and of 16x16xbf16",
        "descriptor with `#sg_map_at`",
        "`#sg_map_tdesc`",
        "The map that is defined above each has this name; 16x16xfp16 between them has no map at all.",
    ),
    erratum(
        "sg_map, transposed `load_nd` of 16x16xfp16 with wi_data [1, 1]",
        "a legal load to 16x1",
        "wi_data [1, 2] to 8x2",
        "Units of 16 bits cannot be transposed: the text allows 32 and 64 bits alone. The shape follows the rule.",
    ),
    erratum(
        "sg_map, 1-D `load_nd`",
        "`tensor_desc<16xbf16>` with wi_layout [1, 16], wi_data [1, 2] to `vector<1x2xbf16>`",
        "`tensor_desc<32xbf16>`",
        "16 work-items with two elements each take 32; 16 is no multiple of wi_layout x wi_data.",
    ),
    erratum(
        "sg_map, array_length",
        "`load_nd` of a descriptor type without a map",
        "with `#sg_map_a`",
        "Its type must be that of the value, and only a map makes the result 16x1 instead of 2x8x16.",
    ),
    erratum(
        "sg_map, `load` of 16xfp32",
        "`vector<1xfp32>`",
        "`vector<1x1xfp32>`",
        "A fragment is 2-D: units and the elements of a unit.",
    ),
    erratum(
        "sg_map, `load` of 16x8xbf16",
        "`chunk_size=4`",
        "`chunk_size=8`",
        "A descriptor has the shape [sub-group size, chunk_size]; 4x2 elements are a work-item's 8.",
    ),
    erratum(
        "sg_map, masks of `load`",
        "`vector<1xi1>`, in the use case `vector<16xi1>`",
        "`vector<1xi1>`",
        "A result of one work-item has the mask of one.",
    ),
    erratum(
        "rules of sg_map, transposed load",
        "tf32 alone",
        "16-bit and 8-bit elements in units of 32 bits too",
        "The example with wi_data [1, 2] for bf16 would otherwise be undefined; transposes in words exist.",
    ),
    erratum(
        "rules of sg_map, transposed load on ARC",
        "`#sg_map_a_tf32` a second time",
        "`#sg_map_at_tf32`",
        "The name is that of the plain map of A.",
    ),
    erratum(
        "rules of sg_map, rule of thumb",
        "units of 32 bits but for A on PVC",
        "and but for loads and stores of any type",
        "Those have wi_data [1, 1] whatever the element.",
    ),
    erratum(
        "`dpas` on ARC with int8",
        "B 32x16 and C 8x16 to 8x4 and 8x1",
        "B 32x8 and C 8x8",
        "A DPAS of ARC has 8 columns; by the maps 32x16 gives 16x4, 8x16 gives 16x1.",
    ),
    erratum(
        "reduction within a sub-group",
        "`vector.reduction [1]` of a 2-D vector",
        "`vector.multi_reduction`",
        "`vector.reduction` takes one dimension.",
    ),
    erratum(
        "broadcast within a sub-group",
        "`vector.broadcast` of 16 to 16x16, each work-item holding all 16",
        "a broadcast along dimension 1",
        "vector.broadcast repeats along the leading dimension: each work-item would hold one value 16 times.",
    ),
    erratum(
        "`extract_strided_slice` within a work-item",
        "a result of f16 from bf16",
        "bf16",
        "The operation keeps the element type.",
    ),
    erratum(
        "use case 2-D load, B",
        "`%vector_b` loaded through `%tdesc1`",
        "a descriptor of B",
        "`%tdesc1` is the 8x16 tile of A; `%tdesc2`, which is stored to, is never made.",
    ),
    erratum(
        "use case 2-D load, `dpas`",
        "`#sg_map_b_reg` with wi_data [1, 1]",
        "`#sg_map_b`",
        "With it 16x16 gives 16x1; the operand is 8x2, and the rules require [2, 1].",
    ),
    erratum(
        "use case regular load, `store_nd`",
        "`%value` of `vector<4xfp32>` to a descriptor without a map",
        "`%result` of `vector<4x1xfp32>`, a descriptor with `#sg_map`",
        "The loaded value is stored; 64 elements by [1, 16] and [1, 1] are 4x1.",
    ),
)
