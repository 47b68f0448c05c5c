"""Small kernels for tests of the simulator: two buffers, 16 lanes, whatever body is wanted."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.simulate import simulate

LANES = 16
Values = NDArray[Any]


def kernel(body: str) -> str:
    """A kernel `gemm(A, B)` of this body; `%lane` is the lane as i64."""
    return f"""
define spir_kernel void @gemm(ptr addrspace(1) %A, ptr addrspace(1) %B) {{
entry:
  %lane32 = call spir_func i32 @_Z22get_sub_group_local_idv()
  %lane = zext i32 %lane32 to i64
  %subgroup = call spir_func i32 @_Z16get_sub_group_id()
{body}
}}
"""


def run(body: str, a: Values, b: Values, subgroups: int = 1, time_limit_s: float | None = None) -> None:
    """Run one work-group of a kernel of this body on two buffers."""
    simulate(kernel(body), "gemm", (a, b), (1, 1, 1), subgroups * LANES, time_limit_s=time_limit_s)


def per_lane(computation: str, type_in: str, type_out: str, values: Values, out: NDArray[np.generic]) -> Values:
    """`%y` as `computation` makes it of `%x`, lane by lane, for 16 values."""
    run(
        f"""
  %from = getelementptr {type_in}, ptr addrspace(1) %A, i64 %lane
  %x = load {type_in}, ptr addrspace(1) %from, align 1
{computation}
  %to = getelementptr {type_out}, ptr addrspace(1) %B, i64 %lane
  store {type_out} %y, ptr addrspace(1) %to, align 1
  ret void""",
        values,
        out,
    )
    return out
