"""Problems and configurations in a line, written from the canonical JSON that rows keep."""

from collections.abc import Iterator, Mapping
from typing import cast

from db.models import Problem


def problem_label(problem: Problem) -> str:
    """Sizes, types and layouts, and the epilogue's steps when there are any."""
    batch = f"{problem.batch}x " if problem.batch > 1 else ""
    layout = f"{'T' if problem.transpose_a else 'N'}{'T' if problem.transpose_b else 'N'}"
    sizes = f"{problem.m}x{problem.n}x{problem.k}"
    steps = [str(_mapping(step).get("kind")) for step in _list(problem.definition.get("epilogue"))]
    return " ".join([f"{batch}{sizes} {problem.dtype_a}->{problem.dtype_c} {layout}", *(f"+ {s}" for s in steps)])


def problem_flops(problem: Problem) -> int:
    """Floating-point operations of the multiply: two for each multiply-add."""
    return 2 * problem.batch * problem.m * problem.n * problem.k


def config_label(config: Mapping[str, object]) -> str:
    """The numbers that most often tell two configurations apart, in a line."""
    matmul, strategy = _mapping(config.get("matmul")), _mapping(config.get("strategy"))
    parts = [
        ("block", _extent(matmul.get("block"))),
        ("sg", "x".join(map(str, _list(strategy.get("sg_layout"))))),
        ("load", _extent(matmul.get("innermost"))),
        ("threads", _extent(matmul.get("threads"))),
        ("prefetch", _mapping(strategy.get("prefetch")).get("distance")),
        ("grf", strategy.get("grf_mode")),
        ("raster", str(matmul.get("loop_order", ""))[:4]),
    ]
    return " ".join(f"{name} {value}" for name, value in parts if value not in (None, "")) or "unknown"


def config_pairs(config: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every value of a configuration with the path to it; extents and layouts as `256x128x32`."""
    for name, value in config.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping):
            inner = cast("Mapping[str, object]", value)
            if set(inner) == {"m", "n", "k"}:
                yield path, f"{inner['m']}x{inner['n']}x{inner['k']}"
            else:
                yield from config_pairs(inner, f"{path} ")
        elif isinstance(value, list | tuple):
            yield path, "x".join(str(v) for v in cast("list[object]", value))
        elif isinstance(value, bool):
            yield path, "yes" if value else "no"
        else:
            yield path, str(value)


def _extent(value: object) -> str:
    sizes = _mapping(value)
    return f"{sizes['m']}x{sizes['n']}x{sizes['k']}" if sizes.keys() >= {"m", "n", "k"} else ""


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
