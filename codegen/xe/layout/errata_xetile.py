"""Errata of the RFC of the XeTile dialect: operations and maps."""

from codegen.xe.layout.erratum import Erratum

DOCUMENT = "RFC for XeTile Dialect"


def erratum(where: str, says: str, should_say: str, reason: str) -> Erratum:
    """An entry for this document."""
    return Erratum(DOCUMENT, where, says, should_say, reason)


XETILE = (
    erratum(
        "table of operations, `load_tile`",
        "`tile<64x32xbf16>` to `vector<32x64xbf16>`",
        "`vector<64x32xbf16>`",
        "A vector has exactly its tile's dimensions, whatever the order.",
    ),
    erratum(
        "table of operations, `update_tile_offset`",
        "`xetile.update_nd_offset` on `tensor_desc`",
        "`xetile.update_tile_offset` on a tile",
        "The example is one of XeGPU.",
    ),
    erratum(
        "`tile_mma`, syntax and example",
        "types C, A, B; operands `%vector_b, %vector_a, %vector_c` with the types of A, B, C",
        "operands and types A, B, C",
        "64x32 times 32x128 fits in this order alone.",
    ),
    erratum(
        "`store_tile`, syntax and examples",
        "value then tile; `%tile_a, %vector_a`; once with a result and no value",
        "`%vector_a, %tile_a : vector -> tile`",
        "The types stand in this order; a store has no result.",
    ),
    erratum(
        "table of operations, `tile_unpack`",
        "1x2x64x16 of float with inner_blocks [16, 16] to bf16",
        "inner_blocks [64, 16], float",
        "Dimensions 2 and 3 are the inner blocks; unpacking converts nothing.",
    ),
    erratum(
        "base matrix",
        "row-major only",
        "row-major, or column-major with `order = [0, 1]`",
        "The text on `order` and the first appendix have both.",
    ),
    erratum(
        "`tile_broadcast`",
        "from a 1-D vector",
        "from a 2-D vector with 1 along the broadcast dimension",
        "All examples have 1x32 or 256x1.",
    ),
    erratum(
        "`atomic_rmw`, kind",
        "`<add>`",
        "`<addf>`, `<addi>`",
        "The kinds are those of arith's AtomicRMWKindAttr.",
    ),
    erratum(
        "`atomic_rmw_tile` on blocks",
        "value `vector<8x48x16xbf16>`",
        "`vector<8x4x8x16xbf16>`",
        "64x64 in blocks of 8x16, and the result has this type.",
    ),
    erratum(
        "`tile_pack`, comparison with tensor",
        "inner_dims_pos twice",
        "outer_dims_perm and inner_dims_pos",
        "The two permutations of tensor's pack are meant.",
    ),
    erratum(
        "wg_map, example",
        "a tile with `order = [0, 1]` on `memref<1024x1024xf16>`",
        "`order = [1, 0]`, or a column-major memref",
        "The order must be that of the memref; the first appendix lists this pair as incorrect.",
    ),
    erratum(
        "`tile_transpose` with wg_map",
        "the source's map has sg_layout and sg_data swapped",
        "a map by which each sub-group holds what it needs is consistent too",
        "Appendix 2.3 has [32, 1] of [64, 32] in place of [4, 8]: by wrap-around each sub-group holds its own block, "
        "and the transpose stays in registers.",
    ),
)
