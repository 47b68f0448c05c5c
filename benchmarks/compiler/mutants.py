"""Kernels with changed tokens and characters: how the service's compiler takes them, or that of the command line.

The second also runs those that compile, applies passes, and expects a place and a caret in each message.
Run: python -m benchmarks.compiler.mutants [--commands] [--count 1000] [--seed 0] [--device b580] [--processes 1]
"""

import argparse
import re
import sys
import time
from collections import Counter
from functools import partial
from itertools import chain
from random import Random

from benchmarks.compiler.fresh_workers import each
from hal import DeviceSpec
from hal.facts.xe import find
from service.api.compile.work import ModuleWork, run
from service.sandbox.limits import Limits
from tests.codegen.xe.fuzz.mutations import MEMORY_LIMIT, Judge, Verdict, compile_or_refuse, verdicts

_REPORTED_EACH_S = 60
_PART = 100
_SHOWN_OF_A_KIND = 2


def main() -> None:
    """Compile each kernel under the limits of the service, print faults as they are found and the counts at the end."""
    limits = Limits()
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=1000)
    arguments.add_argument("--seed", type=int, default=0, help="the first of them")
    arguments.add_argument("--device", default="b580", help="of uploads")
    arguments.add_argument("--commands", action="store_true", help="compile, run and opt instead of uploads")
    arguments.add_argument("--processes", type=int, default=1)
    arguments.add_argument("--cpu-s", type=int, default=limits.cpu_s, help="processor time of one kernel")
    options = arguments.parse_args()
    begun_s = time.monotonic()
    judge, reported_s = compile_or_refuse if options.commands else partial(uploaded, find(options.device)), begun_s
    counts, kinds = Counter[str](), Counter[str]()
    end = options.seed + options.count
    parts = [range(first, min(end, first + _PART)) for first in range(options.seed, end, _PART)]
    work = partial(_judged, judge, limits.memory_bytes, options.cpu_s)
    for verdict in chain.from_iterable(each(work, parts, options.processes)):
        counts["fault" if verdict.fault else verdict.word] += 1
        if verdict.fault:
            kinds[kind := _kind(verdict.fault)] += 1
            if kinds[kind] <= _SHOWN_OF_A_KIND:
                print(f"seed {verdict.seed}: {verdict.fault}", flush=True)
        if time.monotonic() - reported_s > _REPORTED_EACH_S:
            reported_s = time.monotonic()
            print(f"{sum(counts.values())} kernels, {reported_s - begun_s:.0f} s: {dict(counts)}", flush=True)
    of = "commands" if options.commands else f"uploads for {options.device}"
    print(f"{sum(counts.values())} {of}, {time.monotonic() - begun_s:.0f} s")
    print(", ".join(f"{word} {count}" for word, count in counts.most_common()))
    for kind, count in kinds.most_common():
        print(f"fault, {count} times: {kind}")
    sys.exit(counts["fault"] > 0)


def _judged(judge: Judge, memory_bytes: int, cpu_limit_s: int, seeds: range) -> list[Verdict]:
    return list(verdicts(seeds, judge, memory_bytes, cpu_limit_s))


def _kind(fault: str) -> str:
    """Return the error and the last line of ours in a traceback, or the signal."""
    ours = re.findall(r'File "[^"]*/((?:codegen|service)/[^"]*", line \d+)', fault)
    error = fault.strip().splitlines()[-1].partition(":")[0]
    return f"{error} in {ours[-1]}" if ours else error


def uploaded(spec: DeviceSpec, source: str, _: Random) -> str:
    """Compile a text as the service does; return how it ended.

    Raises:
        RuntimeError: the answer is none of the typed ones.
    """
    answer = run(ModuleWork(source, spec))
    if "limit" in answer:
        return MEMORY_LIMIT if answer["limit"] == "memory" else f"limit {answer['limit']}"
    if "made" in answer:
        return "compiled"
    if isinstance(refusal := answer.get("refused") or answer.get("failed"), dict):
        return f"refused in {refusal['stage']}" if "stage" in refusal else f"refused by {refusal['rule']}"
    raise RuntimeError(f"expected an artifact or a refusal, got {answer}")


if __name__ == "__main__":
    main()
