"""Linear layouts: products, inverses, and refusals."""

import re
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.xe.layout import (
    LayoutRefused,
    LinearLayout,
)

TILE = LinearLayout.identity(4, "offset", "dim1") * LinearLayout.identity(2, "offset", "dim0")


def test_a_product_puts_the_second_layout_on_higher_bits() -> None:
    assert TILE.transpose_outs(("dim0", "dim1")).bases == (("offset", ((0, 1), (0, 2), (1, 0))),)


def test_values_combine_by_xor() -> None:
    swizzled = LinearLayout.of({"row": [(1, 1), (2, 2)], "column": [(0, 1), (0, 2)]}, {"row": 4, "column": 4})
    for row, column in product(range(4), range(4)):
        assert swizzled.apply({"row": row, "column": column}) == (row, row ^ column)
    assert swizzled.apply({"row": 3}) == (3, 3)


def test_a_product_scales_and_keeps_separate_dimensions() -> None:
    layout = LinearLayout.identity(2, "lane", "x") * LinearLayout.identity(8, "register", "x")
    assert layout.in_sizes == {"lane": 2, "register": 8}
    assert layout.apply({"lane": 1, "register": 5}) == (11,)
    assert layout.out_sizes == {"x": 16}


def test_it_prints_as_triton_does() -> None:
    layout = TILE.transpose_outs(("dim0", "dim1")) * LinearLayout.identity(1, "load", "dim0")
    assert str(layout) == (
        " - offset=1 -> (0, 1)\n"
        "   offset=2 -> (0, 2)\n"
        "   offset=4 -> (1, 0)\n"
        " - load is a size 1 dimension\n"
        "where out dims are: [dim0 (size 2), dim1 (size 4)]"
    )


def test_shared_places_have_no_inverse() -> None:
    shared = LinearLayout.zeros(2, "warp", "dim0") * LinearLayout.identity(4, "lane", "dim0")
    assert not shared.is_injective
    with pytest.raises(LayoutRefused, match="inputs share places"):
        shared.invert()


def test_a_layout_with_gaps_inverts_where_it_reaches() -> None:
    gaps = LinearLayout.identity(4, "offset", "x").extended("load", [(16,)])
    assert gaps.out_sizes == {"x": 32}
    assert gaps.is_injective
    assert gaps.invert().apply({"x": 19}) == (3, 1)


def test_steps_that_leave_a_limit_are_shared() -> None:
    limited = LinearLayout.identity(8, "warp", "x").limited_to({"x": 2})
    assert [limited.apply({"warp": w})[0] for w in range(8)] == [0, 1] * 4


@st.composite
def layouts(draw: st.DrawFn) -> LinearLayout:
    """A layout of up to two inputs and outputs with any bases."""
    outs = {name: 1 << draw(st.integers(0, 4)) for name in ("x", "y")}
    basis = st.tuples(*(st.integers(0, size - 1) for size in outs.values()))
    return LinearLayout.of({name: draw(st.lists(basis, max_size=4)) for name in ("a", "b")}, outs)


@given(layouts())
def test_an_inverse_leads_back_from_every_place(layout: LinearLayout) -> None:
    places = [dict(zip(layout.in_sizes, p, strict=True)) for p in product(*map(range, layout.in_sizes.values()))]
    reached = {layout.apply(place) for place in places}
    assert layout.is_injective == (len(reached) == len(places))
    if layout.is_injective:
        inverse = layout.invert()
        for place in places:
            back = inverse.apply(dict(zip(layout.out_sizes, layout.apply(place), strict=True)))
            assert back == tuple(place.values())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LinearLayout.identity(6, "a", "x"), "powers of two, got 6"),
        (lambda: LinearLayout.of({}, {"x": 3}), "output dimension x must have a power of two as its size, got 3"),
        (lambda: LinearLayout.of({"a": [(4,)]}, {"x": 4}), "basis (4,) of a is outside of {'x': 4}"),
        (lambda: LinearLayout.of({"a": [(1, 0)]}, {"x": 4}), "basis (1, 0) of a is outside of {'x': 4}"),
        (lambda: TILE.apply({"offset": 8}), "offset=8 is not a place of this layout, whose inputs are {'offset': 8}"),
        (lambda: TILE.apply({"lane": 1}), "lane=1 is not a place"),
    ],
)
def test_what_is_no_layout_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(LayoutRefused, match=re.escape(message)):
        make()
