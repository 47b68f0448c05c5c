"""Instructions on registers do what the manual says, with its types, regions, masks and rounding."""

import numpy as np
import pytest

from codegen.simulate import SimulationRefused
from tests.codegen.xe.machine.execute_support import Array, run

LANES = np.arange(16)


def one(line: str, **sources: Array) -> Array:
    """Run a line and return r9 as dwords; keys r2, r3 and so on are its sources."""
    return run(line, {int(name[1:]): values for name, values in sources.items()}).get(9, "u4")


def test_regions_with_strides_and_across_registers() -> None:
    words = np.arange(64, dtype=np.uint16)
    ran = run(
        "mov (16|M0) r9.0<2>:uw r2.1<2;1,0>:uw\n"
        "mov (16|M0) r20.0<1>:d r2.0<8;2,4>:uw\n"
        "mov (16|M0) r22.1<2>:d r2.0<1;1,0>:uw",
        {2: words},
    )
    assert ran.get(9, "u2")[::2].tolist() == words[1:33:2].tolist()
    assert ran.get(9, "u2")[1::2].tolist() == [0xFFFF] * 16  # not written
    assert ran.get(20, "i4").tolist() == [i // 2 * 8 + i % 2 * 4 for i in range(16)]
    assert ran.get(22, "i4", count=2)[1::2].tolist() == list(range(16))


def test_a_predicate_selects_channels_and_a_comparison_sets_only_those() -> None:
    ran = run(
        "(W) mov (1|M0) f0.0<1>:uw 0xFF00:uw\n"
        "cmp (16|M0) (lt)f0.1 null<1>:d r2.0<1;1,0>:d 10:w\n"
        "(f0.0) cmp (16|M0) (ge)f0.1 null<1>:d r2.0<1;1,0>:d 12:w\n"
        "(~f0.1) mov (16|M0) r9.0<1>:d -r2.0<1;1,0>:d",
        {2: LANES.astype(np.int32), 9: np.zeros(16, np.int32)},
    )
    expected = [int(i < 10) if i < 8 else int(i >= 12) for i in range(16)]
    assert ran.flag(0, 32)[16:] == expected
    assert ran.get(9, "i4").tolist() == [0 if e else -i for i, e in enumerate(expected)]


@pytest.mark.parametrize("to", ["d", "f"])
def test_a_comparison_writes_all_bits_of_channels_for_which_it_holds(to: str) -> None:
    got = one(f"cmp (16|M0) (gt)f0.0 r9.0<1>:{to} r2.0<1;1,0>:f 2.5:f", r2=LANES.astype(np.float32))
    assert got.tolist() == [0] * 3 + [0xFFFFFFFF] * 13


def test_selections_by_flag_by_condition_and_by_source() -> None:
    a, b = LANES.astype(np.float32), (15 - LANES).astype(np.float32)
    a[3], b[4] = np.nan, np.nan
    assert one("sel (16|M0) (lt)f0.0 r9.0<1>:f r2.0<1;1,0>:f r3.0<1;1,0>:f", r2=a, r3=b).view("f4").tolist() == (
        np.fmin(a, b).tolist()
    )
    assert one("sel (16|M0) (ge)f0.0 r9.0<1>:f r2.0<1;1,0>:f r3.0<1;1,0>:f", r2=a, r3=b).view("f4").tolist() == (
        np.fmax(a, b).tolist()
    )
    of_flag = one(
        "(W) mov (1|M0) f1.0<1>:uw 0x5:uw\n(f1.0) sel (16|M0) r9.0<1>:d r2.0<1;1,0>:d 7:w", r2=LANES.astype("i4")
    )
    assert of_flag.tolist() == [0, 7, 2] + [7] * 13
    c = one(
        "csel (16|M0) (eq)f0.0 r9.0<1>:w r2.0<1;0>:w r3.0<1;0>:w r4.0<1>:w",
        r2=LANES.astype("i2"),
        r3=-LANES.astype("i2"),
        r4=(LANES % 2).astype("i2"),
    )
    assert c.view("i2")[:16].tolist() == [i if i % 2 == 0 else -i for i in range(16)]


def test_a_selection_of_one_source_needs_no_condition() -> None:
    a = LANES.astype(np.float32)
    got = one("csel (16|M0) r9.0<1>:f r2.0<1;0>:f r2.0<1;0>:f r3.0<1>:f", r2=a, r3=a)
    assert got.view("f4").tolist() == a.tolist()
    with pytest.raises(SimulationRefused, match="without a condition"):
        one("csel (16|M0) r9.0<1>:f r2.0<1;0>:f r3.0<1;0>:f r3.0<1>:f", r2=a, r3=a)


def test_products_of_dwords_by_halves() -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-(2**31), 2**31, 16).astype(np.int32) for _ in range(2))
    lines = (
        "mul (16|M0) acc0.0<1>:{0} r2.0<1;1,0>:{0} r3.0<2;1,0>:uw\n"
        "{1} (16|M0) r9.0<1>:{0} r2.0<1;1,0>:{0} r3.0<1;1,0>:{0}"
    )
    wide = a.astype(object) * b.astype(object)
    assert one(lines.format("d", "macl"), r2=a, r3=b).tolist() == [int(p) & 0xFFFFFFFF for p in wide]
    assert one(lines.format("d", "mach"), r2=a, r3=b).tolist() == [int(p) >> 32 & 0xFFFFFFFF for p in wide]
    unsigned = a.view(np.uint32).astype(object) * b.view(np.uint32).astype(object)
    assert one(lines.format("ud", "mach"), r2=a, r3=b).tolist() == [int(p) >> 32 for p in unsigned]


