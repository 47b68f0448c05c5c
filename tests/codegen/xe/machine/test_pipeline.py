"""Loops issue as their units, latencies and annotations allow."""

from dataclasses import replace
from itertools import pairwise

import pytest

from codegen.xe.isa.report import reports_of
from codegen.xe.machine import parse_listing
from codegen.xe.machine.pipeline import Level, PipelineReport, Rates, Stall, analyse, annotated, k_loop, rates_of
from tests.codegen.xe.isa.recordings import recorded

BMG, PVC = rates_of("bmg", 64), rates_of("pvc", 64)
DPAS = "dpas.8x8 (16|M0)  r{0}:f  r{0}:f  r34:hf  r67.0:hf  {{{1}}}"
LOAD = "send.ugm (1|M0)  r34  r99  null:0  0x0  0x03F00283  {{{0}}}"  # 32 registers
PREFETCH = "send.ugm (1|M0)  null  r2  null:0  0x0  0x02080203  {{{0}}}"


def loop(*lines: str, before: str = "", back: str = "jmpi  L{0}") -> str:
    """A listing whose loop has these instructions of 16 bytes, and ends with a branch."""
    start = 16 if before else 0
    return "\n".join([*([before] if before else []), f"L{start}:", *lines, back.format(start)])


def analysed(text: str, threads: int, rates: Rates = BMG, level: Level | None = None) -> PipelineReport:
    report = analyse(parse_listing("k", text), threads, rates, level)
    assert report is not None
    return report


def waits(report: PipelineReport) -> dict[int, tuple[float, Stall]]:
    """Clocks waited and reasons by place in the loop, for instructions that wait."""
    return {n: (i.stall, i.reason) for n, i in enumerate(report.issues) if i.stall}


@pytest.mark.parametrize(("rates", "clocks_of_a_dpas"), [(BMG, 16), (PVC, 8)])
def test_dpas_takes_eight_passes_of_the_chip(rates: Rates, clocks_of_a_dpas: int) -> None:
    chain = [DPAS.format(100 + 8 * n, "Atomic") for n in range(5)]
    report = analysed(loop(*chain, DPAS.format(140, "")), 4, rates)
    assert report.dpas == 6
    assert report.busy_clks == 6 * clocks_of_a_dpas
    assert report.clocks == 4 * 6 * clocks_of_a_dpas
    assert report.utilisation == 1


def test_one_thread_waits_for_the_branch_that_others_hide() -> None:
    text = loop(*(DPAS.format(100 + 8 * n, "") for n in range(2)))
    report = analysed(text, 4, PVC)
    assert (report.by_threads[1], report.by_threads[4]) == (8 + 1 + 23, 4 * 16)
    assert report.hiding == 4


def test_an_atomic_chain_is_not_interrupted_by_other_threads() -> None:
    text = loop(*(DPAS.format(100 + 8 * n, "Atomic") for n in range(3)), DPAS.format(140, ""))
    clocks = [i.clock for i in analysed(text, 4, PVC).issues][:4]
    assert [b - a for a, b in pairwise(clocks)] == [8, 8, 8]


def test_a_distance_waits_for_the_result_of_its_pipe() -> None:
    text = loop(
        "mov (1|M0)  r1.0<1>:d  r2.0<0;1,0>:d",
        "mov (1|M0)  r3.0<1>:f  r4.0<0;1,0>:f",
        "add (1|M0)  r5.0<1>:d  r1.0<0;1,0>:d  4:w  {I@1}",
        "mul (16|M0)  r7.0<1>:f  r3.0<0;1,0>:f  r3.0<0;1,0>:f  {F@1}",
        DPAS.format(100, "A@1"),
    )
    report = analysed(text, 1)
    # 10 clocks after the first; the second is then one clock behind; 11 for 16 channels
    assert waits(report)[2] == (8, Stall.DISTANCE)
    assert 3 not in waits(report)
    assert waits(report)[4] == (10, Stall.DISTANCE)


def test_a_token_waits_for_the_data_of_its_load() -> None:
    text = loop(LOAD.format("$7"), DPAS.format(100, "$7.dst"))
    shares = 24 + 32 * 64 / 64  # of a message and its bytes
    for level, latency in ((Level.L1, 45), (Level.L2, 200), (Level.MEMORY, 850)):
        assert waits(analysed(text, 1, BMG, level))[1] == (shares + latency - 1, Stall.LOAD)
    report = analysed(text, 1)
    assert report.level is Level.L2
    assert annotated(report).splitlines()[-2].split()[2:5] == ["load,", "line", "2"]


