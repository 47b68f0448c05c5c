"""/v1/kernels: lookup of kernels for one problem or many."""

from dataclasses import replace
from typing import Annotated

from fastapi import Query, Request, Response

from service.api.kernels.lookup.answer_cache import Kept
from service.api.kernels.lookup.answering import (
    answer_all,
    note_lookups,
    the_answer,
)
from service.api.kernels.lookup.answers import Answer, Wanted, on_driver
from service.api.kernels.lookup.batch import render
from service.api.kernels.lookup.batch_schemas import (
    BatchBody,
    BatchOut,
    Form,
)
from service.api.kernels.lookup.route_class import LookupRoute
from service.api.kernels.lookup.schemas import LookupOut
from service.api.kernels.lookup.tuning import (
    check_may_tune,
    tune_all,
    wanted_of,
    with_job,
)
from service.api.kernels.schemas import LookupBody, LookupQuery
from service.api.kernels.tune import Tune
from service.api.keys.guard import (
    READ,
    CallerDep,
    guarded_router,
)
from service.http.context import Context
from service.http.deps import ContextDep
from service.http.responses import (
    BAD_REQUEST,
    CONFLICT,
    NOT_FOUND,
    TOO_LARGE,
    TOO_MANY,
)
from service.schemas import to_problem

router = guarded_router("/v1/kernels", "kernels", LookupRoute)


@router.get("", response_model=LookupOut, responses=BAD_REQUEST | NOT_FOUND, dependencies=[READ])
def find_kernel(context: ContextDep, request: Request, query: Annotated[LookupQuery, Query()]) -> Response:
    """Look up the kernel for a problem on a device. Defaults: row-major, packed, no epilogue."""
    wanted = [Wanted(query.problem(), query.device, query.target)]
    (kept,) = _answered(request, context, wanted, again=query.driver is None)
    found = the_answer(kept)
    return _json(kept.body if query.driver is None else on_driver(found, query.driver).model_dump_json().encode())


@router.post(
    "/lookup",
    response_model=LookupOut,
    responses=BAD_REQUEST | CONFLICT | NOT_FOUND | TOO_LARGE | TOO_MANY,
    dependencies=[READ],
)
def look_up_kernel(body: LookupBody, request: Request, context: ContextDep, by: CallerDep) -> Response:
    """Look up the kernel for a problem on a device, from the first of five sources, with its confidence.

    A 404 means that nothing is stored and nothing can be compiled.
    """
    check_may_tune(by, body.tune)
    wanted = [Wanted(to_problem(body.problem), body.device, body.target)]
    (kept,) = _answered(request, context, wanted, again=body.tune is Tune.NEVER and body.driver is None)
    found = on_driver(the_answer(kept), body.driver)
    if not found.source.is_reason_for(body.tune):
        return _json(kept.body if body.driver is None else found.model_dump_json().encode())
    return _json(with_job(context, by, body, found).model_dump_json().encode())


@router.post(
    "/lookup/batch",
    response_model=BatchOut,
    responses=BAD_REQUEST | TOO_LARGE | TOO_MANY,
    dependencies=[READ],
)
def look_up_kernels(body: BatchBody, request: Request, context: ContextDep, by: CallerDep) -> Response:
    """Look up the kernels for up to 1,000 problems, on one device or on one each.

    Problems without an answer are listed as misses. With `tune` either all requested jobs are queued or, if
    the limit of jobs is reached, none.
    """
    check_may_tune(by, body.tune)
    wanted = wanted_of(body)
    valid = [each for each in wanted if isinstance(each, Wanted)]
    again = body.tune is Tune.NEVER and body.driver is None and len(valid) == len(wanted)
    answers = iter(_answered(request, context, valid, again=again))
    kept = [next(answers) if isinstance(each, Wanted) else Kept.of(Answer(each, None)) for each in wanted]
    told = kept if body.form is Form.COLUMNS else [_kept_for_driver(each, body.driver) for each in kept]
    return _json(render(told, body.form, tune_all(context, by, body, kept)))


def _kept_for_driver(kept: Kept, driver: str | None) -> Kept:
    if driver is None or kept.source is None:
        return kept
    return replace(kept, body=on_driver(the_answer(kept), driver).model_dump_json().encode())


def _answered(request: Request, context: Context, wanted: list[Wanted], *, again: bool) -> list[Kept]:
    """Return the answers; with `again` they are the whole responses to the same request."""
    found = answer_all(context, wanted)
    if again:
        request.state.lookups = [key for key, _ in found]  # for LookupRoute, which answers the same question next time
    kept = [kept for _, kept in found]
    note_lookups(context, kept)
    return kept


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")
