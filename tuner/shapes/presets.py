"""Layers of language models as shapes: `MODEL@tokens=1,16@layers=qkv,down`."""

from difflib import get_close_matches

from codegen.problem.shorthand import NONE
from tuner.errors import InvalidShapes
from tuner.shapes.fields import Base, FieldInvalid, shape_of
from tuner.shapes.layers import Layer
from tuner.shapes.models import MODELS, Model
from tuner.shapes.shape import MOST_SHAPES, Shape

PREFIX = "preset:"
DEFAULT_TOKENS = (1, 16, 128, 1024)
_TOKENS, _LAYERS = "tokens", "layers"
_CHOICES = (f"{_TOKENS}=", f"{_LAYERS}=")


def is_preset(source: str) -> bool:
    """Return True if a text has the form of a preset."""
    model, at, choice = source.partition("@")
    is_asked = bool(at) and choice.startswith(_CHOICES)
    return source.startswith(PREFIX) or model in MODELS or is_asked


def find_model(name: str) -> Model:
    """Return a model by its name.

    Raises:
        InvalidShapes: no such model; with the nearest names.
    """
    if (model := MODELS.get(name)) is None:
        near = get_close_matches(name, MODELS, n=3) or list(MODELS)[:3]
        raise InvalidShapes(
            "", f"expected a model that `xetune shapes presets` lists, such as {', '.join(near)}; got {name[:60]!r}"
        )
    return model


def preset_shapes(source: str, base: Base) -> list[Shape]:
    """Return the shapes of `[preset:]MODEL[@tokens=1,16,...][@layers=qkv,down,...]`, layer by layer.

    The epilogue and the types are those of `base`; layers that are not quantised have B of A's type.

    Raises:
        InvalidShapes: no such model, or an unknown choice.
    """
    name, *choices = source.removeprefix(PREFIX).split("@")
    model = find_model(name)
    tokens, layers = DEFAULT_TOKENS, model.layers
    said: set[str] = set()
    for choice in choices:
        key, _, text = choice.partition("=")
        if key in said:
            raise InvalidShapes(source, f"expected @{key}= once, got it again: @{choice}")
        said.add(key)
        if key == _TOKENS:
            tokens = _numbers(source, text)
        elif key == _LAYERS:
            layers = _layers(source, model, text)
        else:
            raise InvalidShapes(source, f"expected @tokens=1,16,... or @layers=qkv,down,...; got @{choice}")
    if len(tokens) * len(layers) > MOST_SHAPES:
        raise InvalidShapes(source, f"expected at most {MOST_SHAPES} shapes, got {len(tokens) * len(layers)}")
    try:
        return [_shape(model, layer, count, base) for layer in layers for count in tokens]
    except FieldInvalid as error:
        raise InvalidShapes(source, str(error)) from error


def _shape(model: Model, layer: Layer, tokens: int, base: Base) -> Shape:
    """Return the GEMM of a layer for a number of tokens, weighted by its occurrences in one pass.

    The experts of a block are one problem, with a row for each expert that a token passes.
    """
    m, of_experts = tokens, dict[str, str]()
    if layer.experts is not None:
        m, of_experts = tokens * layer.experts.per_token, {"experts": str(layer.experts.count)}
    said = {"m": str(m), "n": str(layer.n), "k": str(layer.k), "weight": str(layer.times), **of_experts}
    said["name"] = f"{model.name} {layer.name}"
    if not layer.quantised and (base.quant or base.quantization is not None):
        said["quant"] = NONE
    return shape_of(said, base)


def _numbers(source: str, text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.isascii() and part.isdecimal() and int(part[:12]) > 0 for part in parts):
        raise InvalidShapes(source, f"expected numbers of tokens with commas between, got {text!r}")
    return tuple(dict.fromkeys(int(part[:12]) for part in parts))


def _layers(source: str, model: Model, text: str) -> tuple[Layer, ...]:
    known = {layer.name: layer for layer in model.layers}
    named = tuple(dict.fromkeys(text.split(",")))
    if unknown := [name for name in named if name not in known]:
        raise InvalidShapes(source, f"expected layers of {', '.join(known)}; got {unknown[0]!r}")
    return tuple(known[name] for name in named)