def test_carries_and_borrows_are_in_the_accumulator() -> None:
    a, b = np.full(16, 0xFFFFFFF8, np.uint32), LANES.astype(np.uint32)
    lines = "{} (16|M0) r9.0<1>:ud r2.0<1;1,0>:ud r3.0<1;1,0>:ud {{AccWrEn}}\nmov (16|M0) r10.0<1>:ud acc0.0<1;1,0>:ud"
    added, subtracted = run(lines.format("addc"), {2: a, 3: b}), run(lines.format("subb"), {2: b, 3: b[::-1].copy()})
    assert added.get(9, "u4").tolist() == [(0xFFFFFFF8 + i) & 0xFFFFFFFF for i in range(16)]
    assert added.get(10, "u4").tolist() == [int(i >= 8) for i in range(16)]
    assert subtracted.get(10, "u4").tolist() == [int(i < 15 - i) for i in range(16)]


def test_words_are_added_with_carry_where_they_are_not_negative() -> None:
    a, b = np.full(16, 0xFFFFFFF8, np.uint32), LANES.astype(np.int16) - 4
    line = "addc (16|M0) r9.0<1>:ud r2.0<1;1,0>:ud r3.0<1;1,0>:w {AccWrEn}\nmov (16|M0) r10.0<1>:ud acc0.0<1;1,0>:ud"
    off = "(W) mov (1|M0) f0.0<1>:uw 0xFFF0:uw\n(f0.0) "
    ran = run(off + line, {2: a, 3: b})
    assert ran.get(9, "u4")[4:].tolist() == [(0xFFFFFFF8 + i) & 0xFFFFFFFF for i in range(12)]
    assert ran.get(10, "u4")[4:].tolist() == [int(i >= 8) for i in range(12)]
    with pytest.raises(SimulationRefused, match="the carry of a negative number"):
        run(line, {2: a, 3: b})


def test_a_sum_with_carry_sets_a_flag_by_its_lower_bits() -> None:
    a, b = np.full(16, 0xFFFFFFF8, np.uint32), LANES.astype(np.uint32)
    line = "{} (16|M0) ({})f0.1 r9.0<1>:ud r2.0<1;1,0>:ud r3.0<1;1,0>:ud {{AccWrEn}}"
    assert run(line.format("addc", "eq"), {2: a, 3: b}).flag(0, 32)[16:] == [int(i == 8) for i in range(16)]
    assert run(line.format("subb", "ne"), {2: a, 3: a - b}).flag(0, 32)[16:] == [int(i != 0) for i in range(16)]
    of_some = run(
        "(W) mov (1|M0) f0.0<1>:uw 0xFF:uw\n(f0.0) " + line.format("addc", "gt"), {2: np.ones(16, np.uint32), 3: b}
    )
    assert of_some.flag(0, 32)[16:] == [1] * 8 + [0] * 8


