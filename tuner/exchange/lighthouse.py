"""Schedule parameters of lighthouse's XeGPU matmul as configurations, and back.

A file is a list of objects with the sizes `m`, `n`, `k`; the work-group's tile `wg_m`, `wg_n`; the sub-group's `sg_m`,
`sg_n`; the K step `k_tile`; one load of each operand `load_a_m`, `load_a_k`, `load_b_k`, `load_b_n`; one sub-group's
part of a prefetch, `prefetch_a_m` and the like, and its distance in K steps, `prefetch_a_nb`, `prefetch_b_nb`.
Source: github.com/llvm/lighthouse, lighthouse/schedule/xegpu/matmul_params.json and matmul_constraints.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from codegen import Extent, GemmProblem, MatmulConfig, Prefetch, PrefetchLevels, XeConfig, XeStrategy
from codegen.xe.build.tiles import tiles
from tuner.errors import InvalidFile

Parameters = dict[str, int]
NAMES = (
    "m", "n", "k", "wg_m", "wg_n", "sg_m", "sg_n", "k_tile", "load_a_m", "load_a_k", "load_b_k", "load_b_n",
    "prefetch_a_m", "prefetch_a_k", "prefetch_b_k", "prefetch_b_n", "prefetch_a_nb", "prefetch_b_nb",
)  # fmt: skip
_LOAD_BYTES = 64


@dataclass(frozen=True, slots=True)
class Imported:
    """The sizes and the configuration of parameters; `notes` says what our configurations do not express."""

    size: tuple[int, int, int]
    config: XeConfig
    notes: tuple[str, ...]


def from_parameters(given: Mapping[str, object]) -> Imported:
    """Return the configuration of an entry. One load has one depth for A and B here: the smaller; a prefetch is shared
    by the sub-groups of the work-group, or dealt by the builder where there are too few for the stated tiles.

    Raises:
        InvalidFile: a number is missing or none, or a tile does not divide the tile that it is part of.
    """
    p = {name: _number(given, name) for name in NAMES}
    _check_divides(p)
    sg_layout = p["wg_m"] // p["sg_m"], p["wg_n"] // p["sg_n"]
    notes: list[str] = []
    load_k = min(p["load_a_k"], p["load_b_k"])
    if p["load_a_k"] != p["load_b_k"]:
        notes.append(f"load_a_k {p['load_a_k']} and load_b_k {p['load_b_k']}: both are {load_k} here")
    distance = max(p["prefetch_a_nb"], p["prefetch_b_nb"])
    if p["prefetch_a_nb"] != p["prefetch_b_nb"]:
        notes.append(
            f"prefetch_a_nb {p['prefetch_a_nb']} and prefetch_b_nb {p['prefetch_b_nb']}: both are {distance} here"
        )
    layouts: dict[str, tuple[int, int] | None] = {}
    of_tiles = {
        "a": (p["wg_m"] // p["prefetch_a_m"], p["k_tile"] // p["prefetch_a_k"]),
        "b": (p["k_tile"] // p["prefetch_b_k"], p["wg_n"] // p["prefetch_b_n"]),
    }
    for name, layout in of_tiles.items():
        fits = layout[0] * layout[1] <= sg_layout[0] * sg_layout[1]
        layouts[name] = layout if fits else None
        if not fits:
            notes.append(
                f"prefetch tiles of {name.upper()} for {layout[0]}x{layout[1]} sub-groups: left to the builder"
            )
    config = XeConfig(
        MatmulConfig(
            Extent(-(-p["m"] // p["wg_m"]), -(-p["n"] // p["wg_n"]), 1),
            Extent(p["wg_m"], p["wg_n"], p["k_tile"]),
            Extent(p["load_a_m"], p["load_b_n"], load_k),
        ),
        XeStrategy(
            sg_layout,
            Prefetch(PrefetchLevels.L1, distance, layout_a=layouts["a"], layout_b=layouts["b"])
            if distance
            else Prefetch(),
        ),
    )
    return Imported((p["m"], p["n"], p["k"]), config, tuple(notes))


def to_parameters(problem: GemmProblem, config: XeConfig) -> Parameters:
    """Return the entry of a configuration; its K step is one round of the loop, with `k_unroll` of ours.

    Raises:
        InvalidFile: the problem is none of lighthouse's (packed 16-bit inputs, one product), or the configuration
            splits K, stages operands, or prefetches nothing.
    """
    matmul, strategy = config.matmul, config.strategy
    refused = {
        "batch": problem.batch != 1,
        "transposed or 8-bit or 32-bit inputs": problem.transpose_a
        or problem.transpose_b
        or problem.dtype_a.nbytes != 2,
        "split K": matmul.threads.k != 1 or strategy.k_subgroups != 1,
        "shared local memory": strategy.slm_stages != 0,
        "no prefetch": strategy.prefetch.distance == 0,
    }
    if any(refused.values()):
        raise InvalidFile(f"lighthouse's schedule does not express {', '.join(n for n, r in refused.items() if r)}")
    made = tiles(problem, config, _LOAD_BYTES)
    ahead_a, ahead_b = made.ahead_a.wg_map, made.ahead_b.wg_map
    if ahead_a is None or ahead_b is None:
        raise InvalidFile("lighthouse's schedule does not express a prefetch that no sub-groups share")
    block, load = matmul.block, matmul.innermost
    distance = max(1, strategy.prefetch.distance // strategy.k_unroll)
    values = (
        *(problem.m, problem.n, problem.k, block.m, block.n, config.sg_m, config.sg_n, block.k * strategy.k_unroll),
        *(load.m, load.k, load.k, load.n, *ahead_a.sg_data, *ahead_b.sg_data, distance, distance),
    )
    return dict(zip(NAMES, values, strict=True))


def _number(given: Mapping[str, object], name: str) -> int:
    value = given.get(name)
    least = 0 if name.endswith("_nb") else 1
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidFile(f"{name}: expected a whole number of at least {least}, got {value!r}")
    return value


def _check_divides(p: Parameters) -> None:
    of_group, of_subgroup = {"m": "wg_m", "n": "wg_n", "k": "k_tile"}, {"m": "sg_m", "n": "sg_n", "k": "k_tile"}
    for name in NAMES:
        if name.startswith(("sg", "load", "prefetch")) and not name.endswith("_nb"):
            of = (of_subgroup if name.startswith("load") else of_group)[name[-1]]
            if p[of] % p[name]:
                raise InvalidFile(f"{name}: expected a divisor of {of} {p[of]}, got {p[name]}")
