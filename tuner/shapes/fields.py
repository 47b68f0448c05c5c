"""Shape parsed from the fields of a file, completed with defaults from the command."""

from collections.abc import Mapping
from dataclasses import dataclass

from codegen import DType, EpilogueStep, Gate, GemmProblem, InvalidProblem, Quantization
from codegen.problem.epilogue_text import parse_epilogue
from codegen.problem.gate import parse_gate
from codegen.problem.shorthand import Asked, types_of
from tuner.shapes.shape import Shape

SIZES = ("m", "n", "k")
FIELDS = (
    *SIZES,
    "batch",
    "dtype",
    "dtype_a",
    "dtype_b",
    "dtype_c",
    "dtype_acc",
    "layout",
    "epilogue",
    "gate",
    "quant",
    "quantization",
    "experts",
    "weight",
    "name",
)
"""Fields of a shape, in any order; only the sizes are required."""
_LONGEST_NAME = 200
_LAYOUTS = ("nn", "nt", "tn", "tt")


class FieldInvalid(ValueError):
    """A field of a shape is invalid. `field` is its name; "" if several fields conflict."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Base:
    """Default fields of each shape; None leaves a field to the problem's own default.

    `quant` is the text of a shorthand, which replaces `dtype_b` and adds to the epilogue; "" for none.
    """

    dtype_a: DType = DType.F16
    dtype_b: DType = DType.F16
    dtype_c: DType | None = None
    dtype_acc: DType | None = None
    transpose_a: bool = False
    transpose_b: bool = False
    batch: int = 1
    alignment: int = 64
    dynamic: bool = False
    deterministic: bool = False
    epilogue: tuple[EpilogueStep, ...] = ()
    gate: Gate | None = None
    experts: int | None = None
    quantization: Quantization | None = None
    quant: str = ""


def shape_of(said: Mapping[str, str], base: Base) -> Shape:
    """Return the shape with these fields.

    Raises:
        FieldInvalid: a field is missing, unknown or invalid.
    """
    for name in said:
        if name not in FIELDS:
            raise FieldInvalid(name, f"expected one of {', '.join(FIELDS)}")
    if missing := [name for name in SIZES if not said.get(name)]:
        raise FieldInvalid("", f"expected m, n and k, got no {' and no '.join(missing)}")
    layout = said.get("layout")
    if layout is not None and layout not in _LAYOUTS:
        raise FieldInvalid("layout", f"expected one of {', '.join(_LAYOUTS)}, got {layout!r}")
    try:
        asked, dtype_acc = _asked(said, base)
        problem = GemmProblem(
            *(_whole(said, name) for name in SIZES),
            batch=_whole(said, "batch") if said.get("batch") else base.batch,
            transpose_a=base.transpose_a if layout is None else layout[0] == "t",
            transpose_b=base.transpose_b if layout is None else layout[1] == "t",
            alignment=base.alignment,
            dynamic=base.dynamic,
            deterministic=base.deterministic,
            gate=asked.gate,
            experts=_whole(said, "experts") if said.get("experts") else base.experts,
            **types_of(asked)._asdict(),
            **({} if dtype_acc is None else {"dtype_acc": dtype_acc}),
        )
    except InvalidProblem as error:
        raise FieldInvalid(error.field, error.message) from error
    return Shape(problem, _weight(said), name_of(said))


def _asked(said: Mapping[str, str], base: Base) -> tuple[Asked, DType | None]:
    """Return what determines the types, scales and epilogue of a shape, and the type of its sums."""
    types = {f"dtype_{of}": _dtype(said, f"dtype_{of}") for of in ("a", "b", "c", "acc")}
    both = _dtype(said, "dtype")
    # Types derived from A and B are dropped if a shape sets other types for these.
    follows = base if both is None and types["dtype_a"] is None else Base()
    says_b = types["dtype_b"] is not None or bool(said.get("quantization"))
    quant = said.get("quant") or ("" if says_b else base.quant)
    quantization = said.get("quantization", "")
    if not (quant or says_b or both or base.quantization is None):
        quantization = str(base.quantization)
    asked = Asked(
        quant,
        quantization,
        both or base.dtype_b,
        types["dtype_a"] or both or base.dtype_a,
        types["dtype_b"],
        types["dtype_c"] or follows.dtype_c,
        base.epilogue if "epilogue" not in said else parse_epilogue(said["epilogue"]),
        base.gate if "gate" not in said else parse_gate(said["gate"]),
    )
    return asked, types["dtype_acc"] or follows.dtype_acc


def name_of(said: Mapping[str, object]) -> str:
    """Return the name of a shape; empty if it has none.

    Raises:
        FieldInvalid: a name that is too long or not printable.
    """
    name = str(said.get("name", "")).strip()
    if len(name) > _LONGEST_NAME or not name.isprintable():
        raise FieldInvalid("name", f"expected at most {_LONGEST_NAME} printable characters, got {name[:60]!r}")
    return name


def _whole(said: Mapping[str, str], name: str) -> int:
    text = said[name].strip()
    if not (text.isascii() and text.isdecimal()):
        raise FieldInvalid(name, f"expected a whole number, got {text!r}")
    return int(text[:20])


def _dtype(said: Mapping[str, str], name: str) -> DType | None:
    if not said.get(name):
        return None
    try:
        return DType(said[name].strip())
    except ValueError:
        raise FieldInvalid(
            name, f"expected one of {', '.join(dtype.value for dtype in DType)}, got {said[name]!r}"
        ) from None


def _weight(said: Mapping[str, str]) -> float:
    text = said.get("weight") or "1"
    try:
        weight = float(text)
    except ValueError:
        raise FieldInvalid("weight", f"expected a positive number, got {text!r}") from None
    if not 0 < weight < 1e15:
        raise FieldInvalid("weight", f"expected a positive number below 1e15, got {text}")
    return weight