@pytest.mark.parametrize(
    ("line", "source", "expected"),
    [
        ("shl (1|M0) r9.0<1>:d r2.0<0;1,0>:d 33:w", 3, 6),
        ("shl (1|M0) r9.0<1>:q r2.0<0;1,0>:ud 4:w", 0xF0000000, 0),
        ("asr (1|M0) r9.0<1>:d r2.0<0;1,0>:d 2:w", -8, -2),
        ("shr (1|M0) r9.0<1>:ud r2.0<0;1,0>:ud 28:w", 0xF0000000, 15),
        ("not (1|M0) r9.0<1>:d r2.0<0;1,0>:d", 5, ~5),
        ("bfn.0xF8 (1|M0) r9.0<1>:ud r2.0<0;0>:ud 0x6:uw r3.0<0>:ud", 5, 4 | 0x30),
        ("bfn.0x1E (1|M0) r9.0<1>:ud r2.0<0;0>:ud 0x6:uw r3.0<0>:ud", 5, (5 | 6) ^ 0x30),
        ("add3 (1|M0) r9.0<1>:d r2.0<0;0>:d -r3.0<0;0>:d 2:w", 5, 5 - 0x30 + 2),
        ("mad (1|M0) r9.0<1>:d r2.0<0;0>:d r3.0<0;0>:d 3:w", 5, 5 + 0x90),
        ("mov (1|M0) r9.0<1>:d (abs)r2.0<0;1,0>:d", -7, 7),
        ("fbl (1|M0) r9.0<1>:ud r2.0<0;1,0>:ud", 0x50, 4),
        ("fbh (1|M0) r9.0<1>:ud r2.0<0;1,0>:ud", 0x50, 25),
        ("cbit (1|M0) r9.0<1>:ud r2.0<0;1,0>:ud", 0xF1, 5),
        ("bfrev (1|M0) r9.0<1>:ud r2.0<0;1,0>:ud", 0x50000000, 10),
        ("add (1|M0) (sat)r9.0<1>:d r2.0<0;1,0>:d r2.0<0;1,0>:d", 2**30, 2**31 - 1),
    ],
)
def test_integers(line: str, source: int, expected: int) -> None:
    got = one(line, r2=np.array([source & 0xFFFFFFFF], np.uint32), r3=np.array([0x30], np.uint32))[0]
    assert got == expected & 0xFFFFFFFF


def test_floats_become_integers_towards_zero_and_saturate() -> None:
    given = np.array([1.9, -1.9, 3e9, -3e9, np.nan, np.inf, 300.5, -200.0], np.float32)
    ran = run("mov (8|M0) r9.0<1>:d r2.0<1;1,0>:f\nmov (8|M0) r10.0<1>:ub r2.0<1;1,0>:f", {2: given})
    assert ran.get(9, "i4")[:8].tolist() == [1, -1, 2**31 - 1, -(2**31), 0, 2**31 - 1, 300, -200]
    assert ran.get(10, "u1")[:8].tolist() == [1, 0, 255, 0, 0, 255, 255, 0]


def test_conversions_round_to_nearest_even_and_moves_copy_bits() -> None:
    given = np.array([1 + 2**-11, 1 + 3 * 2**-11, 65520.0, 1e-8], np.float32)
    ran = run("mov (4|M0) r9.0<1>:hf r2.0<1;1,0>:f\nmov (4|M0) r10.0<1>:bf r2.0<1;1,0>:f", {2: given})
    assert ran.get(9, "f2")[:4].tolist() == [1.0, 1 + 2**-9, np.inf, 0.0]
    assert ran.get(10, "u2")[:2].tolist() == [0x3F80, 0x3F80]
    bits = np.array([0x7F800001, 0xFFC00123], np.uint32)
    assert run("mov (2|M0) r9.0<1>:f r2.0<1;1,0>:f", {2: bits}).get(9, "u4")[:2].tolist() == bits.tolist()


