"""Tune the GEMMs of the gallery in a data folder of their own and write docs/gallery.md.

Run: python -m docs.site.gallery docs/gallery.md
Needs the toolchain and the driver in the data folder (`xetune toolchain install`, then `... install driver`).
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hal.facts.xe import find
from service.gemm_json import config_line
from service.schemas import ProblemBody, to_problem
from service.settings import read_settings
from tuner.model.roof import roof_us

_HEAD = """# Gallery

Kernels of GEMMs that are used in practice, for five GPUs: command, configuration, time, proof, and machine code.
No Intel GPU was there: times are predicted, results are those of the machine code, executed by an interpreter, and
Intel's driver in its simulation mode accepted each kernel. `python -m docs.site.gallery docs/gallery.md` writes it.

"""
_EXCERPT = 16


@dataclass(frozen=True, slots=True)
class Entry:
    """A GEMM of the gallery: `tuned` are the arguments of `xetune tune`."""

    title: str
    use: str
    tuned: str


ENTRIES = (
    Entry(
        "f16, large",
        "The square GEMM that benchmarks measure; DPAS bounds it.",
        "4096x4096x4096 --dtype f16 --device b580 --trials 16",
    ),
    Entry(
        "4-bit weights, eight rows",
        "Llama 3.1 8B, the gate projection of its MLP for eight requests that generate text; groups of 128 along K.",
        "8x14336x4096 --dtype f16 --quant w4a16:128 --device b580 --trials 16",
    ),
    Entry(
        "Gated MLP in one kernel",
        "Llama 3.1 8B, silu(A @ B1) * (A @ B2) of 512 tokens of a prompt, on a data-centre GPU.",
        "512x14336x4096 --dtype bf16 --gate silu --device max1100 --trials 16",
    ),
    Entry(
        "128 experts, mxfp4 weights",
        "A mixture of experts with 256 rows in all, on an integrated GPU.",
        "256x1536x2048 --dtype bf16 --quant mxfp4 --experts 128 --device lunar-lake --trials 16",
    ),
    Entry(
        "s8 with an epilogue, sizes that no tile divides",
        "M, N and K are no multiples of the tile; the GPU has sub-groups of 8 and no 2-D block loads.",
        "1000x1016x520 --dtype s8 --epilogue bias:column,clip=0..6 --device a770 --trials 16",
    ),
    Entry(
        "tf32, B by columns",
        "A weight matrix as PyTorch stores it, in single precision.",
        "1536x768x3072 --dtype tf32 --layout nt --device panther-lake-12xe --trials 16",
    ),
)


def main() -> None:
    """Write the page.

    Raises:
        subprocess.CalledProcessError: a tuning job failed.
    """
    target = Path(sys.argv[1])
    with TemporaryDirectory() as folder:
        for part in ("ocloc", "driver"):
            (Path(folder) / part).symlink_to(read_settings().data_dir / part)
        target.write_text(_HEAD + "\n\n".join(_section(entry, Path(folder)) for entry in ENTRIES) + "\n")


def _section(entry: Entry, folder: Path) -> str:
    command = [sys.executable, "-m", "service.cli", "tune", *shlex.split(entry.tuned), "--json"]
    done = subprocess.run(
        command, env=os.environ | {"XETUNE_DATA_DIR": str(folder)}, stdout=subprocess.PIPE, text=True, check=True
    )
    job = json.loads(done.stdout)
    code = json.loads(Path(job["artifacts"]["isa.json"]).read_text())
    lines = [f"## {entry.title}", "", entry.use, "", f"    xetune tune {entry.tuned}", "", *_table(job, code), ""]
    return "\n".join([*lines, "The K loop, by clock, with what each instruction waits for:", "", *_loop(job)])


def _table(job: Mapping[str, Any], code: Mapping[str, Any]) -> Iterator[str]:
    best, kernel = job["best"], code["kernels"][0]
    proof, time, loop = best["evidence"]["proof"], best["evidence"]["time"], kernel["k_loop"]
    yield "| | |"
    yield "|---|---|"
    yield f"| configuration | {config_line(best['config'])} |"
    yield f"| time | {time['value']:.4g} us ({time['low']:.4g} to {time['high']:.4g}), predicted, {time['label']} |"
    roof = roof_us(to_problem(ProblemBody.model_validate(job["problem"])), find(job["device"]))
    yield f"| throughput | {best['tflops']:.3g} TFLOP/s, {roof / time['value']:.0%} of the [roof](model.md) |"
    yield (
        f"| proof | machine code of {proof['checked']} of {proof['total']} tiles of C, error {proof['max_error']:.2g} "
        f"within {proof['tolerance']:.2g} |"
    )
    yield f"| driver | accepted by {best['evidence']['acceptance']['driver']} |"
    yield (
        f"| machine code | {kernel['instructions']} instructions, {kernel['grf_count']} registers, "
        f"{kernel['spill_bytes']} bytes spilled |"
    )
    yield f"| K loop | {loop['dpas']} DPAS, {loop['sends']['loads']} loads, {loop['alu']} ALU instructions |"


def _loop(job: Mapping[str, Any]) -> list[str]:
    """Lines of the annotated K loop, around its first DPAS."""
    lines = Path(job["artifacts"]["pipeline.txt"]).read_text().splitlines()
    first = next((number for number, line in enumerate(lines) if " dpas." in line), len(lines))
    begin = max(first - _EXCERPT // 2, 0)
    return [f"    {line.rstrip()}" for line in lines[begin : begin + _EXCERPT]]


if __name__ == "__main__":
    main()
