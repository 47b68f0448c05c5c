"""Constants of the model that no fact of a device provides: a table, each with its source.

`fitted` constants agree with the named public numbers: `python -m benchmarks.model.evaluate --data DIR` fits those of
the catalogue again with an architecture left out, and evaluates all. `code` constants agree with the output
of Intel's offline compiler for sampled configurations: `python -m benchmarks.model.code`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

from codegen import DType
from hal import DeviceSpec

FORMULAS = 4
"""Version of the formulas; changes of constants show in the hash."""

CATALOGUE = "oneDNN's kernel.db of 041d0e67, clocks of strategies in steady state"
_SCREENING = "configurations of one shape that sycl-tla screened on a B70"
_ASSUMED = "assumed"


def _constant(value: float, source: str) -> Any:
    return field(default=value, metadata={"source": source})


@dataclass(frozen=True, slots=True)
class Constants:
    """Constants of the model. Clocks are those of a core or an engine (EU); rates are sustained, not peak."""

    # Throughput of a core per clock
    multiply_efficiency: float = _constant(0.97, f"{CATALOGUE}: 248.7 of 256 f16, 501 of 512 i8, 125.9 of 128 tf32")
    vector_efficiency: float = _constant(0.6, f"{_ASSUMED}: f32 without DPAS, operands are broadcast by moves")
    l1_bytes_per_clk_per_eu: float = _constant(64.0, "Hot Chips 34: 105 TB/s of 128 cores of Xe-HPC")
    l2_bytes_per_clk_per_core: float = _constant(35.0, f"fitted: {CATALOGUE}")
    message_clks: float = _constant(3.0, "fitted: loads of 8x16 and 16x16 against 32x32, mlir-extensions on a B580")
    lane_message_clks: float = _constant(8.0, f"{_ASSUMED}: 16 elements of different lines")
    vector_message_clks: float = _constant(1.0, f"{_ASSUMED}: words of one line for all lanes")
    unshared_misses: float = _constant(0.85, "fitted: prefetch distance 0 and 1, mlir-extensions on a B580")
    kept_in_l1: float = _constant(0.85, f"fitted: {_SCREENING}; part of L1 that holds data until it is used")
    scratch_bytes_per_clk_per_core: float = _constant(5.0, "fitted: a tile of 512x256 that spills on a B580")

    # Latencies of a thread, in clocks
    near_clks: float = _constant(160.0, f"fitted: {_SCREENING}")
    far_clks: float = _constant(570.0, f"fitted: {_SCREENING}")
    barrier_clks: float = _constant(60.0, f"{_ASSUMED}: a barrier, without waiting for the slowest")
    dependent_clks: float = _constant(4.0, "code: 3 to 5 by the pipeline model, where registers are crowded")
    tile_clks: float = _constant(640.0, "oneDNN's kernel.db of 041d0e67: of a wave, 640 (Xe2), 1000 (Xe-HPC)")

    # Instructions other than multiplies
    sends_staged_a: float = _constant(0.4, "code: for each register of A")
    sends_staged_b: float = _constant(0.35, "code: for each register of B")
    sends_copied: float = _constant(0.25, "code: for each register that a sub-group copies")
    sends_lanes: float = _constant(2.0, "code: for each register")
    sends_vectors: float = _constant(1.0, "code: for each register")
    sends_staged_words: float = _constant(0.125, "code: for each register, where lanes take a vector of words")
    moves_per_message: float = _constant(1.5, "code")
    moves_pipelined: float = _constant(0.35, "code: for each register of operands")
    moves_transposed_a: float = _constant(2.4, "code: for each register of A")
    moves_staged_a: float = _constant(2.8, "code: for each register of A")
    moves_staged_b: float = _constant(0.7, "code: for each register of B")
    moves_lanes: float = _constant(7.0, "code: for each register")
    copied_instructions: float = _constant(36.0, "code: for each register of an operand that is copied for blocks")
    decoded_instructions: float = _constant(
        3.0, "code: for each register of weights that are decoded, to convert aside"
    )
    moves_vectors: float = _constant(1.5, "code: for each register")

    # Registers of a thread besides its accumulator
    registers_reserved: float = _constant(14.0, "code")
    registers_loaded: float = _constant(0.3, "code: for each register of operands that are loaded")
    registers_loaded_beyond: float = _constant(0.2, "code: the same again, for each beyond 96")
    registers_staged_a: float = _constant(0.5, "code: for each register of A")
    registers_staged_b: float = _constant(1.2, "code: for each register of B")
    registers_staged_words: float = _constant(0.4, "code: for each register, where lanes take a vector of words")
    registers_copied: float = _constant(0.4, "code: for each register that a sub-group copies")
    registers_pipelined: float = _constant(1.6, "code: for each register of operands")
    registers_unrolled: float = _constant(0.9, "code: the same again, where the loop is unrolled and pipelined")
    registers_unrolled_lanes: float = _constant(2.0, "code: for each register that lanes fetch, unrolled")
    registers_at_risk: float = _constant(0.5, "code: 8 where sums and operands of a step exceed the GRF, in 2 of 34")
    registers_at_risk_turned: float = _constant(7.0, "code: the same where B is transposed, in 15 of 17")
    registers_converted: float = _constant(2.0, "code: for each register of B that is converted from weights")
    crowded: float = _constant(0.82, "code: share of the registers beyond which weights are converted one by one")
    registers_lanes: float = _constant(0.1, "code: for each register that lanes fetch")

    # Memory and frequency
    memory_efficiency: float = _constant(0.75, f"{_ASSUMED}: between those of two architectures, below")
    memory_overlap: float = _constant(2.5, "fitted: rasters of XeTLA on a Max 1550")
    power_slowdown: float = _constant(0.2, f"{_ASSUMED}: between those of two architectures, below")
    power_flops: float = _constant(1e10, f"{_ASSUMED}: work that takes long enough for the clock to fall")
    l2_likely_mib_per_core: float = _constant(1.0, f"{_ASSUMED} where L2 is unknown: as Lunar Lake")
    l2_least_mib_per_core: float = _constant(0.5, f"{_ASSUMED} where L2 is unknown: least of the table, an A770")
    l2_most_mib_per_core: float = _constant(1.5, f"{_ASSUMED} where L2 is unknown: above a B390, 1.33 MiB")
    cached: float = _constant(0.6, f"fitted: {_SCREENING}; part of L2 that holds reused data")
    atomic_cost: float = _constant(4.0, f"{_ASSUMED}: an atomic addition against a store")

    # Kernels
    launch_us: float = _constant(6.0, "fitted: GEMMs up to 640 cubed on a Max 1100, 5.6 to 7.4 us above their work")
    least_launch_us: float = _constant(1.0, "oneDNN's kernel.db of 041d0e67: 1800 clocks of Xe-HPC")
    most_launch_us: float = _constant(20.0, "GEMMs of Intel's library (vLLM) on a B60 take no less than 17 us")
    next_kernel_us: float = _constant(2.0, f"{_ASSUMED}: a kernel that follows in the same queue")

    # Uncertainty
    interval: float = _constant(1.6, "nine of ten strategies of the catalogue's other architecture")
    unjudged: float = _constant(1.5, f"{_ASSUMED}: factor by which the interval widens without published measurements")


CONSTANTS = Constants()

CONVERSIONS: Mapping[DType, float] = MappingProxyType(
    {
        DType.U4: 3.8,
        DType.S4: 3.8,
        DType.U8: 3.7,
        DType.S8: 3.7,
        DType.E4M3: 4.7,
        DType.E5M2: 2.4,
        DType.E2M1: 5.2,
    }
)
"""Instructions that convert an element of weights for each lane, of code for a B580. Scaling takes `SCALED` more."""
SCALED = 1.1

ARCHITECTURES: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        # Slowdown: limits of frequency in the catalogue, 1.5 to 1.7. Memory: triad of a stack of Aurora's Max 1550.
        # L2: a Max 1100 has 1.9 MiB for each core, a stack of a Max 1550 3.2, one of Aurora's 3.6.
        "Xe-HPC": {
            "power_slowdown": 0.6,
            "memory_efficiency": 0.61,
            "l2_likely_mib_per_core": 2.5,
            "l2_least_mib_per_core": 1.5,
            "l2_most_mib_per_core": 4.0,
        },
        # A B60 multiplies at its highest clock (98.3 Tflop/s of 98.3), a B70 at more than its nominal one (154 of 149).
        # Memory: thin GEMMs of a B60, 416 of 456 GB/s. L2: fitted on the screened configurations of a B70.
        "Xe2-HPG": {"power_slowdown": 0.0, "memory_efficiency": 0.91, "l2_bytes_per_clk_per_core": 52.0},
    }
)
"""Constants that differ between architectures, where both were fitted; others use the common ones."""


def constants_of(spec: DeviceSpec) -> Constants:
    """Return the constants for the architecture of a device."""
    return replace(CONSTANTS, **ARCHITECTURES.get(spec.architecture or "", {}))


def sources() -> dict[str, str]:
    """Return the source of each constant."""
    return {f.name: str(f.metadata["source"]) for f in fields(Constants)}


def _version() -> str:
    digest = hashlib.sha256(repr((CONSTANTS, CONVERSIONS, SCALED, ARCHITECTURES)).encode()).hexdigest()
    return f"xe-{FORMULAS}-{digest[:8]}"


MODEL_VERSION = _version()
"""Version that changes with every constant and formula."""
