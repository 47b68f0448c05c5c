"""Identifiers of rows."""

import time
from concurrent.futures import ThreadPoolExecutor

from db.values import new_id


def test_ids_sort_in_the_order_in_which_they_were_made() -> None:
    before = time.time_ns() // 1_000_000
    made = [new_id() for _ in range(2_000)]  # many in a millisecond
    assert made == sorted(made)
    assert {(each.version, each.variant) for each in made} == {(7, "specified in RFC 4122")}
    assert before <= made[0].int >> 80 <= made[-1].int >> 80 <= time.time_ns() // 1_000_000 + 1


def test_ids_of_several_threads_differ() -> None:
    with ThreadPoolExecutor(4) as pool:
        made = [each for some in pool.map(lambda count: [new_id() for _ in range(count)], [500] * 4) for each in some]
    assert len(set(made)) == 2_000