def test_products_are_added_with_one_rounding() -> None:
    # 1 + 2^-12 squared is 1 + 2^-11 + 2^-24: the last bit is lost where the product is rounded first.
    a, c = np.full(16, 1 + 2**-12, np.float32), np.full(16, -(1 + 2**-11), np.float32)
    got = one("mad (16|M0) r9.0<1>:f r3.0<1;0>:f r2.0<1;0>:f r2.0<1>:f", r2=a, r3=c)
    assert (got.view("f4") == np.float32(2**-24)).all()
    # Halfway in float64's rounding of the sum, which float32 must not round once more.
    a, b = np.float32(1 + 2**-23), np.float32(1 + 2**-23)
    c = np.float32(2**30)
    line = "mad (1|M0) r9.0<1>:f r4.0<0;0>:f r2.0<0;0>:f r3.0<0>:f"
    got = one(line, r2=np.array([a]), r3=np.array([b]), r4=np.array([c]))
    assert got.view("f4")[0] == np.float32(2**30)


def test_the_mode_of_rounding_is_that_of_cr0() -> None:
    start = "(W) mov (1|M0) cr0.0<1>:ud 0x4C0:uw\n"
    towards_zero = start + "(W) xor (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x30:uw\n"
    line = "mov (1|M0) r9.0<1>:f r2.0<0;1,0>:ud\nadd (1|M0) r10.0<1>:f r3.0<0;1,0>:f r4.0<0;1,0>:f"
    sources = {2: np.array([2**24 + 3], "u4"), 3: np.array([1], "f4"), 4: np.array([3 * 2**-25], "f4")}
    nearest, cut = run(start + line, sources), run(towards_zero + line, sources)
    assert (nearest.get(9, "f4")[0], cut.get(9, "f4")[0]) == (2**24 + 4, 2**24 + 2)
    assert (nearest.get(10, "f4")[0], cut.get(10, "f4")[0]) == (np.float32(1 + 2**-23), np.float32(1))
    saturated = run(towards_zero + "add (1|M0) (sat)r10.0<1>:f r3.0<0;1,0>:f r3.0<0;1,0>:f", sources)
    assert saturated.get(10, "f4")[0] == 1
    with pytest.raises(SimulationRefused, match="modes 0x80 in cr0"):
        run("(W) mov (1|M0) cr0.0<1>:ud 0x80:uw")


@pytest.mark.parametrize(
    ("line", "source", "nearest", "up", "down", "cut"),
    [
        ("mov (1|M0) r9.0<1>:bf r2.0<0;1,0>:f", np.float32(1 + 3 * 2**-9), 0x3F81, 0x3F81, 0x3F80, 0x3F80),
        ("mov (1|M0) r9.0<1>:bf r2.0<0;1,0>:f", np.float32(-1 - 2**-9), 0xBF80, 0xBF80, 0xBF81, 0xBF80),
        ("mov (1|M0) r9.0<1>:bf r2.0<0;1,0>:f", np.float32(3.4e38), 0x7F80, 0x7F80, 0x7F7F, 0x7F7F),
        ("mov (1|M0) r9.0<1>:hf r2.0<0;1,0>:df", np.float64(-1 - 2**-12), 0xBC00, 0xBC00, 0xBC01, 0xBC00),
    ],
)
def test_conversions_to_shorter_floats_round_as_cr0_says(
    line: str, source: np.generic, nearest: int, up: int, down: int, cut: int
) -> None:
    for bits, expected in ((0, nearest), (0x10, up), (0x20, down), (0x30, cut)):
        start = f"(W) mov (1|M0) cr0.0<1>:ud 0x{0x4C0 | bits:X}:uw\n"
        assert run(start + line, {2: np.array([source])}).get(9, "u2")[0] == expected


