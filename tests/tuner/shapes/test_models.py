"""Sizes of models against the parameter counts that their authors published."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from tuner.shapes.layers import Experts, Layer
from tuner.shapes.models import MODELS

GEMMA_3 = "Gemma 3 Technical Report, table 1: non-embedding parameters"
GPT_OSS = "gpt-oss model card (arXiv 2508.10925), table 1; active with the unembedding, without the embedding"
CARD = "model card"
TOTAL_SLACK, ACTIVE_SLACK = 0.0004, 0.021  # norms, biases and convolutions; what a card counts as active


class Published(NamedTuple):
    """Figures of a source, in billions, as digits: half a unit of the last one is rounding.

    `vocabularies` are the matrices of the size of lm_head in the total: 2, or 1 if the embedding is lm_head, or 0 if
    the figure leaves both out. `besides` are billions in the totals that are no layers here: other embeddings and
    encoders of images and sound.
    """

    total: str
    source: str = CARD
    vocabularies: int = 2
    besides: float = 0.0
    active: str | None = None
    active_vocabularies: int = 2


_LLAMA_4_VISION = 0.872  # checkpoint of Maverick: 401,583,781,376 in all
_GEMMA_4_ENCODERS = 0.15 + 0.30  # images, sound: model card
# Table of each block's embeddings: vocabulary x blocks x 256.
_E2B, _E4B = 262144 * 35 * 256 / 1e9, 262144 * 42 * 256 / 1e9

PUBLISHED = {
    "llama-2-7b": Published("6.74"),
    "llama-3-8b": Published("8.03"),
    "llama-3-70b": Published("70.6"),
    "llama-3.2-1b": Published("1.24", vocabularies=1),
    "llama-4-scout": Published("109", besides=_LLAMA_4_VISION, active="17"),
    "llama-4-maverick": Published("401.584", "checkpoint", besides=_LLAMA_4_VISION, active="17"),
    "mistral-7b": Published("7.24"),
    "mistral-small-3.1-24b": Published("24"),
    "mistral-small-4-119b": Published("119", active="6.5"),
    "deepseek-v3": Published("671", active="37", active_vocabularies=1),
    "qwen2.5-7b": Published("7.61"),
    "qwen3-0.6b": Published("0.44", "model card, non-embedding", vocabularies=0),
    "qwen3-1.7b": Published("1.4", "model card, non-embedding", vocabularies=0),
    "qwen3-4b": Published("4.0", vocabularies=1),
    "qwen3-8b": Published("6.95", "model card, non-embedding", vocabularies=0),
    "qwen3-14b": Published("14.8"),
    "qwen3-32b": Published("32.8"),
    "qwen3-30b-a3b": Published("30.5", active="3.3"),
    "qwen3.5-4b": Published("4", vocabularies=1),
    "qwen3.5-9b": Published("8.95", "checkpoint without its encoder of images"),
    "qwen3.5-27b": Published("27"),
    "qwen3.5-35b-a3b": Published("35", active="3"),
    "qwen3.5-122b-a10b": Published("122", active="10"),
    "qwen3.6-27b": Published("27"),
    "qwen3.6-35b-a3b": Published("35", active="3"),
    "gemma-2-9b": Published("9.24", vocabularies=1),
    "gemma-3-1b": Published("0.698", GEMMA_3, vocabularies=0),
    "gemma-3-4b": Published("3.209", GEMMA_3, vocabularies=0),
    "gemma-3-12b": Published("10.759", GEMMA_3, vocabularies=0),
    "gemma-3-27b": Published("25.600", GEMMA_3, vocabularies=0),
    "gemma-4-e2b": Published("5.1", vocabularies=1, besides=_E2B + _GEMMA_4_ENCODERS),
    "gemma-4-e4b": Published("8", vocabularies=1, besides=_E4B + _GEMMA_4_ENCODERS),
    "gemma-4-26b-a4b": Published("25.2", vocabularies=1, active="3.8", active_vocabularies=1),
    "gemma-4-31b": Published("30.7", vocabularies=1),
    "gpt-oss-20b": Published("20.91", GPT_OSS, active="3.61", active_vocabularies=1),
    "gpt-oss-120b": Published("116.83", GPT_OSS, active="5.13", active_vocabularies=1),
    "phi-3-mini": Published("3.82"),
}


def _billions(layers: tuple[Layer, ...], vocabularies: int, *, active: bool = False) -> float:
    def matrices() -> Iterator[int]:
        for layer in layers:
            of = layer.experts or Experts(1, 1)
            times = vocabularies if layer.name == "lm_head" else layer.times
            yield layer.n * layer.k * times * (of.per_token if active else of.count)

    return sum(matrices()) / 1e9


def _agrees(billions: float, said: str, slack: float) -> bool:
    unit = 10.0 ** -len(said.partition(".")[2])
    return abs(billions - float(said)) <= unit / 2 + slack * float(said)


def test_every_model_has_a_published_figure_and_layers_of_different_names() -> None:
    assert set(PUBLISHED) == set(MODELS)
    for name, model in MODELS.items():
        assert model.name == name
        assert len({layer.name for layer in model.layers}) == len(model.layers), name


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameters_agree_with_the_published_ones(name: str) -> None:
    said, layers = PUBLISHED[name], MODELS[name].layers
    total = _billions(layers, said.vocabularies) + said.besides
    assert _agrees(total, said.total, TOTAL_SLACK), f"{total:.4f} billion, {said.source} says {said.total}"
    if said.active is not None:
        active = _billions(layers, said.active_vocabularies, active=True)
        assert _agrees(active, said.active, ACTIVE_SLACK), f"{active:.4f} billion active, not {said.active}"


@pytest.mark.parametrize(
    ("name", "layer", "n", "k"),
    [
        ("qwen3-4b", "qkv", 6144, 2560),  # 2560 / 32 heads is 80, a head has 128
        ("qwen3-4b", "o", 2560, 4096),
        ("gemma-3-27b", "o", 5376, 4096),
        ("mistral-small-3.1-24b", "o", 5120, 4096),
        ("qwen3.5-27b", "qkv", 14336, 5120),  # 24 heads with a gate each
        ("qwen3.5-27b", "linear_qkvz", 16384, 5120),
        ("gemma-4-31b", "qkv", 16384, 5376),
        ("gemma-4-31b", "global_qkv", 18432, 5376),  # K is V
        ("gemma-4-31b", "global_o", 5376, 16384),
        ("gemma-4-e2b", "wide_down", 1536, 12288),
        ("deepseek-v3", "qkv_a", 2112, 7168),
        ("deepseek-v3", "kv_b", 32768, 512),
        ("llama-4-maverick", "expert_down", 5120, 8192),
    ],
)
def test_projections_have_the_sizes_of_the_checkpoint(name: str, layer: str, n: int, k: int) -> None:
    (found,) = (one for one in MODELS[name].layers if one.name == layer)
    assert (found.n, found.k) == (n, k)


@pytest.mark.parametrize(
    ("name", "layer", "changes"),
    [
        ("qwen3-4b", "qkv", {"n": 48 * 80}),  # heads of hidden / heads elements
        ("gemma-3-27b", "o", {"k": 5376}),
        ("gemma-4-31b", "global_qkv", {"n": 40 * 512}),  # V of its own
        ("deepseek-v3", "shared_gate_up", {"times": 0}),
        ("qwen3-30b-a3b", "expert_gate_up", {"n": 768}),  # no pair
        ("gpt-oss-20b", "expert_down", {"experts": Experts(32, 2)}),
    ],
)
def test_a_wrong_size_misses_the_published_figures(name: str, layer: str, changes: dict[str, Any]) -> None:
    said = PUBLISHED[name]
    layers = tuple(replace(one, **changes) if one.name == layer else one for one in MODELS[name].layers)
    total = _billions(layers, said.vocabularies)
    active = _billions(layers, said.active_vocabularies, active=True)
    assert not (
        _agrees(total, said.total, TOTAL_SLACK) and (said.active is None or _agrees(active, said.active, ACTIVE_SLACK))
    )
