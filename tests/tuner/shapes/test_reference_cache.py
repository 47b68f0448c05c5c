"""References of a set's shapes: the last ones, within a bound of what they hold; sampled ones draw what is needed."""

from codegen import DType, GemmProblem
from tuner.shapes.reference_cache import ReferenceCache

ONE, OTHER = (GemmProblem(64, n, 512, dtype_b=DType.U4, transpose_b=True) for n in (4096, 8192))
ROWS, COLUMNS = slice(0, 16), slice(0, 64)


def test_a_sampled_reference_holds_what_its_parts_need() -> None:
    sampled, whole = ReferenceCache(sampled=True).of(ONE, 1), ReferenceCache(sampled=False).of(ONE, 1)
    before = sampled.held_bytes
    assert before == ONE.c.nbytes(1)
    bounds = sampled.bounds_of_c(0, ROWS, COLUMNS), whole.bounds_of_c(0, ROWS, COLUMNS)
    assert (bounds[0].value == bounds[1].value).all()
    assert sampled.held_bytes - before < whole.held_bytes / 10


def test_columns_of_rows_hold_whole_pages() -> None:
    problem = GemmProblem(64, 4096, 512)
    reference = ReferenceCache(sampled=True).of(problem, 1)
    before = reference.held_bytes
    reference.buffers([(0, ROWS, COLUMNS)])
    pages_of_b = 512 * 4096
    assert pages_of_b <= reference.held_bytes - before < 2 * pages_of_b


def test_the_first_are_dropped_for_what_the_others_hold() -> None:
    cache = ReferenceCache(sampled=True, most_bytes=ONE.c.nbytes(1) + OTHER.c.nbytes(1) + 2**16)
    one = cache.of(ONE, 1)
    other = cache.of(OTHER, 1)
    assert cache.of(ONE, 1) is one
    one.buffers([(0, ROWS, COLUMNS)])
    assert cache.of(OTHER, 1) is other
    assert len(cache) == 1
    assert cache.of(ONE, 1) is not one
