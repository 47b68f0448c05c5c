"""Errata of the RFC of the XeTile dialect: the examples of the appendices."""

from codegen.xe.layout.errata_xetile import erratum

XETILE_EXAMPLES = (
    erratum(
        "appendix 1, third program",
        "`tile_mma %va, %vbt`; `vector.transpose %bt`",
        "`%vb`; `%vbt`",
        "The transposed value is multiplied; a vector is transposed, not a memref.",
    ),
    erratum(
        "appendix 1, column-major memref",
        "`memref<KxN, strided [K, 1]>`",
        "`strided [1, K]`",
        "Stored as [N, K]: neighbours in K are adjacent.",
    ),
    erratum(
        "appendix 2.1, 2.4 and 2.5, `%c`",
        "`memref<4096xf32>`",
        "`memref<4096x4096xf32>`",
        "It is C, and tiles of 2-D are made of it.",
    ),
    erratum(
        "appendix 2, all loops over K",
        "`tile_mma` without an accumulator; tiles assigned anew; C used after the loop",
        "the accumulator and the tiles as values that the loop carries",
        "Otherwise C holds the last step of K alone.",
    ),
    erratum(
        "appendix 2.1 and 2.5, `tile_mma`",
        "`%4, %5 ... %4, %10`; in 2.5 `%3` is stored to",
        "`%4, %10`; in 2.5 `%a1_r, %b1_r` and the tile of C",
        "`%5` is not defined there, nor are `%3` and `%4` in 2.5.",
    ),
    erratum(
        "appendix 2.1 and 2.2, `prefetch_tile`",
        "`%1` and `%2` with `#mp_a_pfh`",
        "`%1p` with `#mp_a_pfh`, `%2p` with `#mp_b_pfh` or `#mp_bt_pfh`",
        "What is loaded in the same step need not be prefetched; the tiles ahead would be moved and never used.",
    ),
    erratum(
        "appendix 2.1 and 2.4, updates of B",
        "`tile<32x256xf16>` to `tile<256x32xf16>`",
        "`tile<32x256xf16>`",
        "Moving a tile keeps its type.",
    ),
    erratum(
        "appendix 2.1 and 2.2, comments",
        "sg_layout [32, 1] for C; [4, 8] and [1, 32] for the broadcast row",
        "[8, 4]; [8, 4] and [1, 64]",
        "The maps beside them say so.",
    ),
    erratum(
        "appendix 2.2, `memref.cast`",
        "from one to two dimensions, then one offset",
        "`memref.expand_shape`, two offsets",
        "A cast keeps the rank; the tile is 2-D.",
    ),
    erratum(
        "appendix 2.2, update of `%2p`",
        "`%c32, %c0`",
        "`%c0, %c32`",
        "The tile of the transposed B moves along K, its second dimension, as `%2` does.",
    ),
    erratum(
        "appendix 2.2, `load_tile %7`",
        "`tile<1x256xf32>` to `vector<1x256xf16>`",
        "`vector<1x256xf32>`",
        "A load converts nothing.",
    ),
    erratum(
        "appendix 2.2, last `store_tile`",
        "`%7`",
        "`%16`",
        "`%7` is a tile; the reduced rows are `%16`.",
    ),
    erratum(
        "appendix 2.2, reduction",
        "each column block stores its sums over those of the block before",
        "the sum over all of N: an atomic addition, or a loop over N within the work-group",
        "Reduce = reduce_add(C, dim=1) covers 4096 columns, a tile has 256.",
    ),
    erratum(
        "appendix 2.4, tiles in shared local memory",
        "made of the global memrefs at global offsets",
        "made of two memrefs of 256x128 and 128x256 in shared local memory, at offsets in them",
        "4096x4096 does not fit there; what is stored is a ring of four steps of K.",
    ),
    erratum(
        "appendix 2.4, moving in the ring",
        "`update_tile_offset` by `%slm_offset`, which counts from the start",
        "a new tile at `%slm_offset`, or a move by 32 that wraps around",
        "Moves are relative: 32, 64 and 96 in turn lead to 32, 96 and 192.",
    ),
    erratum(
        "appendix 2.4, `store_tile`",
        "`vector<256x256xf32>`",
        "`vector<256x32xf16>` and `vector<32x256xf16>`",
        "The values are those just loaded.",
    ),
    erratum(
        "appendix 2.5, loop over i",
        "step 256",
        "step 512",
        "Tiles of A and C have 512 rows; with 256 half of each is computed twice.",
    ),
    erratum(
        "appendix 2.5, prefetch to L2",
        "the second tile at 256, moved by 32",
        "at 128, moved by 128",
        "Tiles cover 128 of K and are prefetched every 128: with these numbers 128 to 255 are left out.",
    ),
    erratum(
        "appendix 2.5, condition of the prefetch",
        "`%k % 4 == 0`",
        "`%k % 128 == 0`",
        "k counts elements in steps of 32, so the condition always holds; every fourth step is meant.",
    ),
    erratum(
        "appendix 2.5, `load_tile` and updates",
        "256x32 loaded to 512x32; `%a2_load` made from `%b1_load`",
        "512x32; `%b1_load` moved",
        "The tile of A has 512 rows; B would stay at its first rows.",
    ),
    erratum(
        "names and spelling",
        "`mp_bast`, `mp_a_pft`, `%b` for `%bt`, `xb16`, `tile_upack`, both `tile_conv_layout` and `conv_layout`",
        "the names that are defined; `convert_layout`",
        "One entry for all.",
    ),
)
