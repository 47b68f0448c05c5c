"""Names of the built-in functions that convert f32 to the bits of bf16, rounded to nearest even, and back.

Source: SPV_INTEL_bfloat16_conversion. LLVM's SPIR-V target emits instructions of that extension for them.
"""

TO_BITS = "__spirv_ConvertFToBF16INTEL"
FROM_BITS = "__spirv_ConvertBF16ToFINTEL"
