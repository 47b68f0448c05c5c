"""Constants of a newer LLVM are rewritten to bits that an older one reads."""

import pytest

from codegen.xe.llvm.float_syntax import in_older_syntax


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("  %2 = fmul <8 x float> %1, splat (float f0x3E6D3388)", "splat (float 0x3FCDA67100000000)"),
        ("  %2 = fsub float %1, f0x4B000005", "float %1, 0x41600000A0000000"),
        ("  %2 = select i1 %c, half -inf, half 9.997550e-02", "half 0xHFC00, half 0xH2E66"),
        ("  %2 = fadd bfloat %1, 1.000980e-01", "bfloat %1, 0xR3DCD"),
        ("  %2 = insertelement <2 x double> %1, double +qnan, i64 0", "double 0x7FF8000000000000, i64 0"),
        ("  store float +snan(0x1), ptr %p, align 4", "float 0x7FF0000020000000, ptr"),
        ("  store float -nan(0x12345), ptr %p, align 4", "float 0xFFF82468A0000000, ptr"),
        (
            "  %2 = phi float [ 1.401300e-45, %a ], [ 0.000000e+00, %b ]",
            "[ 0x36A0000000000000, %a ], [ 0x0000000000000000,",
        ),
    ],
)
def test_constants_get_the_bits_of_their_types(new: str, old: str) -> None:
    assert old in in_older_syntax(new)


def test_other_text_stays() -> None:
    text = '  %f0x1 = add i32 %inf, 3\n  call void @"-inf"(float %x)\n!0 = !{i32 16}\n'
    assert in_older_syntax(text) == text
