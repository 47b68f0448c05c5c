"""A model with replaced linear layers beside plain torch, in turns, and the overhead of a dispatched call.

    taskset -c 0 python -m benchmarks.torch.linears --trials 20
    taskset -c 0 python -m benchmarks.torch.linears --calls

Kernels are tuned by a worker of this machine, on the processors that this process may use; torch gets as many threads.
"""

import argparse
import copy
import os
import statistics
import time
from collections.abc import Callable, Mapping

import torch

import xetune_torch
from examples.torch_model import Llama, Sizes
from xetune_torch.functions import mm_cpu

_LIBRARIES: list[torch.library.Library] = []


def main() -> None:
    """Print the table of the model, and that of single calls."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--trials", type=int, default=20, help="of each product; 0 uses what is stored")
    options.add_argument("--seconds", type=float, default=60.0, help="of tuning, for each product")
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--calls", action="store_true", help="only the table of single calls")
    given = options.parse_args()
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    store = xetune_torch.LocalStore()
    xetune_torch.use(store)
    try:
        if not given.calls:
            _models(given.trials, given.seconds, given.rounds)
        _calls(store, given.rounds)
    finally:
        store.close()


def _models(trials: int, seconds: float, rounds: int) -> None:
    torch.manual_seed(0)
    sizes = Sizes(layers=4, width=512, hidden=1408, heads=8, vocabulary=1024)
    plain = Llama(sizes).bfloat16().eval()
    print("| model | tokens | torch ms | replaced ms | ratio | error of logits |\n|---|---:|---:|---:|---:|---:|")
    for quantize_to in (None, "w4a16:128"):
        for tokens in (1, 64):
            given = torch.randint(0, sizes.vocabulary, (1, tokens))
            replaced = copy.deepcopy(plain)
            xetune_torch.replace_linears(replaced, [(given,)], quantize_to=quantize_to, trials=trials, seconds=seconds)
            with torch.inference_mode():
                want, got = plain(given).float(), replaced(given).float()
                error = float((got - want).norm() / want.norm())
                run = {"torch": lambda: plain(given), "replaced": lambda: replaced(given)}  # noqa: B023
                times = _in_turns(run, rounds, 20)
            ratio = times["torch"] / times["replaced"]
            name = quantize_to or "bf16"
            print(f"| {name} | {tokens} | {times['torch'] * 1e3:.2f} | {times['replaced'] * 1e3:.2f} | ", end="")
            print(f"{ratio:.2f} | {error:.2%} |")


def _calls(store: xetune_torch.Store, rounds: int) -> None:
    empty, with_gradient = _empty_operators()
    columns = "product", "torch.mm", "xetune_torch.mm", "torch.ops.xetune.mm", "the kernel alone"
    print("\n| " + " us | ".join((*columns, "an empty operator", "the same with a gradient")) + " us |")
    print("|---|" + "---:|" * 6)
    xetune_torch.use(store, "always")
    for m, n, k, dtype in (
        (1, 32, 64, torch.bfloat16),
        (256, 256, 256, torch.bfloat16),
        (256, 256, 256, torch.float32),
    ):
        a, b = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)
        xetune_torch.mm(a, b)
        xetune_torch.wait()
        choice = xetune_torch.DISPATCHER.choices[-1]
        plan = xetune_torch.DISPATCHER.decide(choice.gemm).plain
        if plan is None:
            print(f"| {choice.gemm} | no kernel: {choice.reason} | | | | | |")
            continue
        c, launch = torch.empty(m, n, dtype=dtype), plan.launch
        addresses = a.data_ptr(), b.data_ptr(), c.data_ptr()
        run: dict[str, Callable[[], object]] = {
            "torch": lambda a=a, b=b: torch.mm(a, b),
            "ours": lambda a=a, b=b: xetune_torch.mm(a, b),
            "operator": lambda a=a, b=b: torch.ops.xetune.mm(a, b),
            "kernel": lambda launch=launch, given=addresses: launch(*given),
            "empty": lambda a=a, b=b: empty(a, b),
            "empty with a gradient": lambda a=a, b=b: with_gradient(a, b),
        }
        with torch.no_grad():
            assert torch.equal(xetune_torch.mm(a, b), mm_cpu(a, b))
            times = _in_turns(run, rounds, 2000 if m == 1 else 200)
        print(f"| {choice.gemm} | " + " | ".join(f"{times[name] * 1e6:.2f}" for name in run) + " |")


def _empty_operators() -> tuple[Callable[..., object], Callable[..., object]]:
    """Return operators in Python that compute nothing: what torch.library takes, without and with a gradient."""
    library, made = torch.library.Library("xetune_benchmark", "DEF"), torch.empty(0)
    for name in ("empty", "with_gradient"):
        library.define(f"{name}(Tensor a, Tensor b) -> Tensor")
        library.impl(name, lambda _a, _b: made, "CPU")
        torch.library.register_fake(f"xetune_benchmark::{name}", lambda _a, _b: made, lib=library)
    torch.library.register_autograd("xetune_benchmark::with_gradient", lambda _ctx, _grad: (None, None), lib=library)
    _LIBRARIES.append(library)
    return torch.ops.xetune_benchmark.empty, torch.ops.xetune_benchmark.with_gradient


def _in_turns(run: Mapping[str, Callable[[], object]], rounds: int, calls: int) -> dict[str, float]:
    """Return the median over rounds of the processor time of a call, all threads together."""
    times: dict[str, list[float]] = {name: [] for name in run}
    for _ in range(rounds):
        for name, call in run.items():
            call()
            begun = time.process_time()
            for _ in range(calls):
                call()
            times[name].append((time.process_time() - begun) / calls)
    return {name: statistics.median(found) for name, found in times.items()}


if __name__ == "__main__":
    main()
