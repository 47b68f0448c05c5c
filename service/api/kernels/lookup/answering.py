"""Lookups of one problem or many: answered from the cache, or computed together and then cached."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from codegen import GemmProblem
from hal.devices.listed import ListedDevice
from service.api.devices.elsewhere import device_elsewhere
from service.api.kernels.lookup.answers import (
    Answer,
    Kept,
    Key,
)
from service.api.kernels.lookup.batch_schemas import MissOut
from service.api.kernels.lookup.exact import (
    AT_ONCE,
    exact_answers,
)
from service.api.kernels.lookup.next_requests import Accepted
from service.api.kernels.lookup.schemas import LookupOut
from service.api.kernels.service import for_driver
from service.errors import BadRequest, FieldError, NotFound
from service.http.context import Context


@dataclass(frozen=True, slots=True)
class Wanted:
    """A problem, and the device and target as named in the request; `field` is where it names the device."""

    problem: GemmProblem
    device: str
    target: str | None
    field: str = "device"


@dataclass(frozen=True, slots=True)
class _Place:
    """A device that a request names; devices known only to the database are not in the listing."""

    listed: ListedDevice
    of_listing: bool


def answer_all(context: Context, wanted: Sequence[Wanted]) -> list[tuple[Key, Kept]]:
    """Return the answer to each lookup, in order, and its cache key.

    Raises:
        BadRequest: rule `unknown-device`.
        TooMany: rule `lookups`: the limit of requests waiting for slow answers is reached.
        DatabaseError: it cannot be read.
    """
    context.freshness.refresh()
    generation, listing = context.answers.generation, context.devices.all()
    places: dict[tuple[str, str | None], _Place] = {}
    for each in wanted:
        if (name := (each.device, each.target)) not in places:
            places[name] = _place(context, each)
    at = [places[each.device, each.target] for each in wanted]
    keys = [(place.listed.spec.id, each.problem.key) for place, each in zip(at, wanted, strict=True)]
    found = {key: kept for key, kept in zip(keys, context.answers.find(keys, listing), strict=True) if kept is not None}
    here = sum(key in found for key in keys)
    context.metrics.requests.note_answers(kept=here, worked_out=len(keys) - here)
    for place in places.values():
        left = {k: each.problem for k, each, p in zip(keys, wanted, at, strict=True) if k not in found and p is place}
        for key, answer in _work_out(context, place, left):
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
        raise _no_kernel(MissOut.model_validate_json(kept.body))
    return LookupOut.model_validate_json(kept.body)


def answer_one(context: Context, wanted: Wanted) -> LookupOut:
    """Return the answer to one lookup, which is not cached; also raises as `answer_all`.

    Raises:
        NotFound: there is none.
    """
    place = _place(context, wanted)
    ((_, answer),) = _work_out(context, place, {(place.listed.spec.id, wanted.problem.key): wanted.problem})
    if isinstance(answer.found, MissOut):
        raise _no_kernel(answer.found)
    return answer.found


def on_driver(found: LookupOut, driver: str | None) -> LookupOut:
    """Return an answer with the native binaries compared with a driver.

    Cached answers are of no driver, so that their keys need none.
    """
    if driver is None or found.kernel is None:
        return found
    kernel = found.kernel.model_copy(update={"binaries": for_driver(found.kernel.binaries, driver)})
    return found.model_copy(update={"kernel": kernel})


def _no_kernel(miss: MissOut) -> NotFound:
    return NotFound(miss.detail, rule=miss.rule, next_requests=miss.next)


def _place(context: Context, wanted: Wanted) -> _Place:
    device, target = wanted.device, wanted.target
    try:
        return _Place(context.devices.resolve(device, target), of_listing=True)  # may probe: before any transaction
    except BadRequest as error:
        with context.database.read() as session:
            known = device_elsewhere(session, device.strip().lower()) if target is None else None
        if known is not None:
            return _Place(known, of_listing=False)
        if wanted.field == "device":
            raise
        fault = FieldError(field=wanted.field, message=error.detail)
        raise BadRequest(f"{wanted.field}: {error.detail}", rule=error.rule, errors=[fault]) from error


def _work_out(context: Context, place: _Place, problems: dict[Key, GemmProblem]) -> Iterable[tuple[Key, Answer]]:
    """Yield the answers: first for the tuned problems, many in few queries, then for the others."""
    now, left = context.now(), dict(problems)
    accepted = Accepted(place.listed, context.settings, place.of_listing)
    keys = {problem.key: key for key, problem in problems.items()}
    for begin in range(0, len(keys), AT_ONCE):
        some = [problems[key] for key in list(keys.values())[begin : begin + AT_ONCE]]
        with context.database.read() as session:
            exact = exact_answers(session, some, accepted, now)
        for key, found in exact.items():
            del left[keys[key]]
            yield keys[key], Answer(found.answer, found.until)
    if left:
        with context.lookups.one():  # 20 to 100 ms of processor time each
            yield from _fall_back(context, accepted, left, now)


def _fall_back(
    context: Context, accepted: Accepted, problems: dict[Key, GemmProblem], now: datetime
) -> Iterable[tuple[Key, Answer]]:
    """Yield the answers for problems that were never tuned on the device."""
    # Imported here, as a tuned problem needs none of it.
    from codegen.workers.cache import CompileCache
    from service.api.kernels.lookup.lookup import Lookup, kernels_of
    from service.api.kernels.lookup.nearby import Nearby

    spec = accepted.device.spec
    nearby, compiled = Nearby(), kernels_of(CompileCache(context.settings.cache_dir), spec)
    for key, problem in problems.items():
        with context.database.read() as session:
            try:
                found = Lookup(session, problem, accepted, now, compiled, nearby).fallback()
            except NotFound as error:
                rule, helps = error.rule or error.kind, error.next_requests or []
                miss = MissOut(problem=str(problem), device=spec.id, rule=rule, detail=error.detail, next=helps)
                yield key, Answer(miss, None)
                continue
        yield key, Answer(found.answer, found.until)