@pytest.mark.parametrize(
    ("line", "sources", "dtype", "expected"),
    [
        ("mul (1|M0) r9.0<1>:df r2.0<0;1,0>:df r3.0<0;1,0>:df", (1 + 2**-52, 1 + 2**-52), "f8", 1 + 2**-51),
        ("add (1|M0) r9.0<1>:df r2.0<0;1,0>:df r3.0<0;1,0>:df", (1.0, 3 * 2**-54), "f8", 1.0),
        ("mad (1|M0) r9.0<1>:df r4.0<0;0>:df r2.0<0;0>:df r3.0<0>:df", (3.0, 2**-54, 1.0), "f8", 1.0),
        ("mov (1|M0) r9.0<1>:f r2.0<0;1,0>:q", (2**40 + 2**17 - 1,), "f4", 2**40),
    ],
)
def test_results_of_64_bits_round_as_cr0_says(
    line: str, sources: tuple[float, ...], dtype: str, expected: float
) -> None:
    for sign in (1, -1):
        signs = (sign, *[1] * (len(sources) - 1)) if not line.startswith("add") else (sign,) * len(sources)
        given = {n: np.array([s * v]) for n, (s, v) in enumerate(zip(signs, sources, strict=True), 2)}
        given |= {4: np.array([sign * sources[2]])} if len(sources) > 2 else {}
        got = [
            run(f"(W) mov (1|M0) cr0.0<1>:ud 0x{0x4C0 | mode:X}:uw\n{line}", given).get(9, dtype)[0]
            for mode in (0x10, 0x20, 0x30)
        ]
        above = np.nextafter(np.dtype(dtype).type(expected), np.dtype(dtype).type(np.inf))
        assert got == ([above, expected, expected] if sign > 0 else [-expected, -above, -expected])


@pytest.mark.parametrize(
    "line",
    [
        "mov (1|M0) r9.0<1>:hf r2.0<0;1,0>:q",
        "frc (1|M0) r9.0<1>:f r2.0<0;1,0>:f",
        "dpas.8x1 (16|M0) r9:f r4:f r20:hf r30.0:hf",
    ],
)
def test_results_that_cannot_be_rounded_in_a_direction_are_refused(line: str) -> None:
    zeros = {number: np.zeros(16, np.uint32) for number in (2, 3, 4, *range(20, 31))}
    run(line, zeros)
    with pytest.raises(SimulationRefused, match="round"):
        run("(W) mov (1|M0) cr0.0<1>:ud 0x4F0:uw\n" + line, zeros)


def test_not_a_number_saturates_to_zero() -> None:
    given = np.array([np.nan, -1, 0.25, np.inf], np.float32)
    got = run("mov (4|M0) (sat)r9.0<1>:f r2.0<1;1,0>:f\nmov (4|M0) (sat)r10.0<1>:hf r2.0<1;1,0>:f", {2: given})
    assert got.get(9, "f4")[:4].tolist() == got.get(10, "f2")[:4].tolist() == [0, 0, 0.25, 1]


def test_comparisons_for_numbers_are_of_integers_only() -> None:
    given = {2: LANES.astype(np.int32)}
    assert run("cmpn (16|M0) (lt)f0.0 null<1>:d r2.0<1;1,0>:d 7:w", given).flag(0) == [1] * 7 + [0] * 9
    with pytest.raises(SimulationRefused, match="cmpn of floats"):
        run("cmpn (16|M0) (lt)f0.0 null<1>:f r2.0<1;1,0>:f r2.0<1;1,0>:f", given)


def test_the_bits_of_a_product_are_lost_when_its_accumulator_is_written() -> None:
    multiply = "mul (16|M0) acc0.0<1>:d r2.0<1;1,0>:d r3.0<2;1,0>:uw\n"
    upper = "mach (16|M0) r9.0<1>:d r2.0<1;1,0>:d r3.0<1;1,0>:d"
    given = {2: np.full(16, -70000, np.int32), 3: np.full(16, 90000, np.int32)}
    assert (run(multiply + upper, given).get(9, "i4") == -70000 * 90000 >> 32).all()
    for write in ("", multiply + "mov (1|M0) acc0.3<1>:d 1:w\n", multiply + "add (16|M0) acc0.0<1>:f 1.0:f 2.0:f\n"):
        with pytest.raises(SimulationRefused, match="acc0 that no multiplication"):
            run(write + upper, given)
    with pytest.raises(SimulationRefused, match="writes the accumulator as well"):
        run("add (16|M0) r9.0<1>:d r2.0<1;1,0>:d 1:w {AccWrEn}", given)


