"""Layer sizes of well-known language models, as their published configuration files state them.

Each row names the model card whose `config.json` has the numbers, and when the model was published. A layer multiplies
activations [tokens, K] by weights [K, N]:

    qkv        N = (heads + 2 * kv_heads) * head_dim   K = hidden             once a block
    o          N = hidden                              K = heads * head_dim   once a block
    gate_up    N = 2 * intermediate                    K = hidden             once a block
    down       N = hidden                              K = intermediate       once a block
    lm_head    N = vocabulary                          K = hidden             once
"""

from dataclasses import dataclass

from tuner.errors import InvalidShapes
from tuner.shapes.fields import Base, FieldInvalid, shape_of
from tuner.shapes.shape import MOST_SHAPES, Shape

PREFIX = "preset:"
LAYERS = ("qkv", "o", "gate_up", "down", "lm_head")
DEFAULT_TOKENS = (1, 16, 128, 1024)
_TOKENS, _LAYERS = "tokens", "layers"
_CHOICES = (f"{_TOKENS}=", f"{_LAYERS}=")


@dataclass(frozen=True, slots=True)
class Model:
    """Sizes of a decoder-only model, in elements and counts. `card` and `published` are their source."""

    name: str
    card: str
    published: str
    hidden: int
    intermediate: int
    blocks: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int

    @property
    def source(self) -> str:
        """URL of its configuration file."""
        return f"https://huggingface.co/{self.card}/blob/main/config.json"

    def layers(self) -> dict[str, tuple[int, int, int]]:
        """Return N, K and the number of occurrences of each layer in one pass."""
        return {
            "qkv": ((self.heads + 2 * self.kv_heads) * self.head_dim, self.hidden, self.blocks),
            "o": (self.hidden, self.heads * self.head_dim, self.blocks),
            "gate_up": (2 * self.intermediate, self.hidden, self.blocks),
            "down": (self.hidden, self.intermediate, self.blocks),
            "lm_head": (self.vocabulary, self.hidden, 1),
        }


MODELS = {
    model.name: model
    for model in (
        Model("llama-2-7b", "meta-llama/Llama-2-7b-hf", "2023-07", 4096, 11008, 32, 32, 32, 128, 32000),
        Model("llama-3-8b", "meta-llama/Meta-Llama-3-8B", "2024-04", 4096, 14336, 32, 32, 8, 128, 128256),
        Model("llama-3-70b", "meta-llama/Meta-Llama-3-70B", "2024-04", 8192, 28672, 80, 64, 8, 128, 128256),
        Model("llama-3.2-1b", "meta-llama/Llama-3.2-1B", "2024-09", 2048, 8192, 16, 32, 8, 64, 128256),
        Model("mistral-7b", "mistralai/Mistral-7B-v0.1", "2023-09", 4096, 14336, 32, 32, 8, 128, 32000),
        Model("qwen2.5-7b", "Qwen/Qwen2.5-7B", "2024-09", 3584, 18944, 28, 28, 4, 128, 152064),
        Model("gemma-2-9b", "google/gemma-2-9b", "2024-06", 3584, 14336, 42, 16, 8, 256, 256000),
        Model("phi-3-mini", "microsoft/Phi-3-mini-4k-instruct", "2024-04", 3072, 8192, 32, 32, 32, 96, 32064),
    )
}


def is_preset(source: str) -> bool:
    """Return True if a text has the form of a preset."""
    model, at, choice = source.partition("@")
    is_asked = bool(at) and choice.startswith(_CHOICES)
    return source.startswith(PREFIX) or model in MODELS or is_asked


def preset_shapes(source: str, base: Base) -> list[Shape]:
    """Return the shapes of `[preset:]MODEL[@tokens=1,16,...][@layers=qkv,down,...]`, layer by layer.

    The weight is the number of occurrences of the layer in one pass. The epilogue and the types are those of `base`.

    Raises:
        InvalidShapes: no such model, or an unknown choice.
    """
    name, *choices = source.removeprefix(PREFIX).split("@")
    model = MODELS.get(name)
    if model is None:
        raise InvalidShapes(source, f"expected a model of {', '.join(MODELS)}; got {name!r}")
    tokens, layers = DEFAULT_TOKENS, LAYERS
    said: set[str] = set()
    for choice in choices:
        key, _, text = choice.partition("=")
        if key in said:
            raise InvalidShapes(source, f"expected @{key}= once, got it again: @{choice}")
        said.add(key)
        if key == _TOKENS:
            tokens = _numbers(source, text)
        elif key == _LAYERS:
            layers = _layers(source, text)
        else:
            raise InvalidShapes(source, f"expected @tokens=1,16,... or @layers=qkv,down,...; got @{choice}")
    if len(tokens) * len(layers) > MOST_SHAPES:
        raise InvalidShapes(source, f"expected at most {MOST_SHAPES} shapes, got {len(tokens) * len(layers)}")
    sizes = model.layers()
    try:
        return [_shape(model, layer, m, sizes[layer], base) for layer in layers for m in tokens]
    except FieldInvalid as error:
        raise InvalidShapes(source, str(error)) from error


def _shape(model: Model, layer: str, m: int, sizes: tuple[int, int, int], base: Base) -> Shape:
    n, k, count = sizes
    said = {"m": str(m), "n": str(n), "k": str(k), "weight": str(count), "name": f"{model.name} {layer}"}
    return shape_of(said, base)


def _numbers(source: str, text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.isascii() and part.isdecimal() and int(part[:12]) > 0 for part in parts):
        raise InvalidShapes(source, f"expected numbers of tokens with commas between, got {text!r}")
    return tuple(dict.fromkeys(int(part[:12]) for part in parts))


def _layers(source: str, text: str) -> tuple[str, ...]:
    named = tuple(dict.fromkeys(text.split(",")))
    if unknown := [layer for layer in named if layer not in LAYERS]:
        raise InvalidShapes(source, f"expected layers of {', '.join(LAYERS)}; got {unknown[0]!r}")
    return named
