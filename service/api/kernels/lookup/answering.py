"""Lookups of many problems: answered from the cache, or computed together and then cached."""

from collections.abc import Sequence

from service.api.kernels.lookup.answer_cache import Kept
from service.api.kernels.lookup.answers import Key, Place, Wanted, no_kernel, place_of, work_out
from service.api.kernels.lookup.schemas import LookupOut, MissOut
from service.http.context import Context


def answer_all(context: Context, wanted: Sequence[Wanted]) -> list[tuple[Key, Kept]]:
    """Return the answer to each lookup, in order, and its cache key.

    Raises:
        BadRequest: rule `unknown-device`.
        TooMany: rule `lookups`: the limit of requests waiting for slow answers is reached.
        DatabaseError: it cannot be read.
    """
    context.freshness.refresh()
    generation, listing = context.answers.generation, context.devices.all()
    places: dict[tuple[str, str | None], Place] = {}
    for each in wanted:
        if (name := (each.device, each.target)) not in places:
            places[name] = place_of(context, each)
    at = [places[each.device, each.target] for each in wanted]
    keys = [(place.listed.spec.id, each.problem.key) for place, each in zip(at, wanted, strict=True)]
    found = {key: kept for key, kept in zip(keys, context.answers.find(keys, listing), strict=True) if kept is not None}
    here = sum(key in found for key in keys)
    context.metrics.requests.note_answers(kept=here, worked_out=len(keys) - here)
    for place in places.values():
        left = {k: each.problem for k, each, p in zip(keys, wanted, at, strict=True) if k not in found and p is place}
        for key, answer in work_out(context, place, left):
            found[key] = Kept.of(answer)
            if place.of_listing:
                context.answers.keep(key, found[key], generation, listing)
    return [(key, found[key]) for key in keys]


def note_lookups(context: Context, found: Sequence[Kept]) -> None:
    """Count lookups by their result."""
    sources = [each.source for each in found]
    by_result = {"nothing" if each is None else each.value: sources.count(each) for each in set(sources)}
    context.metrics.requests.note_lookups(by_result)


def the_answer(kept: Kept) -> LookupOut:
    """Return an answer as its response model.

    Raises:
        NotFound: it is a miss.
    """
    if kept.source is None:
        raise no_kernel(MissOut.model_validate_json(kept.body))
    return LookupOut.model_validate_json(kept.body)