def test_functions_of_math() -> None:
    x = np.linspace(0.25, 4, 16, dtype=np.float32)
    for function, expected in (("inv", 1 / x), ("exp", np.exp2(x)), ("log", np.log2(x)), ("rsqt", x**-0.5)):
        got = one(f"math.{function} (16|M0) r9.0<1>:f r2.0<1;1,0>:f", r2=x).view("f4")
        np.testing.assert_allclose(got, expected, rtol=2e-7, atol=1e-7)


def test_registers_at_addresses_of_each_channel() -> None:
    addresses = (64 * 2 + 4 * ((LANES * 5) % 32)).astype(np.uint16)
    ran = run(
        "(W) mov (16|M0) a0.0<1>:uw r4.0<1;1,0>:uw\n"
        "mov (16|M0) r9.0<1>:d r[a0.0]<1,0>:d\n"
        "mov (8|M0) r10.0<1>:d r[a0.2,4]<8;8,1>:d",
        {2: np.arange(32, dtype=np.int32), 4: addresses},
    )
    assert ran.get(9, "i4").tolist() == [i * 5 % 32 for i in range(16)]
    assert ran.get(10, "i4")[:8].tolist() == list(range(11, 19))


@pytest.mark.parametrize("address", [128 * 64, 65533, 64 * 3 + 2])
def test_addresses_of_channels_that_execute_must_be_registers(address: int) -> None:
    addresses = np.full(16, 128, np.uint16)
    addresses[5] = address
    start = "(W) mov (16|M0) a0.0<1>:uw r4.0<1;1,0>:uw\n(W) mov (1|M0) f0.0<1>:uw 0x20:uw\n"
    given = {2: np.arange(16, dtype=np.int32), 4: addresses}
    for line in ("{} mov (16|M0) r9.0<1>:d r[a0.0]<1,0>:d", "{} add (16|M0) r9.0<1>:d r[a0.0]<1,0>:d 1:w"):
        with pytest.raises(SimulationRefused, match="a0 names byte"):
            run(start + line.format("(f0.0)"), given)
        run(start + line.format("(~f0.0)"), given)  # channel 5 is off


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("shl (1|M0) r9.0<1>:w r2.0<0;1,0>:w 17:w", 0xFFFF0000),  # words by 5 bits of the count as well
        ("shr (1|M0) r9.0<1>:uw r2.0<0;1,0>:uw 33:w", 0xFFFF7FFC),
        ("asr (1|M0) r9.0<1>:w r2.0<0;1,0>:w 20:w", 0xFFFFFFFF),
        ("shr (1|M0) r9.0<1>:ud r2.0<0;1,0>:d 28:w", 0xF),
        ("shl (1|M0) r9.0<1>:q r2.0<0;1,0>:d 40:w", 0),
        ("shr (1|M0) r9.0<1>:ud r2.0<0;1,0>:uq 31:w", 0xFFFFFFFF),
    ],
)
def test_shifts_count_by_the_size_of_what_is_shifted(line: str, expected: int) -> None:
    assert one(line, r2=np.array([-8], np.int64))[0] == expected  # the upper half of r9 is not written by words


