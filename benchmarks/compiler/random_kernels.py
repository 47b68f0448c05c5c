"""Random XeTile and XeGPU kernels as machine code of Intel's compiler, compared with the interpreter of the source.

Run: python -m benchmarks.compiler.random_kernels [--count 50] [--seed 5000] [--processes 2] [--ocloc PATH]
"""

import argparse
import sys
import time
from collections import Counter
from functools import partial
from itertools import product
from pathlib import Path

from benchmarks.compiler.fresh_workers import each
from benchmarks.compiler.isa import chosen_ocloc
from codegen.errors import CodegenError, CompileTimedOut
from codegen.xe.isa import Ocloc
from tests.codegen.xe.fuzz.draw import draw
from tests.codegen.xe.fuzz.judge import judge
from tests.codegen.xe.machine.compiled import code_of

_DEVICES = ("b580", "pvc")
_EQUAL, _REFUSED, _ENDLESS, _FAULT = "equal", "refused", "not compiled in time", "fault"


def main() -> None:
    """Judge each kernel for each device, print faults as they are found and the counts at the end."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=50)
    arguments.add_argument("--seed", type=int, default=5000, help="the first of them")
    arguments.add_argument("--processes", type=int, default=2)
    arguments.add_argument("--ocloc", type=Path, help="Intel's offline compiler (default: the one installed)")
    options = arguments.parse_args()
    ocloc = chosen_ocloc(options.ocloc)
    if ocloc is None:
        sys.exit("Intel's offline compiler is not here: run `xetune toolchain install`, or give --ocloc")
    draws = list(product(range(options.seed, options.seed + options.count), _DEVICES))
    counts, begun_s = {device: Counter[str]() for device in _DEVICES}, time.monotonic()
    work = partial(_judged, ocloc)
    for (seed, device), (verdict, reason) in zip(draws, each(work, draws, options.processes), strict=True):
        counts[device][verdict] += 1
        if verdict != _EQUAL:
            print(f"seed {seed} on {device}: {verdict}: {reason}", flush=True)
    print(f"{options.count} kernels, {time.monotonic() - begun_s:.0f} s")
    for device, of in counts.items():
        print(f"{device}: {', '.join(f'{verdict} {count}' for verdict, count in of.most_common())}")
    sys.exit(any(of[_FAULT] for of in counts.values()))


def _judged(ocloc: Ocloc, draw_of: tuple[int, str]) -> tuple[str, str]:
    seed, device = draw_of
    try:
        refusal = judge(draw(seed), device, partial(code_of, device=device, ocloc=ocloc))
    except CompileTimedOut as endless:
        return _ENDLESS, str(endless)
    except (CodegenError, AssertionError) as error:
        return _FAULT, f"{type(error).__name__}: {error}"
    return (_EQUAL, "") if refusal is None else (_REFUSED, refusal)


if __name__ == "__main__":
    main()