def test_threads_hide_each_others_loads() -> None:
    report = analysed(loop(LOAD.format("$7"), *(DPAS.format(100 + 8 * n, "$7.dst") for n in range(8))), 8)
    assert report.by_threads[1] > 200 + 8 * 16
    assert report.clocks == 8 * 8 * 16
    assert report.utilisation == 1


def test_the_dpas_that_multiplies_nothing_takes_time_and_is_not_counted() -> None:
    void = "dpas.8x8 (8|M0)  r235:f  null:f  r235:hf  r235.0:hf  {Atomic}"
    text = loop(void, DPAS.format(100, "$1.dst"))
    report = analysed(text, 1)
    assert (report.dpas, report.busy_clks) == (1, 16)
    assert report.utilisation <= 0.5


def test_messages_of_all_threads_share_the_load_unit() -> None:
    report = analysed(loop(LOAD.format("$7"), LOAD.format("$8"), DPAS.format(100, "$8.dst")), 8)
    assert report.clocks == pytest.approx(8 * 2 * (24 + 32), rel=0.02)


def test_a_payload_is_overwritten_only_when_the_message_has_read_it() -> None:
    text = loop(PREFETCH.format("$9"), "mov (1|M0)  r2.0<1>:d  0:w  {$9.src}", DPAS.format(100, "I@1"))
    report = analysed(text, 1)
    assert report.level is Level.L1
    assert waits(report)[1] == (36 + 1 - 1, Stall.PAYLOAD)


def test_sync_waits_for_the_tokens_that_it_lists() -> None:
    text = loop(LOAD.format("$7"), LOAD.format("$8"), "sync.allwr  ($7)", DPAS.format(100, ""))
    both = loop(LOAD.format("$7"), LOAD.format("$8"), "sync.allwr  ($7,$8)", DPAS.format(100, ""))
    one, two = (waits(analysed(each, 1))[2] for each in (text, both))
    assert one[1] is two[1] is Stall.LOAD
    assert two[0] == 2 * (24 + 32) + 200 - 2
    assert one[0] < two[0] - 24


def test_without_annotations_nothing_waits() -> None:
    text = loop(LOAD.format("$7"), "mov (1|M0)  r3.0<1>:d  r34.0<0;1,0>:d", DPAS.format(100, ""))
    assert waits(analysed(text, 1)).keys() == {0}  # after the branch, and for its token


def test_a_barrier_waits_for_all_threads() -> None:
    signal = "(W) send.gtwy (1|M0)  null  r29  null:0  0x0  0x02000004  {$12}"
    alone = [DPAS.format(100 + 8 * n, "Atomic" if n < 7 else "") for n in range(8)]
    report = analysed(loop(*alone, signal, "(W) sync.bar  0x0"), 4, PVC)
    assert report.stalls[Stall.BARRIER] > 0
    assert Stall.BARRIER not in analysed(loop(*alone, signal), 4, PVC).stalls


def test_spilled_registers_take_the_rate_of_scratch_memory() -> None:
    fill = "send.ugm (1|M0)  r34  r66  null:0  0x80200000:a0.2  0x4240F500  {$12}"  # 4 registers
    report = analysed(loop(fill, DPAS.format(100, "$12.dst")), 4)
    assert report.clocks == pytest.approx(4 * 4 * 64 / 0.625)
    assert max(report.stalls, key=lambda reason: report.stalls[reason]) is Stall.SPILL


def test_the_loop_is_the_innermost_one_with_the_most_dpas() -> None:
    inner = [*(DPAS.format(100 + 8 * n, "") for n in range(3)), "jmpi  L16"]
    text = "\n".join(["L0:", DPAS.format(100, ""), "L16:", *inner, "jmpi  L0"])
    assert k_loop(parse_listing("k", text)) == range(1, 5)
    assert k_loop(parse_listing("k", "mov (1|M0)  r1.0<1>:d  0:w")) is None
    assert analyse(parse_listing("k", "mov (1|M0)  r1.0<1>:d  0:w"), 4, BMG) is None


def test_code_without_a_loop_is_repeated_from_its_first_load_to_its_last_dpas() -> None:
    (report,) = reports_of(recorded("straight_pvc"), PVC)
    assert report.k_loop is not None
    assert report.pipeline is not None
    assert report.pipeline.dpas == report.k_loop.dpas == 16
    assert 0 < report.pipeline.utilisation <= 1


def test_code_that_is_not_known_has_no_pipeline() -> None:
    disassembly = recorded("straight_pvc")
    unknown = {name: f"foo (1|M0)\n{text}" for name, text in disassembly.assembly.items()}
    (report,) = reports_of(replace(disassembly, assembly=unknown), PVC)
    assert report.pipeline is None
