"""Products by kernels are those of torch in float64, for every type, layout and epilogue."""

import pytest
import torch
from torch.nn import functional

import xetune_torch
from tests.few import few
from tests.xetune_torch.compiling import CompilingStore, assert_near, by_kernel
from xetune_torch.checking import activated
from xetune_torch.quantize import parse

F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16


def _matrix(rows: int, columns: int, dtype: torch.dtype, layout: str) -> torch.Tensor:
    """A matrix that is stored by rows (n), by columns (t), or in wider rows (w)."""
    if dtype in (torch.int8, torch.uint8):
        low = -128 if dtype is torch.int8 else 0
        wide = torch.randint(low, low + 256, (columns if layout == "t" else rows, max(rows, columns) + 32)).to(dtype)
    else:
        wide = torch.randn(columns if layout == "t" else rows, max(rows, columns) + 32).to(dtype)
    if layout == "w":
        return wide[:, :columns]
    return wide[:, :rows].contiguous().t() if layout == "t" else wide[:, :columns].contiguous()


@pytest.mark.parametrize(
    ("dtype", "layouts"),
    few([(dtype, layouts) for dtype in (F32, BF16, F16) for layouts in ("nn", "nt", "tn", "ww")], 5),
)
def test_floats(store: CompilingStore, dtype: torch.dtype, layouts: str) -> None:
    a, b = _matrix(48, 128, dtype, layouts[0]), _matrix(128, 96, dtype, layouts[1])
    c = by_kernel(lambda: xetune_torch.mm(a, b))
    assert c.dtype is dtype
    assert (store.asked[0].transpose_a, store.asked[0].transpose_b) == (layouts[0] == "t", layouts[1] == "t")
    assert_near(c, a.double() @ b.double(), a.double().abs() @ b.double().abs(), 128)


@pytest.mark.parametrize("types", [(torch.int8, torch.int8), (torch.uint8, torch.int8)])
def test_bytes_are_exact(store: CompilingStore, types: tuple[torch.dtype, torch.dtype]) -> None:
    a, b = _matrix(24, 128, types[0], "n"), _matrix(128, 64, types[1], "t")
    c = by_kernel(lambda: xetune_torch.mm(a, b))
    assert c.dtype is torch.int32
    assert torch.equal(c, a.int() @ b.int())


@pytest.mark.parametrize("activation", few(xetune_torch.ACTIVATIONS, 3))
def test_linear(store: CompilingStore, activation: str) -> None:
    x, weight, bias = torch.randn(2, 12, 128).to(BF16), torch.randn(96, 128).to(BF16), torch.randn(96).to(BF16)
    y = by_kernel(lambda: xetune_torch.linear(x, weight, bias, activation))
    before = functional.linear(x.double(), weight.double(), bias.double())
    size = functional.linear(x.double().abs(), weight.double().abs(), bias.double().abs())
    assert y.shape == (2, 12, 96)
    assert_near(y, activated(before, activation), size * 1.2, 128)


@pytest.mark.parametrize(
    ("text", "dtype"), few([("w4a16:64", BF16), ("w8a16", F16), ("w4a16:32:zeros", F16), ("w8a16:64", BF16)], 2)
)
def test_quantized_linear(store: CompilingStore, text: str, dtype: torch.dtype) -> None:
    x, bias = torch.randn(3, 4, 128).to(dtype), torch.randn(96).to(dtype)
    made = xetune_torch.quantize(torch.randn(96, 128).to(dtype), parse(text, dtype))
    of = made.weights

    def call() -> torch.Tensor:
        return xetune_torch.quantized_linear(
            x, made.codes, made.scale, made.zeros, bias, dtype=of.dtype, group=of.group, zero=of.zero
        )

    weight = xetune_torch.dequantize(made, dtype).double()
    y, want = by_kernel(call), functional.linear(x.double(), weight, bias.double())
    assert_near(y, want, functional.linear(x.double().abs(), weight.abs(), bias.double().abs()), 128)


@pytest.mark.parametrize(("text", "steps"), [("w4a16:32", 0.5), ("w4a16:32:zeros", 1.0), ("w8a16", 0.5)])
def test_quantization_rounds_to_near_codes(text: str, steps: float) -> None:
    weight = torch.randn(24, 64)
    made = xetune_torch.quantize(weight, parse(text, F32))
    error = (xetune_torch.dequantize(made, F32) - weight).abs()
    scale = made.scale.t().repeat_interleave(made.weights.group or 64, 1)
    assert bool((error <= scale * (steps + 1e-3)).all())


@pytest.mark.parametrize("ends", [[7, 7, 20, 40], [0, 16, 16, 33]])
def test_grouped(store: CompilingStore, ends: list[int]) -> None:
    a, b = torch.randn(40, 128).to(BF16), torch.randn(4, 96, 128).to(BF16).mT
    offsets = torch.tensor(ends, dtype=torch.int32)
    c = by_kernel(lambda: xetune_torch.grouped_mm(a, b, offsets))
    want, start = torch.zeros(40, 96).double(), 0
    for expert, end in enumerate(ends):
        want[start:end] = a[start:end].double() @ b[expert].double()
        start = end
    assert_near(c, want, 128.0, 128)
    assert store.asked[0].experts == 4


def test_offsets_beyond_the_rows_are_refused(store: CompilingStore) -> None:
    a, b = torch.randn(8, 32), torch.randn(2, 32, 16)
    for ends in ([4, 9], [5, 4]):
        with pytest.raises(ValueError, match="rise to at most 8"):
            xetune_torch.grouped_mm(a, b, torch.tensor(ends, dtype=torch.int32))


def test_memory_that_a_kernel_cannot_take_is_multiplied_by_torch(store: CompilingStore) -> None:
    b, memory = torch.randn(128, 96), torch.randn(48 * 128 + 1)
    by_kernel(lambda: xetune_torch.mm(memory[:-1].view(48, 128), b))
    unaligned, spread = memory[1:].view(48, 128), torch.randn(48, 256)[:, ::2]
    for a in (unaligned, spread):
        assert torch.equal(xetune_torch.mm(a, b), torch.mm(a, b))
    assert len(store.asked) == 1
    for a in (torch.randn(0, 128), torch.randn(48, 0)):
        assert torch.equal(xetune_torch.mm(a, torch.randn(a.shape[1], 5)), torch.mm(a, torch.zeros(a.shape[1], 5)))


def test_offsets_of_another_type_are_refused_by_its_name(store: CompilingStore) -> None:
    a, b = torch.randn(8, 16), torch.randn(2, 16, 24)
    with pytest.raises(ValueError, match=r"expected offsets of torch.int32, got torch.int64: pass offsets.int\(\)"):
        xetune_torch.grouped_mm(a, b, torch.tensor([4, 8]))


def test_codes_of_another_type_are_refused_by_its_name(store: CompilingStore) -> None:
    x, codes, scale = torch.randn(8, 64).bfloat16(), torch.zeros(24, 8, dtype=torch.int32), torch.ones(1, 24).bfloat16()
    with pytest.raises(ValueError, match="expected codes of dtype u4 or s8, got 'u5'"):
        xetune_torch.quantized_linear(x, codes, scale, dtype="u5")
