"""A store that compiles the default configuration, and a bound on errors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import torch

import xetune_torch
from codegen import CpuConfig, Packing
from codegen.backend import backend_of, compile_kernel
from codegen.cpu.rules import check_cpu
from codegen.errors import Refused
from hal.facts.cpu import probe_cpu
from service.schemas import ProblemBody, to_problem
from tuner.backend import tuning_for
from xetune_torch import Answer, Gemm, Outlook


class CompilingStore:
    """Compiles defaults for this CPU, of `cores` cores; `asked` is what it was asked for."""

    def __init__(self, cores: int = 1) -> None:
        self._spec = replace(probe_cpu(), cores=cores)
        self.asked: list[Gemm] = []
        self.tuned: list[Gemm] = []

    def find(self, gemm: Gemm, *, constant_b: bool = False) -> Iterator[Answer]:
        """Yield the default, and with `constant_b` the same with B packed beforehand."""
        self.asked.append(gemm)
        problem = to_problem(ProblemBody.model_validate_json(gemm.body.model_dump_json()))
        default = tuning_for(self._spec).default(problem, self._spec)
        assert isinstance(default, CpuConfig)
        configs = [default]
        if constant_b:
            packed = replace(default, strategy=replace(default.strategy, pack_b=Packing.BEFOREHAND))
            try:
                check_cpu(problem, packed, self._spec)
                configs.append(packed)
            except Refused:
                pass
        for config in configs:
            artifact = compile_kernel(problem, config, self._spec)
            yield Answer(dict(backend_of(config).manifest(artifact)), artifact.launch.binary, "default")

    def outlook(self, gemm: Gemm) -> Outlook:
        """Return that the default stays what it is."""
        return Outlook.FINAL

    def tune(self, gemms: Sequence[Gemm], trials: int, seconds: float) -> None:
        """Note what was to be tuned."""
        self.tuned += gemms


def by_kernel(call: Callable[[], torch.Tensor]) -> torch.Tensor:
    """Return the result of a call that a kernel computes; the first, by torch, asks for it."""
    call()
    assert xetune_torch.wait(120)
    choice = xetune_torch.DISPATCHER.choices[-1]
    assert choice.used, choice
    return call()


def assert_near(got: torch.Tensor, want: torch.Tensor, size: torch.Tensor | float, k: int) -> None:
    """Compare with float64, within rounding to the type and that of sums of K terms as large as `size`."""
    rounding = {torch.float32: 0.0, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}[got.dtype]
    error = (got.double() - want).abs()
    bound = want.abs() * rounding * 1.01 + size * (k + 8) * 2.0**-24
    assert bool((error <= bound).all()), float((error - bound).max())
