"""The operators of torch.library: torch's own checks, torch.compile, torch.export, autocast and gradients."""

import shutil
from collections.abc import Callable, Generator
from typing import Any

import pytest
import torch
from torch import Tensor

import xetune_torch
from tests.xetune_torch.compiling import CompilingStore, by_kernel
from xetune_torch.quantize import parse

OPS = torch.ops.xetune
BACKEND = "inductor" if shutil.which("g++") else "aot_eager"
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


def _samples(dtype: torch.dtype = torch.float32, grad: bool = False) -> dict[str, tuple[object, ...]]:
    made = xetune_torch.quantize(torch.randn(48, 64).bfloat16(), parse("w4a16:32", torch.bfloat16))
    x = torch.randn(2, 3, 64, dtype=dtype, requires_grad=grad)
    return {
        "mm": (torch.randn(24, 64, dtype=dtype, requires_grad=grad), torch.randn(64, 48, dtype=dtype)),
        "linear": (x, torch.randn(48, 64, dtype=dtype), torch.randn(48, dtype=dtype), "silu"),
        "quantized_linear": (x.detach().bfloat16(), *made.operands, None, None, "u4", 32, 8, "none"),
        "grouped_mm": (torch.randn(10, 64), torch.randn(2, 64, 48), torch.tensor([4, 10], dtype=torch.int32)),
    }


@pytest.mark.parametrize("name", ["mm", "linear", "quantized_linear", "grouped_mm"])
def test_torch_checks_the_operators(name: str) -> None:
    results = torch.library.opcheck(getattr(OPS, name).default, _samples(grad=True)[name])
    assert set(results.values()) == {"SUCCESS"}


@pytest.mark.parametrize("activation", xetune_torch.ACTIVATIONS)
def test_gradients_are_those_of_torch(store: CompilingStore, activation: str) -> None:
    x, weight, bias = (torch.randn(*size, dtype=torch.float64) for size in ((2, 3, 8), (5, 8), (5,)))
    given = tuple(each.requires_grad_() for each in (x, weight, bias))
    torch.autograd.gradcheck(lambda x, w, b: xetune_torch.linear(x, w, b, activation), given)
    torch.autograd.gradcheck(xetune_torch.mm, (x[0], weight.t()))
    assert store.asked == []  # no kernel computes float64


def test_gradients_pass_a_kernel(store: CompilingStore) -> None:
    a, b = torch.randn(24, 64, requires_grad=True), torch.randn(64, 48, requires_grad=True)
    c = by_kernel(lambda: xetune_torch.mm(a, b))
    c.square().sum().backward()
    assert a.grad is not None
    assert torch.allclose(a.grad, 2 * (a @ b) @ b.t(), atol=1e-3)
    with torch.no_grad():
        assert torch.equal(xetune_torch.mm(a, b), c)


def test_operators_without_a_gradient_say_so() -> None:
    a, b, offsets = torch.randn(4, 8, requires_grad=True), torch.randn(2, 8, 6), torch.tensor([2, 4], dtype=torch.int32)
    c = xetune_torch.grouped_mm(a, b, offsets)
    with pytest.raises(NotImplementedError, match=r"call it under torch.no_grad"):
        c.sum().backward()


@pytest.mark.parametrize("name", ["mm", "linear", "quantized_linear"])
def test_autocast_chooses_the_type(store: CompilingStore, name: str) -> None:
    function: Callable[..., Tensor] = getattr(OPS, name)
    given = _samples()[name]
    with torch.autocast("cpu", torch.bfloat16):
        y = by_kernel(lambda: function(*given))
    assert y.dtype is torch.bfloat16
    assert store.asked[0].a == "bf16"
    near = function(*given).float()
    assert torch.allclose(y.float(), near, rtol=0.05, atol=0.2)


def test_compiled_code_calls_kernels_with_any_rows(store: CompilingStore) -> None:
    weight, bias = torch.randn(48, 64), torch.randn(48)

    def layer(x: Tensor) -> Tensor:
        return xetune_torch.mm(xetune_torch.linear(x, weight, bias, "relu") * 2, weight)

    run = torch.compile(layer, backend=BACKEND, fullgraph=True, dynamic=True)
    for rows in (24, 40):
        x = torch.randn(rows, 64)
        with torch.no_grad():
            y = by_kernel(lambda x=x: run(x))
            assert torch.allclose(y, layer(x), atol=1e-3)
    assert [gemm.m for gemm in store.asked] == [24, 24, 40, 40]


def test_exported_programs_hold_the_operators(store: CompilingStore) -> None:
    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = xetune_torch.TunedLinear(torch.nn.Linear(64, 48))

        def forward(self, x: Tensor) -> Tensor:
            return self.inner(x).relu()

    rows = torch.export.Dim("rows", min=2, max=100)
    layer, x = Layer(), torch.randn(24, 64)
    program = torch.export.export(layer, (x,), dynamic_shapes=({0: rows},))
    assert "torch.ops.xetune.linear.default" in program.graph_module.code
    with torch.no_grad():
        y = by_kernel(lambda: program.module()(x))
        assert torch.allclose(y, layer(x), atol=1e-4)
        assert program.module()(torch.randn(31, 64)).shape == (31, 48)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: xetune_torch.mm(torch.randn(2, 3), torch.randn(4, 5)), "cannot be multiplied"),
        (lambda: xetune_torch.linear(torch.randn(2, 3), torch.randn(5, 3), None, "swish"), "got 'swish'"),
        (lambda: xetune_torch.linear(torch.randn(2, 4), torch.randn(5, 3)), r"expected x \[..., 3\]"),
    ],
)
def test_wrong_arguments_are_refused(call: Callable[[], Tensor], message: str) -> None:
    with pytest.raises((RuntimeError, ValueError), match=message):
        call()


