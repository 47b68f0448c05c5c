"""Errata of the document on linear layouts for 2-D block loads."""

from codegen.xe.layout.erratum import Erratum

DOCUMENT = "Linear layouts for Intel 2-D block loads"


def _erratum(where: str, says: str, should_say: str, reason: str) -> Erratum:
    return Erratum(DOCUMENT, where, says, should_say, reason)


BLOCK_LOADS = (
    _erratum(
        "AxB, B matrix, layout after adding iterations",
        "`iteration` 1, 2, 4 -> (8, 0), (16, 0), (0, 16) in 32x32",
        "`iteration` 1, 2 -> (0, 16), (8, 0) in 16x32",
        "It repeats A's listing. The final layout of B has the iterations given here, K of 32 is 16 packed rows, and "
        "the hardware view goes on with column 16 after 16 rows.",
    ),
    _erratum(
        "AxB, B matrix, before that listing",
        "four iterations in dim0 and two in dim1",
        "two in dim0 and two in dim1",
        "A sub-group's contiguous 32x32 of B holds four 16x16 operands; the final layout has four iterations.",
    ),
    _erratum(
        "AxB, B matrix, layout after adding loads",
        "`load=1 -> (128, 0)` in 256x32",
        "as a place in B, [32, 256]: `load=1 -> (0, 128)` in 32x256 elements, 16x256 packed",
        "Offsets and iterations are (K, N), the load is (N, K): its hardware view has the second block at column 128. "
        "`BlockLoadLayout.loads` prints it as the document does, `.elements` has the place.",
    ),
    _erratum(
        "AxBT, B matrix, layout after adding loads",
        "`load=1 -> (0, 16)` beside offsets within (16, 8)",
        "`load=1 -> (0, 8)` in slots of 32 bits, or offsets that count 2 elements each",
        "Offsets and iterations count pairs of elements, loads count elements; `.elements` counts elements throughout.",
    ),
    _erratum(
        "AxBT, end",
        "the layout after adding loads has the size of the kernel's block",
        "it has it for A and transposed B; for B its transpose",
        "B's block is 32x256 and the listing has 256x32, see above.",
    ),
    _erratum(
        "element types",
        "bf16 in the text",
        "f16",
        "The tensor types that are printed have f16; the layouts are the same.",
    ),
)
