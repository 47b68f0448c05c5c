"""Replaced layers compute what the model computed before."""

import shutil
from pathlib import Path

import pytest
import torch

import xetune_torch
from examples.torch_model import Llama, Sizes
from tests.xetune_torch.compiling import CompilingStore
from xetune_torch import QuantizedLinear, StoreFailed, TunedLinear

SIZES = Sizes(layers=2, width=64, hidden=160, heads=4, vocabulary=96)


def _model() -> tuple[Llama, torch.Tensor]:
    torch.manual_seed(0)
    return Llama(SIZES).bfloat16().eval(), torch.randint(0, SIZES.vocabulary, (1, 24))


def _error(after: torch.Tensor, before: torch.Tensor) -> float:
    return float((after.float() - before.float()).norm() / before.float().norm())


@torch.inference_mode()
def test_a_model_computes_the_same_with_replaced_layers(store: CompilingStore) -> None:
    with torch.inference_mode(False):
        model, tokens = _model()
    before = model(tokens)
    report = xetune_torch.replace_linears(model, [(tokens,), (tokens[:, :1],)], only=lambda name, _: name != "head")
    assert len(report.layers) == 10
    assert len(store.tuned) == 8  # four products, for 24 rows and for one
    assert {type(layer) for name, layer in model.named_modules() if name.endswith(("qkv", "down"))} == {TunedLinear}
    assert _error(model(tokens), before) < 0.01
    assert all(choice.used for choice in report.choices)
    assert "in 4 layers" in str(report)
    state = model.state_dict()
    fresh, _ = _model()
    assert {name: value.shape for name, value in state.items()} == {n: v.shape for n, v in fresh.state_dict().items()}


@pytest.mark.parametrize(("text", "most"), [("w4a16:32", 0.25), ("w8a16", 0.02)])
def test_quantised_layers_are_near(store: CompilingStore, text: str, most: float) -> None:
    model, tokens = _model()
    with torch.inference_mode():
        before = model(tokens)
        report = xetune_torch.replace_linears(model, [(tokens,)], quantize_to=text, trials=0)
        assert store.tuned == []
        assert isinstance(model.head, QuantizedLinear)
        assert 0 < _error(model(tokens), before) < most
    assert 0 < max(layer.weight_error for layer in report.layers) < most
    assert all(choice.used for choice in report.choices)
    assert "quantised weights differ by up to" in str(report)


def test_replaced_layers_compile(store: CompilingStore) -> None:
    model, tokens = _model()
    with torch.inference_mode():
        before = model(tokens)
        xetune_torch.replace_linears(model, [(tokens,)])
    with torch.no_grad():
        assert _error(torch.compile(model, backend="aot_eager", fullgraph=True)(tokens), before) < 0.01


def test_without_a_store_nothing_is_replaced() -> None:
    model, tokens = _model()
    with xetune_torch.using(None), pytest.raises(StoreFailed, match="LocalStore"):
        xetune_torch.replace_linears(model, [(tokens,)])
    assert type(model.head) is torch.nn.Linear


def test_a_model_that_is_a_linear_layer_is_returned_replaced(store: CompilingStore) -> None:
    model, x = torch.nn.Linear(64, 96), torch.randn(24, 64)
    want = model(x)
    report = xetune_torch.replace_linears(model, [x])
    assert type(report.model) is TunedLinear
    assert torch.allclose(report.model(x), want, atol=1e-4)
    assert str(report).startswith("1 layer, 1 product\n  24x96x64 f32,f32->f32 NT, bias:f32 in 1 layer: ")


class _Shared(torch.nn.Module):
    """Has one layer under two names, and another."""

    def __init__(self) -> None:
        super().__init__()
        self.first = self.again = torch.nn.Linear(64, 64, bias=False)
        self.last = torch.nn.Linear(64, 96, bias=False)

    def forward(self, x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
        """Return three layers of x."""
        return self.last(self.again(self.first(x)) * scale)


def test_a_layer_with_two_names_stays_one(store: CompilingStore) -> None:
    model, x = _Shared(), torch.randn(24, 64)
    want = model(x)
    report = xetune_torch.replace_linears(model, [x, (x, 2.0)])
    assert report.model is model
    assert [layer.name for layer in report.layers] == ["first", "last"]
    assert model.first is model.again
    assert type(model.first) is TunedLinear
    assert torch.allclose(model(x), want, atol=1e-4)
    assert str(report).startswith("2 layers, 2 products")


def test_a_report_names_kernels_that_were_chosen_before(store: CompilingStore) -> None:
    x = torch.randn(24, 64)
    reports = [xetune_torch.replace_linears(torch.nn.Sequential(torch.nn.Linear(64, 96)), [x]) for _ in range(2)]
    assert str(reports[0]) == str(reports[1])
    assert "us, torch" in str(reports[1])
    assert "torch's own" not in str(reports[1])


def test_float32_is_not_quantised_silently(store: CompilingStore) -> None:
    model, x = torch.nn.Sequential(torch.nn.Linear(64, 96)), torch.randn(24, 64)
    with pytest.raises(ValueError, match=r"expected weights of float16 or bfloat16, got torch.float32 of 0: convert"):
        xetune_torch.replace_linears(model, [x], quantize_to="w8a16")
    with pytest.raises(ValueError, match=r"expected w4a16, .* got 'w2a16'"):
        xetune_torch.replace_linears(model, [x], quantize_to="w2a16")
    assert type(model[0]) is torch.nn.Linear


def test_an_example_is_a_tuple_or_a_tensor(store: CompilingStore) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(64, 96))
    with pytest.raises(ValueError, match="expected each example as a tuple of arguments or as a tensor, got dict"):
        xetune_torch.replace_linears(model, [{"x": torch.randn(24, 64)}])


@pytest.mark.slow  # tunes on this machine, with a service and a worker
@pytest.mark.parametrize(("model", "found"), [((), "11 layers, 5 products"), (("--qwen3",), "15 layers, 5 products")])
def test_the_example_runs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    model: tuple[str, ...],
    found: str,
) -> None:
    from examples import torch_model

    if model:
        pytest.importorskip("transformers")
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["torch_model.py", *model, "--tokens=8", "--trials=1", "--seconds=20"])
    with xetune_torch.using(None):
        torch_model.main()
    printed = capsys.readouterr().out
    assert found in printed
    assert float(printed.rpartition("logits differ by ")[2].partition("%")[0]) < 1
    assert shutil.which("xetune") is None or (tmp_path / "xetune.db").exists()