class Considering:
    """Compiles with max-autotune; the candidate with `wins` in its name wins, `candidates` are the names of all."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from torch._inductor.select_algorithm import AlgorithmSelectorCache

        self.candidates: list[str] = []
        self._wins = ""
        # Times depend on what else runs: each candidate is called, and the wanted one is said to be the fastest.
        time = AlgorithmSelectorCache.benchmark_choice

        def timed(_cls: object, choice: Any, arguments: Any) -> float:
            time(choice, arguments)
            self.candidates.append(choice.name)
            return 0.0 if self._wins in choice.name else 1.0

        monkeypatch.setattr(AlgorithmSelectorCache, "benchmark_choice", classmethod(timed))

    def compiled(self, function: Callable[..., Tensor], *given: Tensor, wins: str) -> tuple[Tensor, str]:
        """Return the result of a function and its code."""
        from torch._inductor.utils import fresh_cache, run_and_get_code

        self.candidates, self._wins = [], wins
        with fresh_cache(), torch.no_grad():
            torch.compiler.reset()
            result, codes = run_and_get_code(torch.compile(function, mode="max-autotune"), *given)
        return result, codes[-1]


@pytest.fixture
def considering(store: CompilingStore, monkeypatch: pytest.MonkeyPatch) -> Generator[Considering]:
    """Inductor considers the kernels of the store."""
    from torch._inductor import config, select_algorithm

    from xetune_torch.inductor import consider_kernels

    monkeypatch.setattr(xetune_torch.DISPATCHER, "waits", xetune_torch.DISPATCHER.waits)
    with config.patch(external_matmul=[]):
        consider_kernels()
        assert hasattr(select_algorithm.extern_kernels, "xetune_mm")  # code from the cache of another process calls it
        yield Considering(monkeypatch)


inductor = pytest.mark.skipif(BACKEND != "inductor", reason="needs g++, with which Inductor compiles")


@pytest.mark.slow  # Inductor compiles C++
@inductor
def test_inductor_considers_kernels_for_products(store: CompilingStore, considering: Considering) -> None:
    a, b = torch.randn(48, 128).bfloat16(), torch.randn(128, 96).bfloat16()
    y, code = considering.compiled(lambda a, b: torch.relu(torch.mm(a, b)), a, b, wins="xetune_mm")
    assert "extern_kernels.xetune_mm" in code
    assert sorted(considering.candidates) == ["mm", "xetune_mm"]
    assert len(store.asked) == 1
    assert torch.allclose(y.float(), torch.relu(a.float() @ b.float()), rtol=1e-2, atol=1e-2)


@pytest.mark.slow
@inductor
def test_inductor_considers_linear_layers(store: CompilingStore, considering: Considering) -> None:
    x, weight, bias = torch.randn(2, 24, 128).bfloat16(), torch.randn(96, 128).bfloat16(), torch.randn(96).bfloat16()

    def layer(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return xetune_torch.linear(x, weight, bias, "silu") * 2

    want = 2 * torch.nn.functional.silu(x.float() @ weight.float().t() + bias.float())
    y, code = considering.compiled(layer, x, weight, bias, wins="fallback")
    names = [name.partition("_activation")[0] for name in considering.candidates]
    assert names == ["xetune_linear_linear_in_aten", "xetune_linear_fallback"]
    assert "torch.ops.xetune.linear" in code
    assert len(store.asked) == 1  # it waited for the answer before it timed the operator
    assert torch.allclose(y.float(), want, rtol=2e-2, atol=2e-2)
    y, code = considering.compiled(layer, x, weight, bias, wins="linear_in_aten")
    assert "torch.ops.xetune" not in code
    assert torch.allclose(y.float(), want, rtol=2e-2, atol=2e-2)


@pytest.mark.slow
@inductor
def test_a_layer_without_bias_is_a_product_that_inductor_considers(considering: Considering) -> None:
    x, weight = torch.randn(24, 128).bfloat16(), torch.randn(96, 128).bfloat16()
    y, code = considering.compiled(lambda x, w: xetune_torch.linear(x, w).relu(), x, weight, wins="aten")
    assert "xetune_mm" in considering.candidates
    assert "torch.ops.xetune" not in code
    assert torch.allclose(y.float(), (x.float() @ weight.float().t()).relu(), rtol=2e-2, atol=2e-2)


@pytest.mark.slow
@inductor
def test_inductor_leaves_operators_alone_that_it_does_not_tune(considering: Considering) -> None:
    from torch._inductor.utils import fresh_cache, run_and_get_code

    x, weight = torch.randn(24, 128), torch.randn(96, 128)
    with fresh_cache(), torch.no_grad():
        torch.compiler.reset()
        _, (code, *_) = run_and_get_code(torch.compile(lambda x: xetune_torch.linear(x, weight, None, "relu") + 1), x)
    assert "torch.ops.xetune.linear" in code
    assert considering.candidates == []
