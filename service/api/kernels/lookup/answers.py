"""Answers to lookups as they are computed from the database and the devices."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from codegen import GemmProblem
from hal.devices.listed import ListedDevice
from service.api.devices.elsewhere import device_elsewhere
from service.api.kernels.lookup.exact import (
    AT_ONCE,
    exact_answers,
)
from service.api.kernels.lookup.next_requests import Accepted
from service.api.kernels.lookup.schemas import LookupOut, MissOut
from service.api.kernels.service import for_driver
from service.errors import BadRequest, FieldError, NotFound
from service.http.context import Context

Key = tuple[str, str]
"""Device (a slug) and the key of a problem."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A problem, and the device and target as named in the request; `field` is where it names the device."""

    problem: GemmProblem
    device: str
    target: str | None
    field: str = "device"


@dataclass(frozen=True, slots=True)
class Place:
    """A device that a request names; devices known only to the database are not in the listing."""

    listed: ListedDevice
    of_listing: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer or a miss, and the time until which it is valid; None: for ever."""

    found: LookupOut | MissOut
    until: datetime | None


def answer_one(context: Context, wanted: Wanted) -> LookupOut:
    """Return the answer to one lookup, which is not cached; also raises as `place_of`.

    Raises:
        NotFound: there is none.
        TooMany: rule `lookups`: the limit of requests waiting for slow answers is reached.
        DatabaseError: it cannot be read.
    """
    place = place_of(context, wanted)
    ((_, answer),) = work_out(context, place, {(place.listed.spec.id, wanted.problem.key): wanted.problem})
    if isinstance(answer.found, MissOut):
        raise no_kernel(answer.found)
    return answer.found


def on_driver(found: LookupOut, driver: str | None) -> LookupOut:
    """Return an answer with the native binaries compared with a driver.

    Cached answers are of no driver, so that their keys need none.
    """
    if driver is None or found.kernel is None:
        return found
    kernel = found.kernel.model_copy(update={"binaries": for_driver(found.kernel.binaries, driver)})
    return found.model_copy(update={"kernel": kernel})


def no_kernel(miss: MissOut) -> NotFound:
    """Return the error of a miss."""
    return NotFound(miss.detail, rule=miss.rule, next_requests=miss.next)


def place_of(context: Context, wanted: Wanted) -> Place:
    """Return the device that a request names.

    Raises:
        BadRequest: rule `unknown-device`.
    """
    device, target = wanted.device, wanted.target
    try:
        return Place(context.devices.resolve(device, target), of_listing=True)  # may probe: before any transaction
    except BadRequest as error:
        with context.database.read() as session:
            known = device_elsewhere(session, device.strip().lower()) if target is None else None
        if known is not None:
            return Place(known, of_listing=False)
        if wanted.field == "device":
            raise
        fault = FieldError(field=wanted.field, message=error.detail)
        raise BadRequest(f"{wanted.field}: {error.detail}", rule=error.rule, errors=[fault]) from error


def work_out(context: Context, place: Place, problems: dict[Key, GemmProblem]) -> Iterable[tuple[Key, Answer]]:
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
