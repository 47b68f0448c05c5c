"""Facts of a device and a problem that the model uses, with constants where no table has a fact."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from codegen import DType, GemmProblem, WorkspaceOperands
from codegen.target import LARGE_GRF, SMALL_GRF
from codegen.xe.rules import check_problem
from hal import DeviceSpec, Use, readiness
from tuner.errors import CannotPredict
from tuner.model.xe.columns import Column
from tuner.model.xe.constants import ARCHITECTURES, Constants, constants_of
from tuner.model.xe.l2 import L2Size, l2_size

_WIDE_REGISTER_BYTES = 64  # of the devices that the rate of L1 is of


@dataclass(frozen=True, slots=True)
class Case:
    """A problem on a device. Rates are per clock of one engine (EU) or core; a register is `register_bytes`.
    `lanes_a` and `lanes_b` are true if lanes fetch the operand, `vectors_a` and `vectors_b` if they do so in vectors;
    `problem` is what `gemm` solves: `given`, whose operands in the `workspace` are prepared for it by other kernels;
    `has_block2d` if operands have 2-D block messages, and `is_fitted` if public numbers of its architecture determined
    constants.
    """

    problem: GemmProblem
    given: GemmProblem
    workspace: WorkspaceOperands
    constants: Constants
    cores: int
    engines: int
    clock_mhz: int
    fma_per_clk: float
    sustained_fma_per_clk: float
    l1_bytes_per_clk: float
    power_slowdown: float
    uses_dpas: bool
    dpas_k: int
    dpas_n: int
    register_bytes: int
    threads: Mapping[int, int]  # per engine, by GRF mode
    max_slm_bytes: int
    l1_bytes: int | None
    l2: L2Size
    bytes_per_us: float
    lanes_a: bool
    lanes_b: bool
    vectors_a: bool
    vectors_b: bool
    has_block2d: bool
    is_fitted: bool

    @property
    def peak_flops_per_us(self) -> float:
        """Peak of the multiply units at the highest clock."""
        return 2 * self.fma_per_clk * self.engines * self.cores * self.clock_mhz

    def threads_per_engine(self, grf: Column) -> Column:
        """Return the number of threads that an engine holds with that many registers each."""
        modes = sorted(self.threads)
        return np.array([self.threads[mode] for mode in modes], dtype=np.float64)[
            np.minimum(np.searchsorted(modes, grf), len(modes) - 1)
        ]


def case_of(problem: GemmProblem, spec: DeviceSpec, constants: Constants | None = None) -> Case:
    """Return the inputs of the model. Constants that are given apply to every architecture.

    Raises:
        Refused: the problem or the device is refused.
        CannotPredict: a fact of the device is unknown.
    """
    on = check_problem(problem, spec)
    if constants is None:
        constants = constants_of(spec)
    peak, sustained = _fma_per_clk(problem.dtype_a, spec, constants, on.uses_dpas)
    cores, engines, clock_mhz = known(spec, "xe_cores"), known(spec, "eus_per_core"), known(spec, "clock_mhz")
    l1 = spec.l1_bytes_per_clk_per_core or constants.l1_bytes_per_clk_per_eu * engines
    if not on.target.block2d:
        l1 = l1 * on.target.grf_bytes // _WIDE_REGISTER_BYTES  # assumed: as many registers
    return Case(
        problem=problem,
        given=problem,
        workspace=on.workspace,
        constants=constants,
        cores=cores,
        engines=engines,
        clock_mhz=clock_mhz,
        fma_per_clk=peak,
        sustained_fma_per_clk=sustained,
        l1_bytes_per_clk=l1,
        power_slowdown=constants.power_slowdown,
        uses_dpas=on.uses_dpas,
        dpas_k=on.dpas_k,
        dpas_n=on.target.dpas_n,
        register_bytes=known(spec, "grf_bytes"),
        threads=_threads(spec),
        max_slm_bytes=known(spec, "slm_bytes_per_core"),
        l1_bytes=spec.l1_bytes,
        l2=l2_size(spec, constants),
        bytes_per_us=known(spec, "bandwidth_bytes_per_s") * constants.memory_efficiency / 1e6,
        lanes_a=on.lanes_a,
        lanes_b=on.lanes_b,
        vectors_a=on.vectors_a,
        vectors_b=on.vectors_b,
        has_block2d=on.target.block2d,
        is_fitted=spec.architecture in ARCHITECTURES,
    )


def known(spec: DeviceSpec, fact: str) -> int:
    """Return the value of a fact.

    Raises:
        CannotPredict: it is unknown; the message names all unknown facts that predictions need.
    """
    value = getattr(spec, fact)
    if value is None:
        others = next(ready.missing for ready in readiness(spec) if ready.use is Use.PREDICT)
        raise CannotPredict(spec.name, *dict.fromkeys((*others, fact)))
    return value


def _threads(spec: DeviceSpec) -> dict[int, int]:
    if spec.grf_modes is not None and spec.threads_per_eu_by_grf_mode is not None:
        return dict(zip(spec.grf_modes, spec.threads_per_eu_by_grf_mode, strict=True))
    return {SMALL_GRF: known(spec, "threads_per_eu"), LARGE_GRF: known(spec, "threads_per_eu_large_grf")}


def _fma_per_clk(dtype: DType, spec: DeviceSpec, k: Constants, uses_dpas: bool) -> tuple[float, float]:
    """Return the multiply-adds of an engine per clock: peak, and in steady state.

    If unknown for a type, they follow from f16, as DPAS multiplies as many bytes of every type.
    """
    if not uses_dpas:
        vector = spec.f32_fma_per_clk_per_eu or known(spec, "grf_bytes") / DType.F32.nbytes
        return vector, vector * k.vector_efficiency
    if dtype is DType.TF32:
        peak, sustained = spec.dpas_tf32_fma_per_clk_per_eu, spec.sustained_tf32_fma_per_clk_per_eu
    elif dtype.is_integer:
        peak, sustained = spec.dpas_i8_mac_per_clk_per_eu, spec.sustained_i8_mac_per_clk_per_eu
    else:
        peak, sustained = spec.dpas_f16_fma_per_clk_per_eu, spec.sustained_f16_fma_per_clk_per_eu
    peak = peak or known(spec, "dpas_f16_fma_per_clk_per_eu") * DType.F16.nbytes / dtype.nbytes
    return peak, sustained or peak * k.multiply_efficiency
