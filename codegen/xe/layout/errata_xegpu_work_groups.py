"""Errata of the RFC of the XeGPU dialect: maps of work-groups and the examples of the appendix."""

from codegen.xe.layout.errata_xegpu import erratum

XEGPU_WORK_GROUPS = (
    erratum(
        "extended sg_map, `order` [1, 2, 0]",
        "id = y + dim_2 z + dim_2 dim_1 x",
        "id = y + dim_1 z + dim_1 dim_2 x",
        "y is the fastest and has dim_1 values; with dim_2 as its stride ids collide or are left out.",
    ),
    erratum(
        "example of work-group distribution",
        "`tensor_desc<16x128xf16>`",
        "`tensor_desc<128x128xf16>`",
        "The text and the table deal out 128 rows.",
    ),
    erratum(
        "propagation, `dpas`",
        "types C, A, B for operands A, B, C",
        "types A, B, C",
        "Types stand in the order of operands.",
    ),
    erratum(
        "propagation, `reduction` to one dimension",
        "wi_layout [16] with sg_data [8]",
        "no work-item map for the reduced vector",
        "8 elements do not deal out to 16 work-items, and reduced vectors take no part in that distribution.",
    ),
    erratum(
        "propagation, `broadcast`",
        "`order=[1, 0]` and wi_layout [16] for the 1-D source",
        "`order=[0]`, no work-item map",
        "The dimension is to be removed from order; each work-item needs all 16 rows, not one of them.",
    ),
    erratum(
        "`convert_layout`",
        "wi_layout [16, 1] for a cooperative load",
        "[1, 16]",
        "Only transposed and chunked loads have [16, 1].",
    ),
    erratum(
        "appendix 1.1 and 1.3, `%c`",
        "`memref<4096xf32>`",
        "`memref<4096x4096xf32>`",
        "It is C, and described so.",
    ),
    erratum(
        "appendix 1.1, 1.2 and 1.3, loop over K",
        "`dpas` without an accumulator; descriptors assigned anew",
        "the accumulator and the descriptors as values that the loop carries",
        "Otherwise C holds the last step of K alone.",
    ),
    erratum(
        "appendix 1.1 and 1.2, `prefetch_nd`",
        "`%1` and `%2` with `#mp_a_pfh`",
        "`%1p` with `#mp_a_pfh`, `%2p` with `#mp_b_pfh` or `#mp_bt_pfh`",
        "What is loaded in the same step need not be prefetched; the tiles ahead would be moved and never used.",
    ),
    erratum(
        "appendix 1.1, comments",
        "sg_layout [32, 1] for the descriptor of C",
        "[8, 4]",
        "`#mp_c` says so.",
    ),
    erratum(
        "appendix 1.2, update of `%2p`",
        "`%c32, %c0`",
        "`%c0, %c32`",
        "The tile of the transposed B moves along K, its second dimension, as `%2` does.",
    ),
    erratum(
        "appendix 1.2, broadcast operand",
        "created as 1x256 with one offset, loaded as 256 to f16, converted as 256x256 to a 2-D map",
        "256xf32 throughout, its last map without the broadcast dimension",
        "Shape, element type and map disagree between the three operations; comments give a third sg_layout.",
    ),
    erratum(
        "appendix 1.2, `store_nd`",
        "`%7`",
        "`%16`",
        "`%7` is a descriptor; the reduced rows are `%16`.",
    ),
    erratum(
        "appendix 1.2, reduction",
        "each column block stores its sums over those of the block before",
        "the sum over all of N: an atomic addition, or a loop over N within the work-group",
        "Reduce = reduce_add(C, dim=1) covers 4096 columns, a tile has 256.",
    ),
    erratum(
        "appendix 1.3, loop over i",
        "step 256",
        "step 512",
        "Tiles of A and C have 512 rows; with 256 half of each is computed twice.",
    ),
    erratum(
        "appendix 1.3, prefetch to L2",
        "the second tile at 256, moved by 32",
        "at 128, moved by 128",
        "Tiles cover 128 of K and are prefetched every 128: with these numbers 128 to 255 are left out.",
    ),
    erratum(
        "appendix 1.3, condition of the prefetch",
        "`%k % 4 == 0`",
        "`%k % 128 == 0`",
        "k counts elements in steps of 32, so the condition always holds; every fourth step is meant.",
    ),
    erratum(
        "appendix 1.3, `load_nd` and updates",
        "256x32 loaded to 512x32; `%a2_load` made from `%b1_load`",
        "512x32; `%b1_load` moved",
        "The tile of A has 512 rows; B would stay at its first rows.",
    ),
    erratum(
        "names and spelling",
        "`mp_bast`, `mp_a_pft`, `mp_bt_pft`, missing `>`, `%%vector_a`",
        "the names that are defined",
        "One entry for all.",
    ),
)