def test_packed_immediates() -> None:
    ran = run("mov (16|M0) r9.0<1>:w 0x76543210:v\nmov (8|M0) r10.0<1>:w 0xFEDCBA98:v")
    assert ran.get(9, "i2")[:16].tolist() == [*range(8), *range(8)]
    assert ran.get(10, "i2")[:8].tolist() == [-8, -7, -6, -5, -4, -3, -2, -1]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("mov (1|M0) r9.0<1>:ud sr0.0<0;1,0>:ud", "sr0 is not represented"),
        ("bfe (1|M0) r9.0<1>:d r2.0<0;0>:d r2.0<0;0>:d r2.0<0>:d", "opcode bfe"),
        ("(f0.0.any16h) mov (16|M0) r9.0<1>:d 0:w", "any16h"),
        ("mov (16|M0) r127.8<1>:q r2.0<1;1,0>:q\nmov (16|M0) r200.0<1>:d 0:w", "r200 is not represented"),
        ("cmp (1|M0) (ov)f0.0 null<1>:f r2.0<0;1,0>:f r2.0<0;1,0>:f", "condition ov"),
        ("illegal", "an illegal instruction"),
        ("shr (1|M0) r9.0<1>:ud r2.0<0;1,0>:w 1:w", "shr of w in 32 bits"),
        ("asr (1|M0) r9.0<1>:ud r2.0<0;1,0>:ud 1:w", "asr of ud"),
        ("shl (1|M0) (sat)r9.0<1>:d r2.0<0;1,0>:d 1:w", "a shift that saturates"),
        ("shr (1|M0) r9.0<1>:ud r2.0<0;1,0>:uq 32:w", "by 32 or more"),
        ("sel (1|M0) (lt)f0.0 r9.0<1>:hf r2.0<0;1,0>:f r3.0<0;1,0>:f", "a selection that rounds"),
        ("mov (1|M0) r9.0<1>:ud s0.0<0;1,0>:ud", "s0 is not represented"),
        ("dpas.8x8 (16|M0) r60:f r40:bf r20:bf r30.0:bf", "accumulator is of another type"),
        ("mul (16|M0) (eq)f0.0 acc0.0<1>:d r2.0<1;1,0>:d r3.0<2;1,0>:uw", "a condition of mul"),
        ("mach (16|M0) (eq)f0.0 r9.0<1>:d r2.0<1;1,0>:d r3.0<1;1,0>:d", "a condition of mach"),
        ("subb (16|M0) (sat)r9.0<1>:ud r2.0<1;1,0>:ud r3.0<1;1,0>:ud {AccWrEn}", "subb that saturates"),
    ],
)
def test_what_is_not_represented_is_refused_by_name(line: str, named: str) -> None:
    with pytest.raises(SimulationRefused, match=named):
        run(line)


def test_a_selection_widens_floats() -> None:
    a = np.linspace(-3, 4.5, 16).astype("f4")
    b = np.array([0.5, -2.25] * 8, "f4")  # exact in bf16
    bits = (b.view("u4") >> 16).astype("u2")
    got = run("sel (16|M0) (lt)f0.0 r9.0<1>:f r2.0<1;1,0>:f r3.0<1;1,0>:bf", {2: a, 3: bits}).get(9, "f4")[:16]
    assert got.tolist() == np.minimum(a, b).tolist()


def test_bf8_is_the_upper_half_of_a_float16() -> None:
    bits = np.array([0x00, 0x80, 0x3C, 0xBD, 0x7B, 0x01, 0x7C, 0xFC] + [0x40] * 56, np.uint8)
    got = run("mov (16|M0) r9.0<1>:hf r2.0<1;1,0>:bf8", {2: bits}).get(9, "f2")[:8]
    assert got.tolist() == [0.0, -0.0, 1.0, -1.25, 57344.0, 2.0**-16, np.inf, -np.inf]
    with pytest.raises(SimulationRefused, match="rounding to bf8"):
        run("mov (16|M0) r9.0<1>:bf8 r2.0<1;1,0>:hf", {2: bits})


@pytest.mark.parametrize(("types", "signs"), [("d d d", "i1 i1"), ("ud ud ud", "u1 u1"), ("d d ud", "i1 u1")])
def test_dp4a_adds_products_of_bytes(types: str, signs: str) -> None:
    rng = np.random.default_rng(7)
    c = rng.integers(0, 1000, 16).astype(np.int32)
    a, b = (rng.integers(0, 256, 64).astype(np.uint8) for _ in range(2))
    to, left, right = types.split()
    line = f"dp4a (16|M0) r9.0<1>:{to} r2.0<1;0>:{to} r3.0<1;0>:{left} r4.0<1>:{right}"
    x, y = (v.view(sign).astype(np.int64).reshape(16, 4) for v, sign in zip((a, b), signs.split(), strict=True))
    assert one(line, r2=c, r3=a, r4=b).view("i4").tolist() == (c + (x * y).sum(axis=1)).tolist()
